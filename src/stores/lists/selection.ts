export interface RowSelection {
  /** Including rows that the list does not show now. */
  ids: ReadonlySet<string>
  /** If all rows that match are selected: their number. Then `ids` is empty. */
  all?: number
  // `from`: where the range begins. `before`: what was selected then.
  range?: { from: string; before: ReadonlySet<string> }
}

export const emptySelection: RowSelection = { ids: new Set() }

export function countSelectedRows({ ids, all }: RowSelection): number {
  return all ?? ids.size
}

export function isSelected({ ids, all }: RowSelection, id: string): boolean {
  return all !== undefined || ids.has(id)
}

/** The next range begins at this row. */
export function toggleRow(
  selection: RowSelection,
  id: string,
  shown: readonly string[]
): RowSelection {
  const ids = knownIds(selection, shown)
  if (!ids.delete(id)) ids.add(id)
  return { ids, range: { from: id, before: new Set(ids) } }
}

/** Replaces the previous range that began at the last toggled row. Other selected rows stay. */
export function extendRange(
  selection: RowSelection,
  to: string,
  shown: readonly string[]
): RowSelection {
  const { from, before } = selection.range ?? { from: to, before: knownIds(selection, shown) }
  const ends = [shown.indexOf(from), shown.indexOf(to)]
  if (ends.includes(-1)) return toggleRow(selection, to, shown)
  const inRange = shown.slice(Math.min(...ends), Math.max(...ends) + 1)
  return { ids: new Set([...before, ...inRange]), range: { from, before } }
}

export function toggleShownRows(selection: RowSelection, shown: readonly string[]): RowSelection {
  const ids = new Set(selection.ids)
  if (shown.every(id => isSelected(selection, id))) for (const id of shown) ids.delete(id)
  else for (const id of shown) ids.add(id)
  return { ids }
}

export function addShownRowsToSelection(
  selection: RowSelection,
  shown: readonly string[]
): RowSelection {
  return selection.all === undefined ? { ids: new Set([...selection.ids, ...shown]) } : selection
}

// "all rows that match the filters" holds no ids, so it becomes the rows of `shown`
function knownIds({ ids, all }: RowSelection, shown: readonly string[]): Set<string> {
  return new Set(all === undefined ? ids : shown)
}
