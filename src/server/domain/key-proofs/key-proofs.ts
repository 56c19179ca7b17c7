import { AppError } from '../../../contract/kit/errors.ts'
import { isActiveKdf } from '../../../core/keys/kdf.ts'
import {
  type PublicKeyPayload,
  type PublicKeyPurpose,
  parsePublicKeyJwt
} from '../../../core/keys/public-key-jwt.ts'
import { challengePurposeFor } from '../../../core/keys/public-key-proof.ts'
import { updateInCompany } from '../../db/company-queries.ts'
import type { Tx } from '../../db/scope.ts'
import type { Deps, Tenant } from '../deps.ts'
import { newId } from '../ids.ts'
import { readValidChallenge, spendChallenge } from './challenges.ts'
import { encryptPublicKey, verifySignatureWithJwk } from './public-keys.ts'

interface Proof {
  tenant: Tenant
  /** In the form that `canonicalEmail` returns. */
  email: string
  purpose: PublicKeyPurpose
  public_key_jwt: string
  /**
   * The SHA-256 (base64url) of the token of a mailed link, or undefined if the proof must contain
   * none.
   */
  th?: string | undefined
}

/**
 * Returns the contents of a JWT that is signed with the private key of the public key in it. Throws
 * `key_invalid` if it is not, or is for another host, e-mail, purpose or mail token.
 */
export function verifyKeyProof({
  tenant,
  email,
  purpose,
  public_key_jwt,
  th
}: Proof): PublicKeyPayload {
  const jwt = parsePublicKeyJwt(public_key_jwt)
  if (
    jwt?.payload.purpose !== purpose ||
    jwt.payload.aud !== tenant.host ||
    jwt.payload.email !== email ||
    jwt.payload.th !== th ||
    !isActiveKdf(jwt.payload.kdf) ||
    !verifySignatureWithJwk(jwt.payload.jwk, jwt.signed, jwt.signature)
  ) {
    throw new AppError('key_invalid', `public_key_jwt does not prove a key for this ${purpose}`)
  }
  return jwt.payload
}

/** Uses up the challenge in a proof, so that it works only once. Throws `challenge_invalid`. */
export async function spendKeyProof(
  tx: Tx,
  deps: Pick<Deps, 'keys' | 'clock'>,
  tenant: Tenant,
  { email, purpose, nonce, kdf }: PublicKeyPayload
): Promise<void> {
  const given = { challenge: nonce, tenant, email, purpose: challengePurposeFor(purpose) }
  const challenge = readValidChallenge(deps, given)
  const isGood = challenge?.kdf === kdf && (await spendChallenge(tx, challenge))
  if (!isGood) {
    throw new AppError('challenge_invalid', `The challenge is expired, used, or not for ${purpose}`)
  }
}

/** The key cannot be decrypted in the row of another person. */
export function createEncryptedPublicKeyColumns(
  deps: Pick<Deps, 'keys' | 'clock' | 'random'>,
  { company_id, user_id }: { company_id: string; user_id: string },
  { kdf, jwk }: Pick<PublicKeyPayload, 'kdf' | 'jwk'>
) {
  const key_id = newId(deps)
  const pub_enc = encryptPublicKey(deps.keys, { company_id, user_id, key_id, kdf }, jwk)
  return { key_id, kdf, pub_enc, kek_id: deps.keys.rootSecretId }
}

/** Retires the previous key. */
export async function replacePublicKey(
  tx: Tx,
  { clock }: Pick<Deps, 'clock'>,
  user_id: string,
  key: ReturnType<typeof createEncryptedPublicKeyColumns>
): Promise<void> {
  const company_id = tx.companyId
  const now = clock()
  await updateInCompany(tx, 'user_key')
    .set({ retired_at: now })
    .where('user_id', '=', user_id)
    .where('retired_at', 'is', null)
    .execute()
  await tx
    .insertInto('user_key')
    .values({ company_id, user_id, ...key, created_at: now })
    .execute()
}
