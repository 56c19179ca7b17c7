import { AppError } from '../../../contract/kit/errors.ts'
import { inCompany } from '../../db/scope.ts'
import { addAuditEntry } from '../audit/audit-entries.ts'
import type { Deps } from '../deps.ts'
import { verifyKeyProof } from '../key-proofs/key-proofs.ts'
import { queueMail } from '../mail/mail-queue.ts'
import { endSessionsOfPeople } from '../sessions/sessions.ts'
import { revokeApiKeysOfPeople } from './api-keys.ts'
import {
  type PasswordCheckDeps,
  type PasswordProof,
  requireCurrentPassword,
  setPublicKey
} from './user-keys.ts'

export async function changePassword(
  deps: PasswordCheckDeps & Pick<Deps, 'db' | 'random' | 'signals'>,
  input: PasswordProof & { public_key_jwt: string; keep_api_keys?: boolean | undefined }
): Promise<void> {
  const { tenant, person, public_key_jwt } = input
  const { company_id, id: user_id, session_id } = person
  await inCompany(deps.db, company_id, async tx => {
    const { email, locale, challenge } = await requireCurrentPassword(tx, deps, input)
    const proof = verifyKeyProof({ tenant, email, purpose: 'rekey', public_key_jwt })
    // the current and the new key must sign the same challenge
    if (proof.nonce !== challenge) throw new AppError('key_invalid', 'Another challenge was proven')
    await setPublicKey(tx, deps, user_id, proof)
    await endSessionsOfPeople(tx, deps, [user_id], session_id)
    if (!input.keep_api_keys) {
      await revokeApiKeysOfPeople(tx, deps, { by: person, user_ids: [user_id] })
    }
    await queueMail(tx, deps, { tenant, kind: 'password_changed', email, locale })
    addAuditEntry(tx, deps, { by: person, action: 'user.change_password', target: user_id })
  })
}
