import { AppError } from '../../../contract/errors.ts'
import { mailTokenHash } from '../../../core/keys/public-key-proof.ts'
import { inCompany } from '../../db/scope.ts'
import type { Deps, Tenant } from '../deps.ts'
import { replaceKey, sealKey, spendKeyProof, verifyKeyProof } from '../key-proofs/key-proofs.ts'
import { queueMail } from '../mail/mail-queue.ts'
import { readMailToken, spendMailToken } from '../mail/mail-tokens.ts'
import { consumeMails } from '../rate-limits.ts'
import { endSessions } from '../sessions/sessions.ts'
import { lockKey, lockPerson, revokeMailedLinks } from './user-keys.ts'

/**
 * Queues a mail with a link to choose a new password. Whether the e-mail has an account is only
 * looked up when the mail is sent, so the duration of the call does not reveal it.
 */
export async function requestReset(
  deps: Pick<Deps, 'db' | 'keys' | 'clock' | 'random' | 'settings' | 'signals' | 'counters'>,
  { tenant, email, address }: { tenant: Tenant; email: string; address: string }
): Promise<void> {
  await consumeMails(deps, { tenant, email, address }, 'reset')
  await inCompany(deps.db, tenant.company_id, tx =>
    queueMail(tx, deps, { tenant, kind: 'reset', email })
  )
}

interface NewKey {
  tenant: Tenant
  token: string
  public_key_jwt: string
}

/**
 * Sets a new password for the person to whom a reset link was mailed: replaces their public key and
 * ends all their sessions. A disabled person stays disabled.
 */
export async function resetKey(
  deps: Pick<Deps, 'db' | 'keys' | 'clock' | 'random' | 'log' | 'signals'>,
  { tenant, token, public_key_jwt }: NewKey
): Promise<void> {
  const { company_id } = tenant
  const purpose = 'reset'
  const user = await inCompany(deps.db, company_id, async tx => {
    const given = { company_id, purpose, token } as const
    const { subject: user_id, email } = await readMailToken(tx, deps, given)
    const person = await lockPerson(tx, company_id, user_id)
    await lockKey(tx, company_id, user_id)
    const th = mailTokenHash(token)
    const proof = verifyKeyProof({ tenant, email, purpose, public_key_jwt, th })
    await spendKeyProof(tx, deps, tenant, proof)
    await spendMailToken(tx, deps, { ...given, subject: user_id })
    if (person.email !== email) throw new AppError('mail_token_invalid', 'The e-mail has changed')
    const now = deps.clock()
    await replaceKey(
      tx,
      { company_id, user_id, now },
      sealKey(deps, { company_id, user_id }, proof)
    )
    await revokeMailedLinks(tx, company_id, user_id)
    await endSessions(tx, deps, { company_id, user_id })
    const { locale } = person
    await queueMail(tx, deps, { tenant, kind: 'password_changed', email, locale })
    return user_id
  })
  deps.log.info({ audit: 'reset', company: company_id, user }, 'password reset')
}
