import { type FormEvent, useState } from 'react'
import type { AppError } from '../../contract/errors.ts'
import type { Locale, T } from '../../i18n/index.ts'
import { asAppError, fieldSentence, useReadiness, usernameErrors } from './account-form.ts'
import { AccountError } from './ErrorNote.tsx'
import { Field } from './Field.tsx'
import { NewPasswordField } from './NewPasswordField.tsx'
import { newPasswordErrors, weaknessErrors } from './new-password.ts'
import { PasswordField } from './PasswordField.tsx'
import { useForm, type Values } from './use-form.ts'
import { WorkButton } from './WorkButton.tsx'

interface NewKeyFormProps {
  locale: Locale
  t: T
  /** Whose password it becomes. */
  email: string
  company: string
  submit: string
  asksForName?: boolean
  /** Answers `true` where it has dealt with the failure itself. */
  heed: (error: AppError) => boolean
  send: (chosen: { username: string; password: string }) => Promise<void>
}

/** A password twice, and a username where there is none yet. */
export function NewKeyForm(props: NewKeyFormProps) {
  const { locale, t, email, company, submit, asksForName = false, heed, send } = props
  const { isReady, obstacle } = useReadiness()
  const form = useForm(asksForName ? checkBoth : checkPassword)
  const [state, setState] = useState<'idle' | 'working' | AppError>('idle')

  const go = async (event: FormEvent) => {
    event.preventDefault()
    const values = form.submit()
    if (!values || state === 'working') return
    setState('working')
    const { username = '', password = '' } = values
    try {
      const weak = await weaknessErrors('password', password, { email, username, company })
      if (weak) {
        form.refuse(weak)
        setState('idle')
        return
      }
      await send({ username, password })
    } catch (cause) {
      const error = asAppError(cause, 'Choosing a password failed')
      if (error.fields) form.refuse(error.fields)
      if (!heed(error)) setState(error)
    }
  }

  const failure = typeof state === 'object' ? state : undefined
  return (
    <form {...form.props} onSubmit={go} className="flex flex-col gap-4">
      {obstacle && (
        <p role="alert" className="alert alert-outline alert-warning">
          {t(`account.${obstacle}`)}
        </p>
      )}
      {/* tells password managers whose password this is */}
      <input
        className="sr-only"
        type="email"
        name="account"
        autoComplete="username"
        value={email}
        readOnly
        tabIndex={-1}
        aria-hidden="true"
      />
      {asksForName && (
        <Field
          label={t('account.username')}
          name="username"
          autoComplete="name"
          spellCheck={false}
          hint={t('account.usernameHint')}
          error={fieldSentence(form.errors, 'username', t)}
        />
      )}
      <NewPasswordField
        t={t}
        label={t('account.password')}
        name="password"
        chooser={() => ({ email, username: form.read()['username'] ?? '', company })}
        error={fieldSentence(form.errors, 'password', t)}
      />
      <PasswordField
        t={t}
        label={t('account.repeat')}
        name="repeat"
        autoComplete="new-password"
        error={fieldSentence(form.errors, 'repeat', t)}
      />
      <p className="font-serif text-lg">{t('account.stays')}</p>
      {failure && <AccountError error={failure} locale={locale} t={t} />}
      <WorkButton
        label={submit}
        isWorking={state === 'working'}
        isOff={!isReady || obstacle !== undefined}
      />
      <p role="status" className="text-ink-soft text-sm empty:hidden">
        {state === 'working' ? t('account.securing') : ''}
      </p>
    </form>
  )
}

function checkPassword(values: Values) {
  return newPasswordErrors('password', values)
}

function checkBoth(values: Values) {
  return { ...usernameErrors(values['username']), ...checkPassword(values) }
}
