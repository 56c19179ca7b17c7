import type { UserInfo } from '../../contract/users.ts'
import { lazyPart } from '../kit/LazyPart.tsx'
import { ChangeEmail } from './ChangeEmail.tsx'
import { ChangePassword } from './ChangePassword.tsx'
import { DeleteAccount } from './DeleteAccount.tsx'
import { ExportOwnData } from './ExportOwnData.tsx'
import { SessionList } from './SessionList.tsx'

// the page is for everybody, and few people let programs deposit
const ApiKeys = lazyPart(async () => (await import('../api-keys/ApiKeys.tsx')).ApiKeys)

/** Password, e-mail, sessions, export and deletion of the account. */
export function AccountForms({ user }: { user: UserInfo }) {
  return (
    <>
      <ChangePassword user={user} />
      <ChangeEmail user={user} />
      <SessionList />
      {!user.pending && <ApiKeys />}
      <ExportOwnData />
      <DeleteAccount user={user} />
    </>
  )
}
