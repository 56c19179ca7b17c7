import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  parseFingerprint,
  parseFingerprints
} from '../../../../src/core/input/pasted-fingerprints.ts'
import '../../../helpers/soak.ts'

const digest = createHash('sha256').update('vidimus').digest()
const hex = digest.toString('hex')
const groups = hex.match(/.{4}/g)?.join(' ') ?? ''

test.for([
  ['hex', hex],
  ['upper case', hex.toUpperCase()],
  ['a prefix', `sha256:${hex}`],
  ['an upper-case prefix and a space', `SHA256: ${hex}`],
  ['a hyphen in the prefix', `sha-256:${hex}`],
  ['groups of four', groups],
  ['groups over lines, with a prefix', `sha256:\n${groups.replaceAll(' ', '\n')}\n`],
  ['base64', digest.toString('base64')],
  ['base64 without padding', digest.toString('base64').replace('=', '')],
  ['base64url', digest.toString('base64url')],
  ['base64url with padding', `${digest.toString('base64url')}=`],
  ['the integrity form', `sha256-${digest.toString('base64')}`]
] as const)('reads %s', ([, text]) => {
  expect(parseFingerprint(text)).toBe(hex)
})

test.for([
  ['nothing', ''],
  ['a digit less', hex.slice(1)],
  ['a digit more', `${hex}0`],
  ['a letter beyond f', `g${hex.slice(1)}`],
  ['another algorithm', `sha1:${hex}`],
  ['SHA-512', createHash('sha512').update('vidimus').digest('hex')],
  ['bits beyond 32 bytes', `${'A'.repeat(42)}B`],
  ['a sentence', 'Please check this document']
] as const)('refuses %s', ([, text]) => {
  expect(parseFingerprint(text)).toBeUndefined()
})

test('reads every digest in every spelling', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), bytes => {
      const wanted = Buffer.from(bytes).toString('hex')
      for (const spelling of ['hex', 'base64', 'base64url'] as const) {
        expect(parseFingerprint(Buffer.from(bytes).toString(spelling))).toBe(wanted)
      }
    })
  )
})

test.for([
  ['sha256sum', `${hex}  a.pdf`, 'a.pdf'],
  ['sha256sum in binary mode', `${hex.toUpperCase()} *a b.pdf`, 'a b.pdf'],
  ['shasum with tabs', `  ${hex}\ta.pdf`, 'a.pdf'],
  ['an escaped name', `\\${hex}  a\\nb\\\\c.pdf`, 'a\nb\\c.pdf'],
  ['a backslash that is not escaped', `${hex}  C:\\new.pdf`, 'C:\\new.pdf'],
  ['BSD', `SHA256 (a (1).pdf) = ${hex}`, 'a (1).pdf'],
  ['an escaped name in the form of BSD', `\\SHA256 (a\\nb) = ${hex}`, 'a\nb'],
  ['OpenSSL', `SHA2-256(a.pdf)= ${hex}`, 'a.pdf'],
  ['a name that is a fingerprint', `${hex}  ${hex}`, hex]
] as const)('reads what %s prints', ([, text, name]) => {
  expect(parseFingerprints(text)).toEqual([{ sha256: hex, name }])
})

test('reads a list line by line, and refuses it as a whole', () => {
  const list = `${hex}  a\r\n\r\n${hex} *b\r\n${hex}\r\nSHA256 (c) = ${hex}\r\n`
  expect(parseFingerprints(list)?.map(({ name }) => name)).toEqual(['a', 'b', undefined, 'c'])
  expect(parseFingerprints(`${list}d.pdf`)).toBeUndefined()
  expect(parseFingerprints(`${hex.slice(1)}  z.pdf`)).toBeUndefined()
  expect(parseFingerprints('\n')).toBeUndefined()
})

test('takes fingerprints in groups over lines for one', () => {
  expect(parseFingerprints(groups.replaceAll(' ', '\r\n'))).toEqual([
    { sha256: hex, name: undefined }
  ])
})
