import { ed25519 } from '@noble/curves/ed25519.js'
import { describe, expect, test } from 'vitest'
import {
  findSigners,
  parseSignedNote,
  parseVerifierKey,
  shortKeyOf
} from '../../../../src/core/evidence/signed-notes.ts'
import { makeKey, noteOf } from '../../../helpers/evidence/evidence-log.ts'
import { signBesideTheGroup } from '../../../helpers/evidence/verifier-cases.ts'

// the example of C2SP signed-note
const published = {
  key: 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k',
  note: 'This is an example message.\n\n— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n'
}
const key = makeKey('log.example/one', 1)
const other = makeKey('log.example/two', 2)
const known = [key, other].map(({ vkey }) => parseVerifierKey(vkey))

function signersOf(note: string): string[] {
  return findSigners(parseSignedNote(note), known).map(({ name }) => name)
}

test('verifies the published note', () => {
  const publishedKey = parseVerifierKey(published.key)
  expect(publishedKey).toMatchObject({ name: 'example.com/foo', keyId: '530d903a', type: 1 })
  const note = parseSignedNote(published.note)
  expect(note.text).toBe('This is an example message.\n')
  expect(findSigners(note, [publishedKey])).toEqual([publishedKey])
  const changed = parseSignedNote(published.note.replace('This', 'That'))
  expect(() => findSigners(changed, [publishedKey])).toThrow('signature is wrong')
})

describe('signatures', () => {
  test('of known keys are found among others, as are texts with empty lines', () => {
    const text = 'one\n\ntwo\n'
    const stranger = makeKey('log.example/three', 3)
    const namesake = makeKey('log.example/one', 4)
    const note = noteOf(text, [stranger, other, namesake])
    expect(parseSignedNote(note).text).toBe(text)
    expect(signersOf(note)).toEqual(['log.example/two'])
    expect(signersOf(noteOf(text, [stranger]))).toEqual([])
    expect(signersOf(noteOf(text, [other, key]))).toEqual(['log.example/one', 'log.example/two'])
  })

  test('of unknown kinds and lengths are ignored', () => {
    const line = `— log.example/pq ${Buffer.alloc(3_313, 6).toString('base64')}\n`
    expect(signersOf(`${noteOf('text\n', [key])}${line}`)).toEqual(['log.example/one'])
  })

  test.each([
    ['changed', () => key.sign('other\n')],
    ['too short', (line: string) => `${line.slice(0, -9)}\n`],
    ['there twice', (line: string) => line + line]
  ])('are refused where one of a known key is %s', (_, change) => {
    const note = noteOf('text\n', [other]) + change(key.sign('text\n'))
    expect(() => signersOf(note)).toThrow('signature')
  })

  // with the order of the curve added to its second half, ZIP 215 accepts a signature
  test('have one spelling', () => {
    const order = 2n ** 252n + 27742317777372353535851937790883648493n
    const [, , encoded = ''] = key.sign('text\n').trim().split(' ')
    const bytes = Buffer.from(encoded, 'base64')
    let rest = BigInt(`0x${bytes.subarray(36).reverse().toString('hex')}`) + order
    for (let i = 36; i < 68; i++) {
      bytes[i] = Number(rest & 255n)
      rest >>= 8n
    }
    const line = `— ${key.name} ${bytes.toString('base64')}\n`
    expect(() => signersOf(`text\n\n${line}`)).toThrow('signature is wrong')
  })

  test('hold by the equation without the cofactor', () => {
    const { publicKey, keyId } = parseVerifierKey(key.vkey)
    const signature = signBesideTheGroup('text\n', 1)
    expect(ed25519.verify(signature, Buffer.from('text\n'), publicKey, { zip215: false })).toBe(
      true
    )
    const line = Buffer.concat([Buffer.from(keyId, 'hex'), signature]).toString('base64')
    expect(() => signersOf(`text\n\n— ${key.name} ${line}\n`)).toThrow('signature is wrong')
  })

  test('number at most sixteen', () => {
    const line = key.sign('text\n')
    const others = Array.from({ length: 15 }, (_, i) => makeKey(`log.example/${i}`, 9))
    const note = noteOf('text\n', others)
    expect(signersOf(note + line)).toEqual(['log.example/one'])
    expect(() => parseSignedNote(note + line + other.sign('text\n'))).toThrow('too many')
    expect(() => parseSignedNote(`text\n\n${line.repeat(100_000)}`)).toThrow('too many')
  })
})

test.each([
  ['no signature', 'text\n\n'],
  ['no empty line', `text\n${key.sign('text\n')}`],
  ['no line feed at its end', noteOf('text\n', [key]).trimEnd()],
  ['a carriage return', noteOf('text\r\n', [key])],
  ['a tab', noteOf('a\tb\n', [key])],
  ['a lone surrogate', noteOf('text\n', [key]).replace('text', '\ud800')],
  ['a hyphen for the dash', noteOf('text\n', [key]).replace('—', '-')],
  ['two spaces', noteOf('text\n', [key]).replace('— ', '—  ')],
  ['a plus in a name', noteOf('text\n', [makeKey('a+b', 1)])],
  ['a wide space in a name', noteOf('text\n', [makeKey('a\u00a0b', 1)])],
  ['base64 without padding', noteOf('text\n', [key]).replace('=', '')],
  ['base64url', `text\n\n— a ${'-'.repeat(96)}\n`],
  ['bits after the end of base64', 'text\n\n— a AAAAAAB=\n'],
  ['an id without a signature', 'text\n\n— a AAAAAA==\n']
])('is no note with %s', (_, note) => {
  expect(() => parseSignedNote(note)).toThrow()
})

test.each([
  '',
  'log.example/one',
  key.vkey.replace('log.example/one', ''),
  key.vkey.replace('one', 'o e'),
  key.vkey.replace('one', 'two'),
  key.vkey.replace(/\+[0-9a-f]{8}\+/, id => id.toUpperCase()),
  `${key.vkey}=`,
  `${key.vkey}+x`,
  key.vkey.slice(0, -4),
  makeKey('a', 1).vkey.replace(/[^+]{4}$/, '')
])('is no verifier key: %j', text => {
  expect(() => parseVerifierKey(text)).toThrow()
})

test('reads keys of other kinds, and those whose base64 contains a plus', () => {
  const platform =
    'vidimus.example/platform-log+3a3990df+Ae1JKMYo0cLG6ukDOJBZlWEpWSc6XGP5NjbBRhSshzfR'
  expect(parseVerifierKey(platform).keyId).toBe('3a3990df')
  const pq = `a+01020304+${Buffer.alloc(1_313, 6).toString('base64')}`
  expect(parseVerifierKey(pq)).toMatchObject({ type: 6, keyId: '01020304' })
  const plus = Array.from({ length: 99 }, (_, i) => makeKey('log.example/one', i).vkey).find(
    vkey => vkey.split('+').length > 3
  )
  expect(parseVerifierKey(`${plus}`).text).toBe(plus)
})

test('has a short form that people compare', () => {
  const vkey = 'verify.acme.example/log+39facba6+AYqI4910CfGV/VLbLTy6XXLKZwm/HZQSG/N0iAG0D29c'
  expect(shortKeyOf(parseVerifierKey(vkey))).toBe('5f17 b594 f0c2 9ef1 29e5')
})
