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

/** Undefined on pages that neither list nor import people. */
export function companyIdOfUsersPage(): string | undefined {
  return /\/admin\/([^/]+)\/users(?:-import)?\/?$/.exec(location.pathname)?.[1]
}
