import { sql } from 'kysely'
import { AppError } from '../../../contract/kit/errors.ts'
import { deleteInCompany, updateById } from '../../db/company-queries.ts'
import { inCompany } from '../../db/scope.ts'
import { addAuditEntry } from '../audit/audit-entries.ts'
import type { Deps } from '../deps.ts'
import {
  createEncryptedPublicKeyColumns,
  replacePublicKey,
  verifyKeyProof
} from '../key-proofs/key-proofs.ts'
import { consumeMailLimits } from '../limits/rate-limits.ts'
import { queueMail } from '../mail/mail-queue.ts'
import { readMailToken, spendMailToken } from '../mail/mail-tokens.ts'
import { type AuthenticatedCaller, endSessionsOfPeople } from '../sessions/sessions.ts'
import {
  inCompanyWithPassword,
  lockPersonRow,
  lockPublicKeyRow,
  type PasswordCheckDeps,
  type PasswordProof,
  revokeMailedLinks
} from './user-keys.ts'

const waitingMs = 3_600_000

interface NewEmail extends PasswordProof {
  address: string
  email: string
  public_key_jwt: string
}

/**
 * `public_key_jwt` must contain a new public key, because the key pair is derived from the e-mail
 * and the password.
 */
export async function requestEmailChange(
  deps: PasswordCheckDeps & Pick<Deps, 'random' | 'signals'>,
  input: NewEmail
): Promise<void> {
  const { tenant, person, address, email, public_key_jwt } = input
  const { company_id, id: user_id } = person
  await consumeMailLimits(deps, { tenant, email, address })
  await inCompanyWithPassword(deps, input, 'rekey', async (tx, checked) => {
    const { email: present, locale, challenge } = checked
    if (email === present) {
      const fields = { email: { rule: 'unchanged', detail: 'another e-mail than the present one' } }
      throw new AppError('invalid_input', 'This is the present e-mail', { fields })
    }
    const proof = verifyKeyProof({ tenant, email, purpose: 'email', public_key_jwt })
    // the current and the new key must sign the same challenge
    if (proof.nonce !== challenge) throw new AppError('key_invalid', 'Another challenge was proven')
    // a new request replaces an earlier one and its links
    await revokeMailedLinks(tx, user_id)
    const created_at = deps.clock()
    await tx
      .insertInto('email_change')
      .values({
        company_id,
        user_id,
        email,
        ...createEncryptedPublicKeyColumns(deps, { company_id, user_id }, proof),
        created_at,
        expires_at: new Date(created_at.getTime() + waitingMs)
      })
      .execute()
    await queueMail(tx, deps, { tenant, kind: 'email_confirm', email, locale, subject: user_id })
    await queueMail(tx, deps, { tenant, kind: 'email_notice', email: present, locale })
  })
  deps.log.info(
    { audit: 'email_asked', company: company_id, user: user_id },
    'new e-mail requested'
  )
}

/**
 * Throws `mail_token_invalid` also if `person` has not requested the change, so a stranger who gets
 * the link because of a typing error cannot confirm it.
 */
export async function confirmEmailChange(
  deps: Pick<Deps, 'db' | 'keys' | 'clock' | 'random' | 'signals'>,
  { person, token }: { person: AuthenticatedCaller; token: string }
): Promise<void> {
  const { company_id, id: user_id, session_id } = person
  try {
    await inCompany(deps.db, company_id, async tx => {
      const given = { purpose: 'email', token } as const
      const { subject, email } = await readMailToken(tx, deps, given)
      if (subject !== user_id) throw over()
      const before = await lockPersonRow(tx, user_id)
      await lockPublicKeyRow(tx, user_id)
      await spendMailToken(tx, deps, { ...given, subject })
      const change = await deleteInCompany(tx, 'email_change')
        .where('user_id', '=', user_id)
        .where('email', '=', email)
        .where('expires_at', '>', deps.clock())
        .returning(['key_id', 'kdf', 'pub_enc', 'kek_id'])
        .executeTakeFirst()
      if (!change) throw over()
      await updateById(tx, 'user', user_id)
        .set({ email, version: sql<number>`version + 1` })
        .execute()
      await replacePublicKey(tx, deps, user_id, change)
      await revokeMailedLinks(tx, user_id)
      await endSessionsOfPeople(tx, deps, [user_id], session_id)
      addAuditEntry(tx, deps, {
        by: person,
        action: 'user.change_email',
        target: user_id,
        before: { email: before.email },
        after: { email }
      })
    })
  } catch (error) {
    // somebody else has got this e-mail in the meantime
    if (Object(error).code === '23505') throw over(error)
    throw error
  }
}

function over(cause?: unknown): AppError {
  const detail = 'The change is over, or not of the caller'
  return new AppError('mail_token_invalid', detail, { cause })
}
