import { inCompany } from '../../db/scope.ts'
import type { Deps } from '../deps.ts'
import { recordPasswordConfirmation } from '../sessions/sessions.ts'
import { type PasswordCheckDeps, type PasswordProof, requireCurrentPassword } from './user-keys.ts'

export async function confirmPassword(
  deps: PasswordCheckDeps & Pick<Deps, 'db'>,
  input: PasswordProof
): Promise<void> {
  const { person } = input
  await inCompany(deps.db, person.company_id, async tx => {
    await requireCurrentPassword(tx, deps, input, 'confirm')
    await recordPasswordConfirmation(tx, deps, person)
  })
}
