import type { ReactNode } from 'react'
import { Field } from '../kit/Field.tsx'
import { useWords } from '../kit/use-words.ts'
import { fieldSentence, type useReadiness } from './account-form.ts'
import { BusyButton } from './BusyButton.tsx'
import type { useForm } from './use-form.ts'

// What every form has in which a key is derived. Words: `account` and `errors`.

type Readiness = ReturnType<typeof useReadiness>

export interface AccountFieldProps {
  form: ReturnType<typeof useForm>
}

/**
 * Explains why the person cannot sign in with this browser, for example because it blocks cookies.
 */
export function SignInObstacle({ obstacle }: {} & Pick<Readiness, 'obstacle'>) {
  const { t } = useWords()
  if (!obstacle) return null
  return (
    <p role="alert" className="alert alert-outline alert-warning">
      {t(`account.${obstacle}`)}
    </p>
  )
}

interface EmailFieldProps extends AccountFieldProps {
  /**
   * The field's role for password managers: `username` where the e-mail identifies an existing
   * account.
   */
  use: 'email' | 'username'
  /** Initial value of the field. */
  initial?: string | undefined
}

export function EmailField({ form, use, initial }: EmailFieldProps) {
  const { t } = useWords()
  return (
    <Field
      label={t('account.email')}
      name="email"
      type="email"
      autoComplete={use}
      initial={initial}
      error={fieldSentence(form.errors, 'email', t)}
    />
  )
}

interface InvitationLinkProps {
  path: string
  children: ReactNode
}

/**
 * A link between sign-in and sign-up. The shell adds the query parameters of an invitation to it.
 */
export function InvitationLink({ path, children }: InvitationLinkProps) {
  return (
    <a className="link link-secondary" data-keeps-link-params href={path} suppressHydrationWarning>
      {children}
    </a>
  )
}

/**
 * The form's button. While the form is being submitted, states that the browser derives a key from
 * the password, which takes a second.
 */
export function SubmitButton(props: { label: string; isWorking: boolean } & Readiness) {
  const { label, isWorking, isReady, obstacle } = props
  const { t } = useWords()
  return (
    <>
      <BusyButton label={label} isWorking={isWorking} isOff={!isReady || obstacle !== undefined} />
      <p role="status" className="text-ink-soft text-sm empty:hidden">
        {isWorking ? t('account.securing') : ''}
      </p>
    </>
  )
}
