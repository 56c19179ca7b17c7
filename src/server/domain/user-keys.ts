import { AppError } from '../../contract/errors.ts'
import { splitResponse } from '../../core/challenge.ts'
import { isActiveKdf } from '../../core/kdf.ts'
import { type PublicKeyPayload, parsePublicKeyJwt } from '../../core/public-key-jwt.ts'
import { noncePurpose } from '../../core/public-key-proof.ts'
import { inCompany, type Tx } from '../db/scope.ts'
import { readChallenge, spendChallenge } from './challenges.ts'
import type { Deps, Tenant } from './deps.ts'
import { newId } from './ids.ts'
import { consume, refund } from './limits.ts'
import { type SealedKey, sealPublicKey, verifiesJwk, verifiesSealed } from './public-keys.ts'
import type { Person } from './sessions.ts'

interface ChangeKey {
  tenant: Tenant
  person: Person
  challenge_response: string
  public_key_jwt: string
}

/** Replaces the key of the person, which a new password makes; only the session of the call goes on. */
export async function changeKey(
  deps: Pick<Deps, 'db' | 'keys' | 'clock' | 'random' | 'settings' | 'log' | 'wakes'>,
  input: ChangeKey
): Promise<void> {
  const { person } = input
  const { company_id, id: user_id, session_id } = person
  const counted = [company_id, user_id] as const
  await inCompany(deps.db, company_id, async tx => {
    const { email, key } = await lockKey(tx, person)
    const { challenge, signature, spent, proof } = readProofs(deps, input, email)
    // counted before the check, so that guesses in parallel count too
    await consume(deps, 'rekey_user', counted)
    if (!verifiesSealed(deps.keys, key, Buffer.from(challenge), signature)) {
      deps.log.warn({ audit: 'rekey_failed', company: company_id, user: user_id }, 'rekey refused')
      throw new AppError('password_wrong', 'The present key did not sign this challenge')
    }
    if (!(await spendChallenge(tx, company_id, spent))) throw challengeInvalid()
    await refund(deps, 'rekey_user', counted)
    const now = deps.clock()
    await retireKeys(tx, person, now)
    const place = { company_id, user_id, key_id: newId(deps), kdf: proof.kdf }
    await tx
      .insertInto('user_key')
      .values({
        ...place,
        pub_enc: sealPublicKey(deps.keys, place, proof.jwk),
        kek_id: deps.keys.kekId,
        created_at: now
      })
      .execute()
    await tx
      .updateTable('session')
      .set({ revoked_at: now })
      .where('company_id', '=', company_id)
      .where('user_id', '=', user_id)
      .where('id', '!=', session_id)
      .where('revoked_at', 'is', null)
      .execute()
    tx.afterCommit(() => deps.wakes.sessions.send({ company: company_id, user: user_id }))
  })
  deps.log.info({ audit: 'rekey', company: company_id, user: user_id }, 'password changed')
}

/** The key that signs in today, held against logins and other changes until the transaction ends. */
async function lockKey(
  tx: Tx,
  { company_id, id: user_id }: Person
): Promise<{ email: string; key: SealedKey }> {
  // the person first: of two changes at once the second then finds the key of the first
  const { email } = await tx
    .selectFrom('user')
    .where('company_id', '=', company_id)
    .where('id', '=', user_id)
    .select('email')
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow()
  const row = await tx
    .selectFrom('user_key')
    .where('company_id', '=', company_id)
    .where('user_id', '=', user_id)
    .where('retired_at', 'is', null)
    .orderBy('created_at', 'desc')
    .select(['key_id', 'kdf', 'pub_enc'])
    .limit(1)
    // against the share that a login takes of the key it was answered with
    .forUpdate()
    .executeTakeFirst()
  if (!row) throw new AppError('password_wrong', 'The person has no key to answer with')
  return { email, key: { company_id, user_id, ...row } }
}

/** The answered challenge and the new key, each checked for host, e-mail and purpose, and for each other. */
function readProofs(
  deps: Pick<Deps, 'keys' | 'clock'>,
  { tenant, challenge_response, public_key_jwt }: ChangeKey,
  email: string
) {
  const response = splitResponse(challenge_response)
  const purpose = noncePurpose('rekey')
  const spent = response && readChallenge(deps, { ...response, tenant, email, purpose })
  if (!response || !spent) throw challengeInvalid()
  const jwt = parsePublicKeyJwt(public_key_jwt)
  if (
    jwt?.payload.purpose !== 'rekey' ||
    jwt.payload.aud !== tenant.host ||
    jwt.payload.email !== email ||
    jwt.payload.nonce !== response.challenge ||
    jwt.payload.th !== undefined ||
    jwt.payload.kdf !== spent.kdf ||
    !isActiveKdf(jwt.payload.kdf) ||
    !verifiesJwk(jwt.payload.jwk, jwt.signed, jwt.signature)
  ) {
    throw new AppError('key_invalid', 'public_key_jwt does not prove a key for this change')
  }
  const proof: PublicKeyPayload = jwt.payload
  return { ...response, spent, proof }
}

async function retireKeys(tx: Tx, { company_id, id }: Person, now: Date): Promise<void> {
  await tx
    .updateTable('user_key')
    .set({ retired_at: now })
    .where('company_id', '=', company_id)
    .where('user_id', '=', id)
    .where('retired_at', 'is', null)
    .execute()
}

function challengeInvalid(): AppError {
  return new AppError('challenge_invalid', 'The challenge is expired, used, or not for this change')
}
