import type { PasswordOwner } from '../../stores/accounts/password-strength.ts'
import { useTranslation } from '../kit/use-translation.ts'
import { Field } from './Field.tsx'
import { NewPasswordField } from './NewPasswordField.tsx'
import { PasswordField } from './PasswordField.tsx'

export function UsernameField({ initial }: { initial?: string | undefined }) {
  const { t } = useTranslation()
  return (
    <Field
      label={t('account.username')}
      name="username"
      initial={initial}
      autoComplete="name"
      spellCheck={false}
      hint={t('account.usernameHint')}
    />
  )
}

export function NewPasswordFields({ owner }: { owner: () => PasswordOwner }) {
  const { t } = useTranslation()
  return (
    <>
      <NewPasswordField label={t('account.password')} name="password" owner={owner} />
      <PasswordField label={t('account.repeat')} name="repeat" autoComplete="new-password" />
      <p className="font-serif text-lg">{t('account.stays')}</p>
    </>
  )
}
