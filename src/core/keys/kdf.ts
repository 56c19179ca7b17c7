import { mapHashToField } from '@noble/curves/abstract/modular.js'
import { weierstrass } from '@noble/curves/abstract/weierstrass.js'
import { type Bytes, concatBytes, fromHex, toUtf8 } from '../bytes.ts'
import { canonicalEmail } from '../input/email.ts'
import { normalizePassword } from '../input/password.ts'

interface Kdf {
  // accounts may still have keys of a retired derivation
  status: 'active' | 'retired'
  salt: string
  memoryKib: number
  passes: number
  lanes: number
  bytes: number
}

/**
 * In the code, because a malicious server could send weak ones. Never change an entry: accounts
 * that use it could no longer sign in. Add a new id instead.
 */
export const kdfParameters = {
  a1: {
    status: 'active',
    // first 16 bytes of SHA-256("vidimus/kdf/a1")
    salt: '13ca674f1a9b8e823a9227de1fd26ae7',
    memoryKib: 65_536,
    passes: 3,
    lanes: 1,
    // 48 and not 32, so that the reduction to a scalar keeps its bias under 2^-128
    bytes: 48
  }
} as const satisfies Record<string, Kdf>

export type KdfId = keyof typeof kdfParameters

export interface Argon2idInput extends Pick<Kdf, 'memoryKib' | 'passes' | 'lanes' | 'bytes'> {
  password: Bytes
  salt: Bytes
}

/** Argon2id 0x13 without secret or associated data: hash-wasm's, noble's or Node's. */
export type Argon2id = (input: Argon2idInput) => Uint8Array | Promise<Uint8Array>

// FIPS 186-5; noble's own object would make the script larger by code to sign and verify
const p256 = {
  p: 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn,
  n: 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n,
  h: 1n,
  a: 0xffffffff00000001000000000000000000000000fffffffffffffffffffffffcn,
  b: 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn,
  Gx: 0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296n,
  Gy: 0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5n
}
const Point = weierstrass(p256)

/** 32 bytes each. The caller overwrites `d` after use. */
export interface DerivedKeyPair {
  d: Uint8Array
  x: Uint8Array
  y: Uint8Array
}

export function isActiveKdf(
  id: string,
  table: Record<string, Pick<Kdf, 'status'>> = kdfParameters
): id is KdfId {
  return Object.hasOwn(table, id) && table[id]?.status === 'active'
}

/** The result is the same in every browser and on every host. */
export async function deriveKeyPair(
  id: KdfId,
  email: string,
  password: string,
  argon2id: Argon2id
): Promise<DerivedKeyPair> {
  const { salt, memoryKib, passes, lanes, bytes } = kdfParameters[id]
  const secret = kdfInput(email, password)
  try {
    const okm = await argon2id({
      password: secret,
      salt: fromHex(salt),
      memoryKib,
      passes,
      lanes,
      bytes
    })
    const d = privateKeyFromOkm(okm)
    okm.fill(0)
    // uncompressed point: 0x04, x, y
    const point = Point.BASE.multiply(Point.Fn.fromBytes(d)).toBytes(false)
    return { d, x: point.slice(1, 33), y: point.slice(33) }
  } finally {
    secret.fill(0)
  }
}

/**
 * The e-mail gives people with the same password different keys. It contains no colon when
 * canonical, so no two pairs give the same input.
 */
export function kdfInput(email: string, password: string): Bytes {
  const canonical = canonicalEmail(email)
  if (canonical === undefined) throw new Error('kdf: e-mail without a canonical form')
  const normalized = normalizePassword(password)
  if (normalized === undefined) throw new Error('kdf: password without a canonical form')
  return concatBytes(toUtf8(`${canonical}:`), toUtf8(normalized))
}

/** `(okm mod (n - 1)) + 1`, big-endian, where `n` is the order of P-256. */
export function privateKeyFromOkm(okm: Uint8Array): Uint8Array {
  if (okm.length !== 48) throw new Error('kdf: okm is not 48 bytes')
  return mapHashToField(okm, p256.n)
}
