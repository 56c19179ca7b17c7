import type { OwnAccount } from '../../contract/users.ts'
import { lazyComponent } from '../kit/LazyComponent.tsx'
import { ChangeEmail } from './ChangeEmail.tsx'
import { ChangePassword } from './ChangePassword.tsx'
import { DeleteAccount } from './DeleteAccount.tsx'
import { ExportOwnData } from './ExportOwnData.tsx'
import { SessionList } from './SessionList.tsx'

// the page is for everybody, and few people let programs deposit
const ApiKeys = lazyComponent(async () => (await import('../api-keys/ApiKeys.tsx')).ApiKeys)

export function AccountForms({ user }: { user: OwnAccount }) {
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
