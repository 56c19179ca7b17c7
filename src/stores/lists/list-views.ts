import { browserEnvironment } from '../environment.ts'

/** How much room the rows of a list take. */
export type RowDensity = 'comfortable' | 'compact'

/** The row height and the columns that a person has chosen for a list. */
export interface ListView {
  density: RowDensity
  /** The columns that the person has shown (true) or hidden (false), by id. */
  columns: Readonly<Record<string, boolean>>
}

export const defaultListView: ListView = { density: 'comfortable', columns: {} }

/** Returns the view of a list that this browser has stored, or the default view. */
export function loadListView(list: string): ListView {
  try {
    const stored: unknown = JSON.parse(browserEnvironment().readStored(keyOf(list)) ?? 'null')
    if (typeof stored !== 'object' || stored === null) return defaultListView
    const { density, columns } = { density: undefined, columns: {}, ...stored }
    const chosen: Record<string, boolean> = {}
    for (const [id, isShown] of Object.entries(columns ?? {})) {
      if (typeof isShown === 'boolean') chosen[id] = isShown
    }
    return { density: density === 'compact' ? 'compact' : 'comfortable', columns: chosen }
  } catch {
    return defaultListView // written by another version
  }
}

/** Stores the view of a list in this browser. */
export function storeListView(list: string, view: ListView): void {
  browserEnvironment().store(keyOf(list), JSON.stringify(view))
}

function keyOf(list: string): string {
  return `vidimus:list:${list}`
}
