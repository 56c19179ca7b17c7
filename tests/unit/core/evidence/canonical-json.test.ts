import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  canonicalize,
  type Json,
  parseCanonicalJson,
  parseStrictJson
} from '../../../../src/core/evidence/canonical-json.ts'
import '../../../helpers/soak.ts'

const text = fc.string({ unit: 'binary', maxLength: 12 })
const name = fc.oneof(
  text,
  fc.constantFrom('__proto__', 'constructor', 'toString', '', '1', '10', '2')
)
const { json } = fc.letrec<{ json: Json }>(tie => ({
  json: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(text, fc.boolean(), fc.maxSafeNat()),
    fc.array(tie('json'), { maxLength: 5 }),
    fc
      .uniqueArray(fc.tuple(name, tie('json')), { maxLength: 5, selector: ([key]) => key })
      .map((members): Json => Object.fromEntries(members))
  )
}))

describe('canonicalize', () => {
  test('is what parsing gives back, whatever the spacing and order were', () => {
    fc.assert(
      fc.property(json, value => {
        const canonical = canonicalize(value)
        expect(canonicalize(parseStrictJson(canonical))).toBe(canonical)
        expect(canonicalize(parseStrictJson(JSON.stringify(value, undefined, 3)))).toBe(canonical)
        expect(parseCanonicalJson(canonical)).toEqual(parseStrictJson(canonical))
        expect(JSON.parse(canonical)).toEqual(value)
      })
    )
  })

  test('orders keys by UTF-16 code units and escapes as RFC 8785 does', () => {
    // The keys of RFC 8785 §3.2.3: the emoji's first unit sorts below U+FB33.
    const value = { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\u{1f600}': 5, '\u0080': 6, ö: 7 }
    expect(canonicalize(value)).toBe(
      '{"\\r":2,"1":4,"\u0080":6,"ö":7,"\u20ac":1,"\u{1f600}":5,"\ufb33":3}'
    )
    expect(canonicalize('\u20ac$\u000f\nA\'B"\\\\"/')).toBe(
      '"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/"'
    )
  })

  test.each([
    ['null', null],
    ['an absent member', { a: undefined }],
    ['undefined in a list', [undefined, 1]],
    ['a float', 1.5],
    ['a negative number', -1],
    ['negative zero', -0],
    ['2^53', 2 ** 53],
    ['NaN', Number.NaN],
    ['a bigint', 1n],
    ['a date', new Date(0)],
    ['a map', new Map()],
    ['a lone surrogate', 'a\uD800'],
    ['a lone surrogate in a key', { '\uDC00': 1 }]
  ])('refuses %s', (_, value) => {
    expect(() => canonicalize(value as Json)).toThrow(TypeError)
  })

  test('refuses a value that contains itself', () => {
    const loop: Json[] = []
    loop.push(loop)
    expect(() => canonicalize(loop)).toThrow('too deep')
  })
})

describe('parseStrictJson', () => {
  test('reads what JSON.parse reads, and only the values we allow', () => {
    expect(parseStrictJson(' {"a" : [ 1 , true,"\\u00e9\\ud83d\\ude00" ] }\n')).toEqual({
      a: [1, true, 'é😀']
    })
    expect(parseStrictJson('9007199254740991')).toBe(Number.MAX_SAFE_INTEGER)
    expect(parseStrictJson('[{},[],"",0,false]')).toEqual([{}, [], '', 0, false])
  })

  test('never accepts what JSON.parse refuses', () => {
    const fragments = fc.array(
      fc.constantFrom('{', '}', '[', ']', ',', ':', '"', '\\', 'a', '0', '1', 'true', ' ', '"a"'),
      { maxLength: 9 }
    )
    fc.assert(
      fc.property(fragments, parts => {
        const source = parts.join('')
        let value: Json
        try {
          value = parseStrictJson(source)
        } catch {
          return
        }
        expect(JSON.parse(source)).toEqual(value)
      }),
      { numRuns: 2_000 }
    )
  })

  test('keeps a member named __proto__ a member', () => {
    const value = parseStrictJson('{"__proto__":{"a":1}}')
    expect(Object.keys(value)).toEqual(['__proto__'])
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
  })

  test.each([
    '',
    ' ',
    'null',
    '[null]',
    '{"a":1,"a":2}',
    '{"a":1,"\\u0061":2}',
    '-1',
    '-0',
    '1.0',
    '1e3',
    '1E3',
    '01',
    '9007199254740992',
    '99999999999999999999',
    'NaN',
    'True',
    'tru',
    '"a',
    '"\\ud800"',
    '"\\udc00\\ud800"',
    '"\uD800"',
    '{"\\ud800":1}',
    '"\n"',
    '"\\x41"',
    '"\\u00"',
    '"\\',
    "'a'",
    '[1,]',
    '[,1]',
    '[1 2]',
    '{"a":1,}',
    '{a:1}',
    '{"a" 1}',
    '{"a":}',
    '{1:1}',
    '[',
    '{',
    '1 2',
    '{}{}',
    '\uFEFF{}',
    '\u00a01',
    '/**/1',
    '['.repeat(100_000)
  ])('refuses %.40j', source => {
    expect(() => parseStrictJson(source)).toThrow(SyntaxError)
  })
})

test.each(['{"b":1,"a":2}', '{ "a":1}', '"\\u0041"', '"\\/"', '{"a":1}\n'])(
  'refuses %j where a text must be canonical',
  source => {
    expect(parseStrictJson(source)).toBeDefined()
    expect(() => parseCanonicalJson(source)).toThrow('not canonical')
  }
)
