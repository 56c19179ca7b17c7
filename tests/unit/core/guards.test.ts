import { expect, test } from 'vitest'
import { answerOf, guardNames, isGuardName } from '../../../src/core/guards.ts'

const out = { isSignedIn: false, permissions: undefined }
const unread = { isSignedIn: true, permissions: undefined }
const person = { isSignedIn: true, permissions: [] }
const admin = { isSignedIn: true, permissions: ['admin'] }
const operator = { isSignedIn: true, permissions: ['operator'] }

test.each([
  ['none', ['stay', 'stay', 'stay', 'stay', 'stay']],
  ['signed-in', ['sign-in', 'stay', 'stay', 'stay', 'stay']],
  ['signed-out', ['stay', 'go-on', 'go-on', 'go-on', 'go-on']],
  ['admin', ['sign-in', 'stay', 'leave', 'stay', 'stay']],
  ['operator', ['sign-in', 'stay', 'leave', 'leave', 'stay']]
] as const)(
  'answers at %s to a stranger, somebody unread, a person, an admin, an operator',
  (guard, answers) => {
    const visitors = [out, unread, person, admin, operator]
    expect(visitors.map(visitor => answerOf(guard, visitor))).toEqual(answers)
  }
)

test('knows its own names only', () => {
  for (const name of guardNames) expect(isGuardName(name)).toBe(true)
  for (const name of ['', 'Admin', 'signed', 'toString', undefined]) {
    expect(isGuardName(name)).toBe(false)
  }
})
