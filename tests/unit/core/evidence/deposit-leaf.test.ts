import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { toBase64Url, toUtf8 } from '../../../../src/core/bytes.ts'
import { canonicalize, parseCanonicalJson } from '../../../../src/core/evidence/canonical-json.ts'
import { createCommitment, deriveLinkSalts } from '../../../../src/core/evidence/commitments.ts'
import {
  buildDepositLeaf,
  type DepositField,
  depositFields,
  formatActorField,
  leafHash
} from '../../../../src/core/evidence/deposit-leaf.ts'
import {
  exampleRecordId,
  exampleSalt,
  exampleValues,
  fileDigest,
  leaf,
  leafHashText,
  linkKey,
  origin
} from './vectors.ts'
import '../../../helpers/soak.ts'

const actor = formatActorField('EBESExQVFhcYGRobHB0eHw', 'Ada')
const salts = {
  actor: exampleSalt('actor'),
  bytes: exampleSalt('bytes'),
  category: exampleSalt('category'),
  expires: exampleSalt('expires'),
  media: exampleSalt('media'),
  name: exampleSalt('name'),
  sig: exampleSalt('sig'),
  time: exampleSalt('time'),
  transform: exampleSalt('transform'),
  visibility: exampleSalt('visibility'),
  ...deriveLinkSalts(linkKey)
}
const example = { origin, id: exampleRecordId, values: { ...exampleValues, actor }, salts }

describe('the published example', () => {
  test('has the published leaf hash', () => {
    expect(Buffer.from(leafHash(leaf)).toString('base64')).toBe(leafHashText)
    expect(canonicalize(parseCanonicalJson(leaf))).toBe(leaf)
    expect(toUtf8(leaf)).toHaveLength(718)
  })

  test('is built byte for byte, but for the actor, whose value was not published', () => {
    const withActorOf = (text: string) => text.replace(/"actor":"[^"]{43}"/, '"actor":""')
    expect(withActorOf(buildDepositLeaf(example).leaf)).toBe(withActorOf(leaf))
  })
})

describe('a deposit leaf', () => {
  test('is canonical, has every field and 718 bytes, whatever it commits to', () => {
    const shortText = fc
      .string({ unit: 'grapheme', maxLength: 30 })
      .map(text => text.normalize('NFC'))
      .filter(text => !/\p{Cc}/u.test(text) && toUtf8(text).length <= 255)
    const recordId = fc.uint8Array({ minLength: 16, maxLength: 16 }).map(toBase64Url)
    fc.assert(
      fc.property(
        shortText,
        shortText,
        recordId,
        fc.maxSafeNat(),
        (name, category, other, bytes) => {
          const built = buildDepositLeaf({
            ...example,
            id: other,
            values: {
              ...example.values,
              name,
              category,
              bytes: String(bytes),
              actor: formatActorField(other, name)
            }
          })
          expect(toUtf8(built.leaf)).toHaveLength(718)
          expect(parseCanonicalJson(built.leaf)).toMatchObject({ id: other, type: 'deposit', v: 1 })
          expect(built.hash).toEqual(leafHash(built.leaf))
        }
      )
    )
  })

  test('gives the opening of every commitment', () => {
    const { leaf: built, openings } = buildDepositLeaf(example)
    const { c } = JSON.parse(built)
    expect(Object.keys(c)).toEqual([...depositFields])
    expect(Object.keys(openings)).toEqual([...depositFields])
    for (const name of depositFields) {
      expect(openings[name]).toEqual({
        salt: toBase64Url(salts[name]),
        value: example.values[name]
      })
      expect(c[name]).toBe(
        createCommitment({
          origin,
          id: exampleRecordId,
          name,
          salt: salts[name],
          value: example.values[name]
        })
      )
    }
  })

  test.each<[DepositField, string]>([
    ['orig', ''],
    ['orig', fileDigest.slice(7)],
    ['orig', fileDigest.toUpperCase()],
    ['stored', 'none'],
    ['bytes', '007'],
    ['bytes', '-1'],
    ['bytes', '1e3'],
    ['bytes', ''],
    ['name', 'e\u0301.txt'],
    ['name', 'a\nb'],
    ['name', 'é'.repeat(511)],
    ['category', 'é'.repeat(128)],
    ['category', 'a\u007f'],
    ['media', 'Text/Plain'],
    ['media', 'text/plain; charset=utf-8'],
    ['media', ''],
    ['time', ''],
    ['time', '2026-11-20T09:28:15.000Z'],
    ['time', '2026-02-30T09:28:15Z'],
    ['expires', 'never'],
    ['visibility', 'secret'],
    ['actor', ''],
    ['actor', 'Ada'],
    ['actor', '["Ada"]'],
    ['actor', '{"label":"Ada","account":"x"}'],
    ['transform', '{ }'],
    ['transform', '1'],
    ['sig', 'x']
  ])('refuses the value of %s %j', (field, value) => {
    expect(() =>
      buildDepositLeaf({ ...example, values: { ...example.values, [field]: value } })
    ).toThrow(`"${field}"`)
  })

  test('allows the values that mean "none"', () => {
    const none = { ...example.values, stored: '', expires: '', transform: '', sig: '' }
    expect(toUtf8(buildDepositLeaf({ ...example, values: none }).leaf)).toHaveLength(718)
  })

  test('refuses an id that is not 16 bytes, and a leaf too long for its 16-bit length', () => {
    expect(() => buildDepositLeaf({ ...example, id: 'x' })).toThrow('record id')
    expect(() => formatActorField('x', 'Ada')).toThrow('account reference')
    expect(() => leafHash('x'.repeat(65_536))).toThrow('65,535')
    expect(leafHash('x'.repeat(65_535))).toHaveLength(32)
  })
})
