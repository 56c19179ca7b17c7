import type { PasswordOwner } from '../../stores/accounts/password-strength.ts'
import { Field } from '../kit/Field.tsx'
import type { AccountFieldProps } from './AccountFields.tsx'
import { fieldSentence } from './account-form.ts'
import { NewPasswordField } from './NewPasswordField.tsx'
import { PasswordField } from './PasswordField.tsx'

/** Says at the head of a long form that much of it needs another look. */
export function ManyFaults({ t, form }: AccountFieldProps) {
  const count = Object.keys(form.errors).length
  if (count <= 3) return null
  return (
    <p role="alert" className="alert alert-error alert-outline">
      {t('account.attention', { count })}
    </p>
  )
}

export function UsernameField({
  t,
  form,
  initial
}: AccountFieldProps & { initial?: string | undefined }) {
  return (
    <Field
      label={t('account.username')}
      name="username"
      initial={initial}
      autoComplete="name"
      spellCheck={false}
      hint={t('account.usernameHint')}
      error={fieldSentence(form.errors, 'username', t)}
    />
  )
}

interface NewPasswordFieldsProps extends AccountFieldProps {
  /** Who chooses it, as far as the other fields say by now. */
  chooser: () => PasswordOwner
}

/** A password twice, and that it stays here. */
export function NewPasswordFields({ t, form, chooser }: NewPasswordFieldsProps) {
  return (
    <>
      <NewPasswordField
        t={t}
        label={t('account.password')}
        name="password"
        chooser={chooser}
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
    </>
  )
}
