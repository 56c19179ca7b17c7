import { expect, test } from 'vitest'
import { selectionAfterKey } from '../../../../src/islands/lists/DataTable.tsx'
import {
  addShownRowsToSelection,
  countSelectedRows,
  emptySelection,
  extendRange,
  isSelected,
  type RowSelection,
  toggleRow,
  toggleShownRows
} from '../../../../src/stores/lists/selection.ts'

const shown = ['a', 'b', 'c', 'd', 'e']
const plain = { altKey: false, ctrlKey: false, metaKey: false, shiftKey: false }

function idsOf({ ids }: RowSelection): string {
  return [...ids].sort().join('')
}

test('toggles a row and counts what is selected', () => {
  const one = toggleRow(emptySelection, 'b', shown)
  expect(idsOf(one)).toBe('b')
  expect(countSelectedRows(one)).toBe(1)
  expect(countSelectedRows(toggleRow(one, 'b', shown))).toBe(0)
})

test('a range begins at the row that was toggled last, in both directions', () => {
  const from = toggleRow(emptySelection, 'c', shown)
  expect(idsOf(extendRange(from, 'e', shown))).toBe('cde')
  expect(idsOf(extendRange(from, 'a', shown))).toBe('abc')
})

test('a shorter range unselects the rows that it leaves, and keeps what was selected before', () => {
  const before = toggleRow(toggleRow(emptySelection, 'a', shown), 'c', shown)
  const long = extendRange(before, 'e', shown)
  expect(idsOf(long)).toBe('acde')
  expect(idsOf(extendRange(long, 'd', shown))).toBe('acd')
})

test('a range whose first row is not shown any more selects the row alone', () => {
  const gone = toggleRow(emptySelection, 'x', shown)
  expect(idsOf(extendRange(gone, 'd', shown))).toBe('dx')
})

test('rows stay selected while others are shown', () => {
  const first = toggleShownRows(emptySelection, shown)
  const both = toggleShownRows(first, ['f', 'g'])
  expect(idsOf(both)).toBe('abcdefg')
  expect(idsOf(toggleShownRows(both, shown))).toBe('fg')
})

test('the box of the heading selects the rest of a part, and then nothing', () => {
  const part = toggleRow(emptySelection, 'b', shown)
  const all = toggleShownRows(part, shown)
  expect(idsOf(all)).toBe('abcde')
  expect(countSelectedRows(toggleShownRows(all, shown))).toBe(0)
})

test('all that match are selected until a row is unselected', () => {
  const all: RowSelection = { ids: new Set(), all: 1240 }
  expect(countSelectedRows(all)).toBe(1240)
  expect(isSelected(all, 'on another page')).toBe(true)
  expect(addShownRowsToSelection(all, shown)).toBe(all)
  expect(idsOf(toggleRow(all, 'c', shown))).toBe('abde')
  expect(countSelectedRows(toggleShownRows(all, shown))).toBe(0)
})

test('keys select a row, a range, all rows and none', () => {
  let state = { selection: emptySelection, focus: 'b' }
  const press = (key: string, held: Partial<typeof plain> = {}) => {
    const { selection, focus } = state
    const next = selectionAfterKey({ key, ...plain, ...held }, { selection, shown, here: focus })
    if (next) state = next
    return next !== undefined
  }
  press(' ')
  expect(idsOf(state.selection)).toBe('b')
  press('ArrowDown', { shiftKey: true })
  press('ArrowDown', { shiftKey: true })
  expect([idsOf(state.selection), state.focus]).toEqual(['bcd', 'd'])
  press('ArrowUp', { shiftKey: true })
  expect([idsOf(state.selection), state.focus]).toEqual(['bc', 'c'])
  press('a', { metaKey: true })
  expect(idsOf(state.selection)).toBe('abcde')
  press('Escape')
  expect(countSelectedRows(state.selection)).toBe(0)
  // the page's own meaning of the key stays
  expect(press('Escape')).toBe(false)
  expect(press('a')).toBe(false)
  expect(press('ArrowDown')).toBe(false)
  expect(press('a', { ctrlKey: true, shiftKey: true })).toBe(false)
})

test('a range by arrow keys begins at the row that has the focus, and ends at the last row', () => {
  const context = { selection: emptySelection, shown, here: 'd' }
  const down = selectionAfterKey({ key: 'ArrowDown', ...plain, shiftKey: true }, context)
  expect(down && [idsOf(down.selection), down.focus]).toEqual(['de', 'e'])
  const beyond = { selection: emptySelection, shown, here: 'e' }
  expect(selectionAfterKey({ key: 'ArrowDown', ...plain, shiftKey: true }, beyond)).toBeUndefined()
})
