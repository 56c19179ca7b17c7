import {
  addShownRowsToSelection,
  countSelectedRows,
  emptySelection,
  extendRange,
  type RowSelection,
  toggleRow
} from '../../stores/lists/selection.ts'
import type { PressedKey } from './row-keys.ts'

interface KeyContext {
  selection: RowSelection
  shown: readonly string[]
  here: string
}

// Space selects a row, Shift a range, Ctrl+A or Cmd+A all, Escape none
export function selectionAfterKey(
  { key, altKey, ctrlKey, metaKey, shiftKey }: PressedKey,
  { selection, shown, here }: KeyContext
): { selection: RowSelection; focus: string } | undefined {
  if (altKey) return undefined
  if (ctrlKey || metaKey) {
    const isAll = key.toLowerCase() === 'a' && !shiftKey
    return isAll ? { selection: addShownRowsToSelection(selection, shown), focus: here } : undefined
  }
  if (key === ' ') {
    const choose = shiftKey ? extendRange : toggleRow
    return { selection: choose(selection, here, shown), focus: here }
  }
  if (key === 'Escape' && countSelectedRows(selection) > 0)
    return { selection: emptySelection, focus: here }
  if (!shiftKey || (key !== 'ArrowDown' && key !== 'ArrowUp')) return undefined
  const focus = shown[shown.indexOf(here) + (key === 'ArrowDown' ? 1 : -1)]
  if (focus === undefined) return undefined
  // a new range begins at the row that loses the focus
  const begun = selection.range ? selection : extendRange(selection, here, shown)
  return { selection: extendRange(begun, focus, shown), focus }
}
