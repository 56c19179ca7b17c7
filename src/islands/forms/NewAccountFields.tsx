import type { PasswordOwner } from '../../stores/accounts/password-strength.ts'
import { Field } from '../kit/Field.tsx'
import { useTranslation } from '../kit/use-translation.ts'
import type { AccountFieldProps } from './AccountFields.tsx'
import { fieldErrorText } from './account-form.ts'
import { NewPasswordField } from './NewPasswordField.tsx'
import { PasswordField } from './PasswordField.tsx'

export function UsernameField({
  form,
  initial
}: AccountFieldProps & { initial?: string | undefined }) {
  const { t } = useTranslation()
  return (
    <Field
      label={t('account.username')}
      name="username"
      initial={initial}
      autoComplete="name"
      spellCheck={false}
      hint={t('account.usernameHint')}
      error={fieldErrorText(form.errors, 'username', t)}
    />
  )
}

interface NewPasswordFieldsProps extends AccountFieldProps {
  owner: () => PasswordOwner
}

export function NewPasswordFields({ form, owner }: NewPasswordFieldsProps) {
  const { t } = useTranslation()
  return (
    <>
      <NewPasswordField
        label={t('account.password')}
        name="password"
        owner={owner}
        error={fieldErrorText(form.errors, 'password', t)}
      />
      <PasswordField
        label={t('account.repeat')}
        name="repeat"
        autoComplete="new-password"
        error={fieldErrorText(form.errors, 'repeat', t)}
      />
      <p className="font-serif text-lg">{t('account.stays')}</p>
    </>
  )
}
