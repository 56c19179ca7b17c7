import type { UserInfo } from '../../contract/users.ts'
import { ChangeEmail } from './ChangeEmail.tsx'
import { ChangePassword } from './ChangePassword.tsx'
import { DeleteAccount } from './DeleteAccount.tsx'
import { ExportOwnData } from './ExportOwnData.tsx'
import { SessionList } from './SessionList.tsx'

interface AccountFormsProps {
  user: UserInfo
}

/** Password, e-mail, sessions, export and deletion of the account. */
export function AccountForms({ user }: AccountFormsProps) {
  return (
    <>
      <ChangePassword user={user} />
      <ChangeEmail user={user} />
      <SessionList />
      <ExportOwnData />
      <DeleteAccount user={user} />
    </>
  )
}
