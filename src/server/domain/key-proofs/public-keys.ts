import type { PublicKeyJwk } from '../../../core/keys/public-key-jwt.ts'
import type { InstallationKeys } from '../deps.ts'
import { verifyEs256 } from '../es256.ts'

// a key is encrypted for this row, so a copy in another row cannot be decrypted
interface KeyRow {
  company_id: string
  user_id: string
  key_id: string
  kdf: string
}

export interface EncryptedPublicKey extends KeyRow {
  pub_enc: Buffer
}

const version = 0x01

/**
 * Encrypted, because whoever has the public key can test guesses of the password without asking the
 * service.
 */
export function encryptPublicKey(keys: InstallationKeys, row: KeyRow, jwk: PublicKeyJwk): Buffer {
  return Buffer.concat([Buffer.of(version), keys.seal(pointOf(jwk), aadOf(row))])
}

/** The signature is ES256. */
export function verifySignatureWithEncryptedKey(
  keys: InstallationKeys,
  sealed: EncryptedPublicKey,
  signed: Uint8Array,
  signature: Uint8Array
): boolean {
  if (sealed.pub_enc[0] !== version) throw new Error(`key ${sealed.key_id} has an unknown form`)
  return verifiesPoint(keys.open(sealed.pub_enc.subarray(1), aadOf(sealed)), signed, signature)
}

/** The signature is ES256. Returns false if the key is not a point of the curve. */
export function verifySignatureWithJwk(
  jwk: PublicKeyJwk,
  signed: Uint8Array,
  signature: Uint8Array
): boolean {
  return verifiesPoint(pointOf(jwk), signed, signature)
}

function verifiesPoint(point: Uint8Array, signed: Uint8Array, signature: Uint8Array): boolean {
  try {
    // not with noble, which refuses signatures with a high s: half of all browser signatures
    return verifyEs256(point, signed, signature)
  } catch {
    return false
  }
}

// uncompressed form of SEC 1, 65 bytes
function pointOf({ x, y }: PublicKeyJwk): Buffer {
  return Buffer.concat([Buffer.of(0x04), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')])
}

function aadOf({ company_id, user_id, key_id, kdf }: KeyRow): string {
  return `vidimus/pub/v1|${company_id}|${user_id}|${key_id}|${kdf}`
}
