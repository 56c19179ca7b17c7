import { createECDH, createHash } from 'node:crypto'
import { argon2id as nobleArgon2id } from '@noble/hashes/argon2.js'
import { argon2id as wasmArgon2id } from 'hash-wasm'
import { describe, expect, test } from 'vitest'
import published from '../../../../public/kdf-a1.json' with { type: 'json' }
import { toHex } from '../../../../src/core/bytes.ts'
import {
  type Argon2id,
  deriveKeyPair,
  isActiveKdf,
  kdfInput,
  kdfParameters,
  privateKeyFromOkm
} from '../../../../src/core/keys/kdf.ts'
import { argon2id as node } from '../../../helpers/keys.ts'
import { runCount } from '../../../helpers/soak.ts'

const wasm: Argon2id = ({ password, salt, memoryKib, passes, lanes, bytes }) =>
  wasmArgon2id({
    password,
    salt,
    memorySize: memoryKib,
    iterations: passes,
    parallelism: lanes,
    hashLength: bytes,
    outputType: 'binary'
  })

const noble: Argon2id = ({ password, salt, memoryKib, passes, lanes, bytes }) =>
  nobleArgon2id(password, salt, { m: memoryKib, t: passes, p: lanes, dkLen: bytes })

// security.md A-01
describe('derivation a1', () => {
  test('publishes enough vectors, each name once', () => {
    expect(published.kdf).toBe('a1')
    expect(published.vectors.length).toBeGreaterThanOrEqual(20)
    expect(published.refused_emails.length).toBeGreaterThanOrEqual(15)
    expect(new Set(published.vectors.map(vector => vector.name)).size).toBe(
      published.vectors.length
    )
  })

  test('its salt is the start of a hash of its name', () => {
    const hash = createHash('sha256').update('vidimus/kdf/a1').digest('hex')
    expect(kdfParameters.a1.salt).toBe(hash.slice(0, 32))
  })

  test.each(published.vectors)('hashes the canonical form: $name', ({ email, password, p }) => {
    expect(toHex(kdfInput(email, password))).toBe(p)
  })

  // slow: the browser derives every vector by hash-wasm, and `npm run soak` more of each here
  test.each([
    ...chosen(runCount(4, 100)).map(vector => ({ ...vector, library: 'Node', argon2id: node })),
    ...chosen(runCount(2, 4)).map(vector => ({ ...vector, library: 'hash-wasm', argon2id: wasm })),
    ...chosen(runCount(1, 4)).map(vector => ({ ...vector, library: 'noble', argon2id: noble }))
  ])('$library agrees: $name', async ({ argon2id, ...vector }) => {
    const { okm, d, x, y } = vector
    expect(await derive(vector, argon2id)).toEqual({ okm, d, x, y })
  })

  test.each(published.vectors)('the point is that of OpenSSL: $name', ({ d, x, y }) => {
    const curve = createECDH('prime256v1')
    curve.setPrivateKey(d, 'hex')
    expect(curve.getPublicKey('hex')).toBe(`04${x}${y}`)
  })

  test.each(published.scalars)('scalar edge: $name', ({ okm, d }) => {
    expect(toHex(privateKeyFromOkm(Buffer.from(okm, 'hex')))).toBe(d)
  })

  test('takes 48 bytes of key material and no other length', () => {
    expect(() => privateKeyFromOkm(new Uint8Array(47))).toThrow('48 bytes')
    expect(() => privateKeyFromOkm(new Uint8Array(64))).toThrow('48 bytes')
  })

  test('overwrites password bytes and key material', async () => {
    const seen: Uint8Array[] = []
    await deriveKeyPair('a1', 'alice@example.com', 'a password', ({ password, bytes }) => {
      const okm = new Uint8Array(bytes).fill(7)
      seen.push(password, okm)
      return okm
    })
    expect(seen.map(bytes => bytes.some(byte => byte !== 0))).toEqual([false, false])
  })

  test('refuses an e-mail or password without a canonical form', async () => {
    const refused = { message: expect.stringContaining('canonical form') }
    await expect(deriveKeyPair('a1', 'alice', 'a password', node)).rejects.toMatchObject(refused)
    const lone = deriveKeyPair('a1', 'alice@example.com', 'lone \ud800', node)
    await expect(lone).rejects.toMatchObject(refused)
  })

  test('knows its ids and no inherited name', () => {
    expect(isActiveKdf('a1')).toBe(true)
    for (const id of ['a2', '', 'constructor', '__proto__']) expect(isActiveKdf(id)).toBe(false)
    expect(isActiveKdf('a1', { a1: { status: 'retired' } })).toBe(false)
  })
})

/** Returns this many of the published test vectors. The first four are each of a different kind. */
function chosen(count: number) {
  const kinds = [0, 1, 2, 14]
  const isFirst = (_: unknown, at: number) => kinds.includes(at)
  const { vectors } = published
  const others = vectors.filter((vector, at) => !isFirst(vector, at))
  return [...vectors.filter(isFirst), ...others].slice(0, count)
}

async function derive(
  { email, password }: { email: string; password: string },
  argon2id: Argon2id
) {
  let okm = ''
  const { d, x, y } = await deriveKeyPair('a1', email, password, async input => {
    const bytes = await argon2id(input)
    okm = toHex(bytes)
    return bytes
  })
  return { okm, d: toHex(d), x: toHex(x), y: toHex(y) }
}
