import { expect, test } from 'vitest'
import { createListAddressCodec } from '../../../../src/islands/lists/list-address.ts'

const { read, write, change, filterCount } = createListAddressCodec({
  sorts: ['name', '-name', 'created'],
  filters: {
    state: value => ['active', 'invited'].includes(value),
    group: value => /^[0-9a-f]+$/.test(value)
  }
})

test('reads what it writes', () => {
  const query = { q: 'Élodie & co', state: 'invited', group: 'a1', sort: '-name' as const }
  expect(read(write(query))).toEqual(query)
  expect(write({})).toBe('')
  // the order of a list that names none
  expect(write({ sort: 'name' })).toBe('')
})

test.each([
  ['?state=gone', {}],
  ['?sort=password', {}],
  ['?sort=name', {}],
  ['?group=%3Cscript%3E&state=active', { state: 'active' }],
  ['?unknown=1&q=a', { q: 'a' }],
  [`?q=${'a'.repeat(101)}`, {}],
  ['?q=a%00b', {}],
  ['?q=', {}],
  ['?__proto__=1&constructor=2', {}]
])('ignores what the list does not know: %s', (search, query) => {
  expect(read(search)).toEqual(query)
})

test('changes, removes and counts filters', () => {
  const query = change({ q: 'ada' }, { state: 'active', group: 'b2' })
  expect(query).toEqual({ q: 'ada', state: 'active', group: 'b2' })
  expect(filterCount(query)).toBe(2)
  expect(change(query, { state: undefined, q: '' })).toEqual({ group: 'b2' })
})
