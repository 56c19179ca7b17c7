import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseFingerprint } from '../../../src/core/fingerprint.ts'

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
