import { inCompany } from '../../db/scope.ts'
import type { Deps } from '../deps.ts'
import { confirmSession } from '../sessions/sessions.ts'
import { type PasswordProof, requirePassword } from './user-keys.ts'

/**
 * Checks the caller's password again and notes the confirmation in their session for five minutes.
 * Throws `password_wrong` or, for an expired or used challenge, `challenge_invalid`.
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
