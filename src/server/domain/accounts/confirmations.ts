import { inCompany } from '../../db/scope.ts'
import type { Deps } from '../deps.ts'
import { confirmSession } from '../sessions/sessions.ts'
import { type PasswordProof, requirePassword } from './user-keys.ts'

/**
 * Checks the caller's password again and marks the session of the call as confirmed for five
 * minutes. Throws `password_wrong` and `challenge_invalid` as `requirePassword` does.
 */
export async function confirmPassword(
  deps: Pick<Deps, 'db' | 'keys' | 'clock' | 'settings' | 'log' | 'counters'>,
  input: PasswordProof
): Promise<void> {
  const { person } = input
  await inCompany(deps.db, person.company_id, async tx => {
    await requirePassword(tx, deps, input, 'confirm')
    await confirmSession(tx, deps, person)
  })
}
