import { browserEnvironment } from '../environment.ts'

export type RowDensity = 'comfortable' | 'compact'

export interface ListView {
  density: RowDensity
  /** By id: shown (true) or hidden (false). */
  columns: Readonly<Record<string, boolean>>
}

export const defaultListView: ListView = { density: 'comfortable', columns: {} }

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

export function storeListView(list: string, view: ListView): void {
  browserEnvironment().store(keyOf(list), JSON.stringify(view))
}

function keyOf(list: string): string {
  return `vidimus:list:${list}`
}
