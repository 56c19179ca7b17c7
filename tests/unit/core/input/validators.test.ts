import { describe, expect, test } from 'vitest'
import {
  allOf,
  email,
  exactLength,
  excludes,
  findFaults,
  firstFaultOf,
  integer,
  matches,
  maxLength,
  minLength,
  nonEmptyList,
  not,
  numeric,
  required,
  requiredIf,
  sameAs,
  uppercase,
  type Validator
} from '../../../../src/core/input/validators.ts'
import en from '../../../../src/i18n/en/fields.json' with { type: 'json' }
import fr from '../../../../src/i18n/fr/fields.json' with { type: 'json' }
import { type Messages, translator } from '../../../../src/i18n/index.ts'

const optional: [string, Validator][] = [
  ['email', email],
  ['minLength', minLength(3)],
  ['maxLength', maxLength(3)],
  ['exactLength', exactLength(3)],
  ['numeric', numeric],
  ['integer', integer],
  ['uppercase', uppercase],
  ['excludes', excludes(':')],
  ['matches', matches(/^x$/)]
]

describe('a value that is not there', () => {
  test.each(['', ' ', '\t\n', '\u00a0', undefined, null])('%j is refused by required', value => {
    expect(required(value)).toEqual({ rule: 'required' })
  })

  test.each(optional)('passes %s', (_name, validator) => {
    for (const value of ['', '  ', undefined, null]) expect(validator(value)).toBeUndefined()
  })

  test('is refused where another field asks for it', () => {
    const needed = requiredIf(({ kind }) => kind === 'file')
    expect(needed('', { kind: 'file' })).toEqual({ rule: 'required_if' })
    expect(needed('x', { kind: 'file' })).toBeUndefined()
    expect(needed('', { kind: 'text' })).toBeUndefined()
    expect(needed('')).toBeUndefined()
  })
})

describe('a value that is no text', () => {
  test.each(optional)('is refused by %s', (_name, validator) => {
    for (const value of [0, true, {}, []]) expect(validator(value)).toBeDefined()
  })
})

test.each<[string, Validator, string[], string[]]>([
  ['email', email, ['a@b.fr', ' A.b+c@Exämple.com '], ['a', 'a@b', 'a b@c.fr', 'a@b.fr, c@d.fr']],
  ['minLength', minLength(3), ['abc', 'été', '🔑🔑🔑'], ['ab', '🔑🔑']],
  ['maxLength', maxLength(3), ['abc', '🔑a'], ['abcd', '🔑🔑']],
  ['exactLength', exactLength(3), ['abc'], ['ab', 'abcd']],
  ['numeric', numeric, ['0', '-1', '1.5', '1,5', '+7'], ['x', '1e3', '1.', '.5', '1 2', 'NaN']],
  ['integer', integer, ['0', '-12', '+7'], ['1.5', '1,0', 'x']],
  ['uppercase', uppercase, ['ABC', 'ÉTÉ 1'], ['AbC', 'été']],
  ['excludes', excludes(':;'), ['abc'], ['a:b', 'a;']],
  ['matches', matches(/^\d{2}$/), ['12'], ['123', 'x']]
])('%s takes what it should and nothing else', (_name, validator, right, wrong) => {
  for (const value of right) expect(validator(value), value).toBeUndefined()
  for (const value of wrong) expect(validator(value), value).toBeDefined()
})

test('asks for at least one value of a list', () => {
  expect(nonEmptyList(['x'])).toBeUndefined()
  for (const value of [[], '', 'x', undefined])
    expect(nonEmptyList(value)).toEqual({ rule: 'some' })
})

test('compares with another field, an empty one too', () => {
  const repeat = sameAs('password', 'Password')
  expect(repeat('x', { password: 'x' })).toBeUndefined()
  expect(repeat('', { password: 'x' })).toEqual({ rule: 'same_as', limit: 'Password' })
  expect(repeat('x')).toEqual({ rule: 'same_as', limit: 'Password' })
})

test('combines validators, turns one round and keeps their order', () => {
  const short = allOf(required, maxLength(3))
  expect(short('abc')).toBeUndefined()
  expect(short('')).toEqual({ rule: 'all' })
  expect(short('abcd')).toEqual({ rule: 'all' })
  expect(allOf()('anything')).toBeUndefined()
  expect(not(integer)('x')).toBeUndefined()
  expect(not(integer)('1')).toEqual({ rule: 'not' })
  expect(not(integer, 'different')('1')).toEqual({ rule: 'different' })
  expect(matches(/y/, 'regex')('x')).toEqual({ rule: 'regex' })
  const both = firstFaultOf(required, minLength(3), integer)
  expect(both('')).toEqual({ rule: 'required' })
  expect(both('x')).toEqual({ rule: 'min', limit: 3 })
  expect(both('xyz')).toEqual({ rule: 'integer' })
  expect(both('123')).toBeUndefined()
})

describe('the sentences', () => {
  const faults = [
    required(''),
    requiredIf(() => true)(''),
    email('x'),
    minLength(3)('x'),
    maxLength(1)('xx'),
    exactLength(1)('xx'),
    numeric('x'),
    integer('x'),
    uppercase('x'),
    excludes(':')(':'),
    matches(/y/)('x'),
    nonEmptyList([]),
    sameAs('other')('x'),
    allOf(required)(''),
    not(required)('x')
  ]

  test.each([
    ['en', en],
    ['fr', fr]
  ] as const)('exist for each rule in %s', (locale, words) => {
    const t = translator(locale, words as Messages)
    for (const fault of faults) {
      const limit = fault?.limit
      const sentence = t(`${fault?.rule}`, limit === undefined ? {} : { limit })
      expect(sentence).not.toMatch(/^\w+$|\{\{/)
      if (limit !== undefined) expect(sentence).toContain(String(limit))
    }
  })

  test.each([
    [required(''), 'Value is required'],
    [email('x'), 'Value is not a valid email address'],
    [minLength(12)('x'), 'This field should be at least 12 characters long'],
    [requiredIf(() => true)(''), 'The value is required'],
    [sameAs('Password')('x'), 'The value must be equal to the Password value'],
    [allOf(required)(''), 'The value does not match all of the provided validators'],
    [not(required)('x'), 'The value does not match the provided validator']
  ])('are those that the customer has written: %j', (fault, sentence) => {
    const t = translator('en', en)
    const limit = fault?.limit
    expect(t(`${fault?.rule}`, limit === undefined ? {} : { limit })).toBe(sentence)
  })
})

test('tells of a form which fields are wrong, each by its own rule and beside the others', () => {
  const rules = { name: required, repeat: sameAs('name', 'Name'), age: integer }
  expect(findFaults(rules, { name: 'a', repeat: 'b', age: 'x', other: '' })).toEqual({
    repeat: { rule: 'same_as', limit: 'Name' },
    age: { rule: 'integer' }
  })
  expect(findFaults(rules, { name: 'a', repeat: 'a' })).toEqual({})
})
