import { generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto'
import { expect, test } from 'vitest'
import { signEs256, verifyEs256 } from '../../../../src/server/domain/es256.ts'

const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const point = pointOf(publicKey)
const raw = { dsaEncoding: 'ieee-p1363' } as const

function pointOf(key: KeyObject): Buffer {
  return key.export({ format: 'der', type: 'spki' }).subarray(-65)
}

test('agrees with Node, on short and on high numbers too', () => {
  const seen = new Set<string>()
  const note = (whose: string, signature: Buffer) => {
    seen.add(`${whose} r ${kindOf(signature)}`).add(`${whose} s ${kindOf(signature.subarray(32))}`)
  }
  // one number in 256 is short
  for (let at = 0; seen.size < 12 && at < 50_000; at++) {
    const text = Buffer.from(`text ${at}`)
    const theirs = sign('sha256', text, { key: privateKey, ...raw })
    expect(verifyEs256(point, text, theirs)).toBe(true)
    const ours = signEs256(privateKey, `text ${at}`)
    expect(ours).toHaveLength(64)
    expect(verify('sha256', text, { key: publicKey, ...raw }, ours)).toBe(true)
    note('their', theirs)
    note('our', ours)
  }
  expect(seen.size).toBe(12)
})

function kindOf([first = 0]: Uint8Array): string {
  return first === 0 ? 'short' : first >= 0x80 ? 'high' : 'plain'
}

test('takes s and its negative alike, as browsers make both', () => {
  const signature = sign('sha256', Buffer.from('text'), { key: privateKey, ...raw })
  const s = BigInt(`0x${signature.subarray(32).toString('hex')}`)
  const other = Buffer.from((order - s).toString(16).padStart(64, '0'), 'hex')
  const negative = Buffer.concat([signature.subarray(0, 32), other])
  expect(verifyEs256(point, Buffer.from('text'), negative)).toBe(true)
})

test('refuses what was not signed, by this key, so', () => {
  const text = Buffer.from('text')
  const signature = sign('sha256', text, { key: privateKey, ...raw })
  expect(verifyEs256(point, Buffer.from('texT'), signature)).toBe(false)
  const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey
  expect(verifyEs256(pointOf(stranger), text, signature)).toBe(false)
  for (const at of [0, 31, 32, 63]) {
    const changed = Buffer.from(signature)
    changed[at] = (changed[at] ?? 0) ^ 1
    expect(verifyEs256(point, text, changed)).toBe(false)
  }
  expect(verifyEs256(point, text, Buffer.alloc(64))).toBe(false)
  expect(verifyEs256(point, text, Buffer.alloc(64, 0xff))).toBe(false)
})

test('throws on what is no point and on another length', () => {
  const text = Buffer.from('text')
  const signature = sign('sha256', text, { key: privateKey, ...raw })
  const off = Buffer.from(point)
  off[64] = (off[64] ?? 0) ^ 1
  expect(() => verifyEs256(off, text, signature)).toThrow()
  expect(() => verifyEs256(point.subarray(1), text, signature)).toThrow(RangeError)
  expect(() => verifyEs256(Buffer.concat([point, Buffer.of(0)]), text, signature)).toThrow(
    RangeError
  )
  expect(() => verifyEs256(point, text, signature.subarray(1))).toThrow(RangeError)
  expect(() => verifyEs256(point, text, Buffer.concat([signature, Buffer.of(0)]))).toThrow(
    RangeError
  )
})
