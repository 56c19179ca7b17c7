import { expect, test } from 'vitest'
import { createTypeAhead, findTypeaheadMatch } from '../../../src/shell/user-menu.ts'

const words = ['Account', 'Sign out', 'Settings', 'Été']

test.each([
  ['s', 0, 1],
  ['S', 0, 1],
  ['s', 1, 2],
  ['s', 2, 1],
  ['ss', 1, 2],
  ['se', 1, 2],
  ['si', 1, 1],
  ['a', 0, 0],
  ['é', -1, 3],
  ['x', 0, undefined],
  ['sign out', 3, 1]
])('typing %s on entry %d leads to entry %s', (typed, at, found) => {
  expect(findTypeaheadMatch(words, at, typed)).toBe(found)
})

test('letters are one word until a second has passed since the last of them', () => {
  const type = createTypeAhead()
  const presses = [
    ['s', 5000],
    ['i', 5999],
    ['g', 6998],
    ['a', 7998]
  ] as const
  expect(presses.map(([key, at]) => type(key, at))).toEqual(['s', 'si', 'sig', 'a'])
})
