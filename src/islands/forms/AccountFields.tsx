import type { ReactNode } from 'react'
import { Field } from '../kit/Field.tsx'
import { useTranslation } from '../kit/use-translation.ts'
import { fieldErrorText } from './account-form.ts'
import type { FormState } from './use-form.ts'

// Pages must pass the translations `account` and `fields` to islands that use these fields.

export interface AccountFieldProps {
  form: Pick<FormState, 'errors'>
}

interface EmailFieldProps extends AccountFieldProps {
  /** `username` identifies an existing account to password managers. */
  use: 'email' | 'username'
  label?: string
  initial?: string | undefined
}

export function EmailField({ form, use, label, initial }: EmailFieldProps) {
  const { t } = useTranslation()
  return (
    <Field
      label={label ?? t('account.email')}
      name="email"
      type="email"
      autoComplete={use}
      initial={initial}
      error={fieldErrorText(form.errors, 'email', t)}
    />
  )
}

interface AccountPageLinkProps {
  path: string
  children: ReactNode
}

/** The site's script adds the query parameters of an invitation to the link. */
export function SignInOrUpLink({ path, children }: AccountPageLinkProps) {
  return (
    <a className="link link-secondary" data-keeps-link-params href={path} suppressHydrationWarning>
      {children}
    </a>
  )
}
