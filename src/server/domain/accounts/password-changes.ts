import { AppError } from '../../../contract/errors.ts'
import { inCompany } from '../../db/scope.ts'
import type { Deps } from '../deps.ts'
import { replaceKey, sealKey, verifyKeyProof } from '../key-proofs/key-proofs.ts'
import { queueMail } from '../mail/mail-queue.ts'
import { endSessions } from '../sessions/sessions.ts'
import { type PasswordProof, requirePassword, revokeMailedLinks } from './user-keys.ts'

/**
 * Replaces the person's public key, because they have changed their password. Ends their other
 * sessions.
 */
export async function changeKey(
  deps: Pick<
    Deps,
    'db' | 'keys' | 'clock' | 'random' | 'settings' | 'log' | 'signals' | 'counters'
  >,
  input: PasswordProof & { public_key_jwt: string }
): Promise<void> {
  const { tenant, person, public_key_jwt } = input
  const { company_id, id: user_id, session_id } = person
  await inCompany(deps.db, company_id, async tx => {
    const { email, locale, challenge } = await requirePassword(tx, deps, input)
    const proof = verifyKeyProof({ tenant, email, purpose: 'rekey', public_key_jwt })
    // the current and the new key must sign the same challenge
    if (proof.nonce !== challenge) throw new AppError('key_invalid', 'Another challenge was proven')
    const now = deps.clock()
    await replaceKey(
      tx,
      { company_id, user_id, now },
      sealKey(deps, { company_id, user_id }, proof)
    )
    await revokeMailedLinks(tx, company_id, user_id)
    await endSessions(tx, deps, { company_id, user_id, except: session_id })
    await queueMail(tx, deps, { tenant, kind: 'password_changed', email, locale })
  })
  deps.log.info({ audit: 'rekey', company: company_id, user: user_id }, 'password changed')
}
