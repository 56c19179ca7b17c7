import type { UserInfo } from '../../contract/users.ts'
import type { Locale, T } from '../../i18n/index.ts'
import { ChangeEmail } from './ChangeEmail.tsx'
import { ChangePassword } from './ChangePassword.tsx'
import { DeleteAccount } from './DeleteAccount.tsx'
import { ExportOwnData } from './ExportOwnData.tsx'
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
      <ChangePassword user={user} locale={locale} t={t} />
      <ChangeEmail user={user} locale={locale} t={t} />
      <SessionList locale={locale} t={t} />
      <ExportOwnData locale={locale} t={t} />
      <DeleteAccount user={user} locale={locale} t={t} />
    </>
  )
}
