export type DropAction = 'deposit' | 'verify' | 'import'

export const dropZoneSelector = '[data-drop-zone]'
export const dropTargetSelector = `${dropZoneSelector}, #drop-overlay [data-target]`

/** Undefined if the element accepts no files. */
export function dropActionOf({ dataset }: HTMLElement): DropAction | undefined {
  const name = dataset['dropZone'] ?? dataset['target']
  return name === 'deposit' || name === 'verify' || name === 'import' ? name : undefined
}

/** If the page's own zone is the only one, its action. */
export function wholePageAction(): DropAction | undefined {
  const name = document.documentElement.dataset['dragging']
  return name === 'deposit' || name === 'verify' || name === 'import' ? name : undefined
}

/**
 * The page that imports the files dropped here, without its language: the one for people on pages
 * that list or import people, and that of a register on its pages. Undefined elsewhere.
 */
export function importPathHere(): string | undefined {
  const { pathname } = location
  const people = /(\/admin\/[^/]+\/users)(?:-import)?\/?$/.exec(pathname)?.[1]
  if (people) return `${people}-import`
  const register = /(\/admin\/[^/]+\/data_sources\/[^/]+)(?:\/import)?\/?$/.exec(pathname)?.[1]
  return register && `${register}/import`
}
