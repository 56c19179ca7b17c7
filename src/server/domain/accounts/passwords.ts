import { AppError } from '../../../contract/kit/errors.ts'
import { inCompany } from '../../db/scope.ts'
import { addAuditEntry } from '../audit/audit-entries.ts'
import type { Deps, Tenant } from '../deps.ts'
import { verifyKeyProof } from '../key-proofs/key-proofs.ts'
import { consumeMailLimits } from '../limits/rate-limits.ts'
import { queueMail } from '../mail/mail-queue.ts'
import { endSessionsOfPeople, recordPasswordConfirmation } from '../sessions/sessions.ts'
import { revokeApiKeysOfPeople } from './api-keys.ts'
import {
  inCompanyWithPassword,
  type PasswordCheckDeps,
  type PasswordProof,
  type PublicKeyWithMailToken,
  setPublicKey,
  setPublicKeyWithMailToken
} from './user-keys.ts'

export async function confirmPassword(
  deps: PasswordCheckDeps,
  input: PasswordProof
): Promise<void> {
  await inCompanyWithPassword(deps, input, 'confirm', tx =>
    recordPasswordConfirmation(tx, deps, input.person)
  )
}

export async function changePassword(
  deps: PasswordCheckDeps & Pick<Deps, 'random' | 'signals'>,
  input: PasswordProof & { public_key_jwt: string; keep_api_keys?: boolean | undefined }
): Promise<void> {
  const { tenant, person, public_key_jwt } = input
  const { id: user_id, session_id } = person
  await inCompanyWithPassword(deps, input, 'rekey', async (tx, { email, locale, challenge }) => {
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

/**
 * Looks up the account only when the mail is sent, so the response time does not reveal whether the
 * e-mail has an account.
 */
export async function requestPasswordReset(
  deps: Pick<Deps, 'db' | 'keys' | 'clock' | 'random' | 'settings' | 'signals' | 'counters'>,
  { tenant, email, address }: { tenant: Tenant; email: string; address: string }
): Promise<void> {
  await consumeMailLimits(deps, { tenant, email, address }, { kind: 'reset' })
  await inCompany(deps.db, tenant.company_id, tx =>
    queueMail(tx, deps, { tenant, kind: 'reset', email })
  )
}

export async function resetPassword(
  deps: Pick<Deps, 'db' | 'keys' | 'clock' | 'random' | 'signals'>,
  input: PublicKeyWithMailToken & { keep_api_keys?: boolean | undefined }
): Promise<void> {
  const { tenant, token, public_key_jwt } = input
  const { company_id } = tenant
  await inCompany(deps.db, company_id, async tx => {
    const given = { tenant, purpose: 'reset', token, public_key_jwt } as const
    const { user_id, email, locale } = await setPublicKeyWithMailToken(tx, deps, given)
    await endSessionsOfPeople(tx, deps, [user_id])
    const by = { id: user_id, company_id }
    if (!input.keep_api_keys) await revokeApiKeysOfPeople(tx, deps, { by, user_ids: [user_id] })
    await queueMail(tx, deps, { tenant, kind: 'password_changed', email, locale })
    addAuditEntry(tx, deps, { by, action: 'user.reset_password', target: user_id })
  })
}
