import type { UserInfo } from '../../contract/users.ts'
import type { Locale, T } from '../../i18n/index.ts'
import { EmailForm } from './ChangeEmail.tsx'
import { PasswordForm } from './ChangePassword.tsx'
import { DeleteAccount } from './DeleteAccount.tsx'
import { OwnData } from './ExportOwnData.tsx'
import { SessionList } from './SessionList.tsx'

interface AccountFormsProps {
  user: UserInfo
  locale: Locale
  t: T
}

/** How a person signs in, where they are signed in, what they take along and how they leave. */
export function AccountForms({ user, locale, t }: AccountFormsProps) {
  return (
    <>
      <PasswordForm user={user} locale={locale} t={t} />
      <EmailForm user={user} locale={locale} t={t} />
      <SessionList locale={locale} t={t} />
      <OwnData locale={locale} t={t} />
      <DeleteAccount user={user} locale={locale} t={t} />
    </>
  )
}
