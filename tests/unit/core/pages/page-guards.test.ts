import { expect, test } from 'vitest'
import { checkGuard, guardNames, isGuardName } from '../../../../src/core/pages/page-guards.ts'

const out = { isSignedIn: false, isPending: false, permissions: undefined }
const unread = { isSignedIn: true, isPending: false, permissions: undefined }
const pending = { isSignedIn: true, isPending: true, permissions: [] }
const person = { isSignedIn: true, isPending: false, permissions: [] }
const admin = { isSignedIn: true, isPending: false, permissions: ['admin'] }
const operator = { isSignedIn: true, isPending: false, permissions: ['operator'] }

test.each([
  ['none', ['stay', 'stay', 'stay', 'stay', 'stay', 'stay']],
  ['signed-in', ['sign-in', 'stay', 'confirm', 'stay', 'stay', 'stay']],
  ['signed-out', ['stay', 'go-on', 'go-on', 'go-on', 'go-on', 'go-on']],
  ['admin', ['sign-in', 'stay', 'confirm', 'leave', 'stay', 'stay']],
  ['operator', ['sign-in', 'stay', 'confirm', 'leave', 'leave', 'stay']]
] as const)(
  'answers at %s to a stranger, somebody unread, a sign-up, a person, an admin, an operator',
  (guard, answers) => {
    const visitors = [out, unread, pending, person, admin, operator]
    expect(visitors.map(visitor => checkGuard(guard, visitor))).toEqual(answers)
  }
)

test('knows its own names only', () => {
  for (const name of guardNames) expect(isGuardName(name)).toBe(true)
  for (const name of ['', 'Admin', 'signed', 'toString', undefined]) {
    expect(isGuardName(name)).toBe(false)
  }
})
