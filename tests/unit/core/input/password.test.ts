import { describe, expect, test } from 'vitest'
import {
  guessableWords,
  newPasswordFault,
  normalizePassword
} from '../../../../src/core/input/password.ts'

describe('password', () => {
  test('is normalised, never trimmed or case-folded', () => {
    expect(normalizePassword(' A\u030a\ufb01 ')).toBe(' \u00c5fi ')
  })

  test('counts its bytes after normalising', () => {
    expect(normalizePassword('e\u0301'.repeat(512))).toBe('\u00e9'.repeat(512))
    expect(normalizePassword(`${'\u00e9'.repeat(512)}a`)).toBeUndefined()
    // U+FDFA, 3 bytes, unfolds to 33
    expect(normalizePassword('\ufdfa'.repeat(32))).toBeUndefined()
  })

  test.each([
    ['correct horse', undefined],
    ['twelve chars', undefined],
    ['only eleven', { rule: 'min', limit: 12 }],
    ['\u{1f511}'.repeat(12), undefined],
    ['\u{1f511}'.repeat(11), { rule: 'min', limit: 12 }],
    ['e\u0301'.repeat(11), { rule: 'min', limit: 12 }],
    ['\ufdfa', { rule: 'min', limit: 12 }],
    ['', { rule: 'min', limit: 12 }],
    ['\u3000'.repeat(11), { rule: 'min', limit: 12 }],
    [' '.repeat(12), undefined],
    ['a'.repeat(1024), undefined],
    ['a'.repeat(1025), { rule: 'max_bytes', limit: 1024 }],
    ['a tab\tin the password', { rule: 'format' }],
    ['unassigned \u0378 character', { rule: 'format' }],
    ['lone surrogate \udc00', { rule: 'format' }]
  ])('may be chosen or not: %j', (password, fault) => {
    expect(newPasswordFault(password)).toEqual(fault)
  })
})

test('takes apart what a guesser would know of a person', () => {
  const around = {
    email: 'Ada.King@example.com',
    username: 'Ada King-Noël',
    company: 'Acme',
    host: 'docs.acme.fr'
  }
  expect(guessableWords(around)).toEqual([
    'ada.king@example.com',
    'ada',
    'king',
    'example',
    'com',
    'ada king-noël',
    'noël',
    'acme',
    'docs.acme.fr',
    'docs'
  ])
  expect(guessableWords({ email: '', username: '', company: '', host: '' })).toEqual([])
})
