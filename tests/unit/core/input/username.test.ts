import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fieldErrors } from '../../../../src/contract/kit/field-errors.ts'
import { Username } from '../../../../src/contract/users.ts'
import { maxUsernameLength, usernameFault } from '../../../../src/core/input/username.ts'
import '../../../helpers/soak.ts'

const odd = fc.constantFrom(
  '\u202E',
  '\u200D',
  '\u3164',
  '\uFB2C',
  ' ',
  '\u0000',
  '\u0085',
  '\u{1F600}',
  '\uD800',
  'e\u0301',
  '\u00A0'
)
const typed = fc
  .array(fc.oneof(odd, fc.string({ unit: 'binary', maxLength: 90 })), { maxLength: 3 })
  .map(parts => parts.join(''))

test('finds the fault that the contract finds', () => {
  fc.assert(
    fc.property(typed, name => {
      const read = Username.safeParse(name)
      const fault = read.success ? undefined : fieldErrors(read.error)['(body)']
      expect(usernameFault(name)).toEqual(fault)
    }),
    { numRuns: 2000 }
  )
})

test.each([
  ['', 'required'],
  [' \t', 'required'],
  ['a'.repeat(maxUsernameLength), undefined],
  [` ${'a'.repeat(maxUsernameLength)} `, undefined],
  ['a'.repeat(maxUsernameLength + 1), 'max'],
  ['a\u0000b', 'regex'],
  ['a\uD800', 'format'],
  ['\uFB2C'.repeat(maxUsernameLength), 'max'],
  ['Ada\u202Eada', 'direction'],
  ['\u2067Ada\u2069', 'direction'],
  ['\u200B\u200D\uFEFF', 'invisible'],
  ['\u3164', 'invisible'],
  ['\u2800', 'invisible'],
  ['\u0301', 'invisible'],
  // joiners inside of what can be seen: a family of emoji, and Persian
  ['\u{1F469}\u200D\u{1F467}', undefined],
  ['\u0645\u06CC\u200C\u062E\u0648\u0627\u0647\u0645', undefined]
])('%j: %s', (name, rule) => {
  expect(usernameFault(name)?.rule).toBe(rule)
})
