import type { AppError } from '../../contract/kit/errors.ts'
import { usernameRule } from '../forms/account-form.ts'
import { Form } from '../forms/Form.tsx'
import { NewPasswordFields, UsernameField } from '../forms/NewAccountFields.tsx'
import { newPasswordRules, weakPasswordErrors } from '../forms/new-password-rules.ts'
import { HiddenEmailField } from '../forms/PasswordField.tsx'
import { useForm } from '../forms/use-form.ts'
import { useTranslation } from '../kit/use-translation.ts'

interface NewPasswordFormProps {
  email: string
  company: string
  submit: string
  asksForName?: boolean
  /** Initial value of the field that `asksForName` shows. */
  username?: string | undefined
  /** Returns true if the form must not show the error. */
  handleFailure: (error: AppError) => boolean
  /** Label of the box. Undefined for an account that has no keys. */
  keepsKeys?: string
  send: (chosen: { username: string; password: string; keepsKeys: boolean }) => Promise<void>
}

export function NewPasswordForm(props: NewPasswordFormProps) {
  const { email, company, submit, asksForName = false } = props
  const { t } = useTranslation()
  const form = useForm({
    what: 'Choosing a password failed',
    rules: {
      ...(asksForName ? { username: usernameRule } : {}),
      ...newPasswordRules('password', t('account.password'))
    },
    slowErrors: ({ username = '', password = '' }) =>
      weakPasswordErrors('password', password, { email, username, company }),
    send: ({ username = '', password = '', keepsKeys }) =>
      props.send({ username, password, keepsKeys: keepsKeys === 'yes' }),
    handle: props.handleFailure
  })
  return (
    <Form form={form} submit={submit} derivesKey>
      <HiddenEmailField email={email} />
      {asksForName && <UsernameField initial={props.username} />}
      <NewPasswordFields
        owner={() => ({ email, username: form.read()['username'] ?? '', company })}
      />
      {props.keepsKeys && (
        <label className="flex min-h-8 items-center gap-3">
          <input type="checkbox" name="keepsKeys" value="yes" className="checkbox" />
          {props.keepsKeys}
        </label>
      )}
    </Form>
  )
}
