import { inCompany } from '../../db/scope.ts'
import { addAuditEntry } from '../audit/audit-entries.ts'
import type { Deps, Tenant } from '../deps.ts'
import { consumeMailLimits } from '../limits/rate-limits.ts'
import { queueMail } from '../mail/mail-queue.ts'
import { endSessionsOfPeople } from '../sessions/sessions.ts'
import { revokeApiKeysOfPeople } from './api-keys.ts'
import { type PublicKeyWithMailToken, setPublicKeyWithMailToken } from './user-keys.ts'

/**
 * Looks up the account only when the mail is sent, so the response time does not reveal whether the
 * e-mail has an account.
 */
export async function requestPasswordReset(
  deps: Pick<Deps, 'db' | 'keys' | 'clock' | 'random' | 'settings' | 'signals' | 'counters'>,
  { tenant, email, address }: { tenant: Tenant; email: string; address: string }
): Promise<void> {
  await consumeMailLimits(deps, { tenant, email, address }, 'reset')
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
