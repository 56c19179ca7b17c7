/** The rows that a person has selected in a list. */
export interface RowSelection {
  /** Ids of the selected rows, including rows that the list does not show now. */
  ids: ReadonlySet<string>
  /**
   * Number of rows that match the search and the filters, if all of them are selected. In this case
   * `ids` is empty.
   */
  all?: number
  /**
   * The range that `extendRange()` changes. `from` is the id of the row where the range begins, and
   * `before` are the ids that were selected when it began.
   */
  range?: { from: string; before: ReadonlySet<string> }
}

export const emptySelection: RowSelection = { ids: new Set() }

/** Returns the number of selected rows, including rows that the list does not show. */
export function countSelectedRows({ ids, all }: RowSelection): number {
  return all ?? ids.size
}

export function isSelected({ ids, all }: RowSelection, id: string): boolean {
  return all !== undefined || ids.has(id)
}

/**
 * Selects a row, or unselects it if it is selected. The next range begins at this row. A selection
 * of "all rows that match the filters" holds no ids, so it first becomes a selection of the rows of
 * `shown`.
 */
export function toggleRow(
  selection: RowSelection,
  id: string,
  shown: readonly string[]
): RowSelection {
  const ids = knownIds(selection, shown)
  if (!ids.delete(id)) ids.add(id)
  return { ids, range: { from: id, before: new Set(ids) } }
}

/**
 * Selects all rows between the last toggled row and the row `to`, including both. Replaces the
 * previous range that began at the toggled row. All other selected rows stay selected.
 */
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

/** Selects all rows of `shown`, or unselects them if all of them are selected already. */
export function toggleShownRows(selection: RowSelection, shown: readonly string[]): RowSelection {
  const ids = new Set(selection.ids)
  if (shown.every(id => isSelected(selection, id))) for (const id of shown) ids.delete(id)
  else for (const id of shown) ids.add(id)
  return { ids }
}

/** Selects all rows of `shown` in addition to what is selected. */
export function addShownRowsToSelection(
  selection: RowSelection,
  shown: readonly string[]
): RowSelection {
  return selection.all === undefined ? { ids: new Set([...selection.ids, ...shown]) } : selection
}

/**
 * Returns the selected ids. A selection of "all rows that match the filters" holds no ids, so the
 * ids of `shown` are returned for it.
 */
function knownIds({ ids, all }: RowSelection, shown: readonly string[]): Set<string> {
  return new Set(all === undefined ? ids : shown)
}
