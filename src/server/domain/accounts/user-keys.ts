import { AppError } from '../../../contract/kit/errors.ts'
import { splitChallengeResponse } from '../../../core/keys/challenge.ts'
import type { PublicKeyPayload } from '../../../core/keys/public-key-jwt.ts'
import { mailTokenHash } from '../../../core/keys/public-key-proof.ts'
import { deleteInCompany, selectById, selectInCompany } from '../../db/company-queries.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import type { Deps, Tenant } from '../deps.ts'
import { readValidChallenge, spendChallenge } from '../key-proofs/challenges.ts'
import {
  createEncryptedPublicKeyColumns,
  replacePublicKey,
  spendKeyProof,
  verifyKeyProof
} from '../key-proofs/key-proofs.ts'
import {
  type EncryptedPublicKey,
  verifySignatureWithEncryptedKey
} from '../key-proofs/public-keys.ts'
import { runWithFailureLimits } from '../limits/rate-limits.ts'
import { readMailToken, revokeMailTokens, spendMailToken } from '../mail/mail-tokens.ts'
import type { AuthenticatedCaller } from '../sessions/sessions.ts'

export type PasswordCheckDeps = Pick<
  Deps,
  'db' | 'keys' | 'clock' | 'settings' | 'log' | 'counters'
>

export interface PasswordProof {
  tenant: Tenant
  person: AuthenticatedCaller
  /** Signed with the caller's current key. */
  challenge_response: string
}

interface CheckedPassword {
  email: string
  locale: string
  challenge: string
}

/**
 * For changes that must not be possible with a stolen session alone. The rows of the person and the
 * key are locked until the transaction ends.
 */
export function inCompanyWithPassword(
  deps: PasswordCheckDeps,
  input: PasswordProof,
  purpose: 'rekey' | 'confirm',
  run: (tx: Tx, checked: CheckedPassword) => Promise<void>
): Promise<void> {
  const { company_id, id } = input.person
  const change = () =>
    inCompany(deps.db, company_id, async tx =>
      run(tx, await requireCurrentPassword(tx, deps, input, purpose))
    )
  const isGuess = (error: unknown) => Object(error).code === 'password_wrong'
  return runWithFailureLimits(deps, [['rekey_user', [company_id, id]]], change, isGuess)
}

async function requireCurrentPassword(
  tx: Tx,
  deps: PasswordCheckDeps,
  { tenant, person, challenge_response }: PasswordProof,
  purpose: 'rekey' | 'confirm'
): Promise<CheckedPassword> {
  const { company_id, id: user_id } = person
  const { email, locale } = await lockPersonRow(tx, user_id)
  const key = await lockPublicKeyRow(tx, user_id)
  const response = splitChallengeResponse(challenge_response)
  const spent = response && readValidChallenge(deps, { ...response, tenant, email, purpose })
  if (!response || !spent) throw challengeInvalid()
  const { challenge, signature } = response
  if (!key || !verifySignatureWithEncryptedKey(deps.keys, key, Buffer.from(challenge), signature)) {
    const facts = { audit: `${purpose}_failed`, company: company_id, user: user_id }
    deps.log.warn(facts, 'the current password was wrong')
    throw new AppError('password_wrong', 'The current key did not sign this challenge')
  }
  if (!(await spendChallenge(tx, spent))) throw challengeInvalid()
  return { email, locale, challenge }
}

// must be called before `lockPublicKeyRow`, so that the second of two parallel changes sees the key
// that the first has stored
export async function lockPersonRow(
  tx: Tx,
  user_id: string
): Promise<{ email: string; locale: string; username: string }> {
  const found = await selectById(tx, 'user', user_id)
    .where('deleted_at', 'is', null)
    .select(['email', 'locale', 'username'])
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (!found) throw new AppError('not_found', 'No such person')
  return found
}

export async function lockPublicKeyRow(
  tx: Tx,
  user_id: string
): Promise<EncryptedPublicKey | undefined> {
  const company_id = tx.companyId
  const row = await selectInCompany(tx, 'user_key')
    .where('user_id', '=', user_id)
    .where('retired_at', 'is', null)
    .orderBy('created_at', 'desc')
    .select(['key_id', 'kdf', 'pub_enc'])
    .limit(1)
    // conflicts with the shared lock of a login, so that one waits for the other
    .forUpdate()
    .executeTakeFirst()
  return row && { company_id, user_id, ...row }
}

export interface PublicKeyWithMailToken {
  tenant: Tenant
  token: string
  public_key_jwt: string
}

// locks the rows of the person and the key until the transaction ends
export async function setPublicKeyWithMailToken(
  tx: Tx,
  deps: Pick<Deps, 'keys' | 'clock' | 'random'>,
  {
    tenant,
    purpose,
    token,
    public_key_jwt
  }: PublicKeyWithMailToken & { purpose: 'activate' | 'reset' }
): Promise<{ user_id: string; email: string; locale: string }> {
  const given = { purpose, token }
  const { subject: user_id, email } = await readMailToken(tx, deps, given)
  const person = await lockPersonRow(tx, user_id)
  await lockPublicKeyRow(tx, user_id)
  const th = mailTokenHash(token)
  const proof = verifyKeyProof({ tenant, email, purpose, public_key_jwt, th })
  await spendKeyProof(tx, deps, tenant, proof)
  await spendMailToken(tx, deps, { ...given, subject: user_id })
  if (person.email !== email) throw new AppError('mail_token_invalid', 'The e-mail has changed')
  await setPublicKey(tx, deps, user_id, proof)
  return { user_id, email, locale: person.locale }
}

export async function setPublicKey(
  tx: Tx,
  deps: Pick<Deps, 'keys' | 'clock' | 'random'>,
  user_id: string,
  proof: PublicKeyPayload
): Promise<void> {
  const key = createEncryptedPublicKeyColumns(deps, { company_id: tx.companyId, user_id }, proof)
  await replacePublicKey(tx, deps, user_id, key)
  await revokeMailedLinks(tx, user_id)
}

// also deletes their unconfirmed change of e-mail
export async function revokeMailedLinks(tx: Tx, user_id: string): Promise<void> {
  await revokeMailTokens(tx, user_id)
  await deleteInCompany(tx, 'email_change').where('user_id', '=', user_id).execute()
}

function challengeInvalid(): AppError {
  return new AppError('challenge_invalid', 'The challenge is expired, used, or not for this change')
}
