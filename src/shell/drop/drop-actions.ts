/** What the product does with a dropped file. */
export type DropAction = 'deposit' | 'verify' | 'import'

export const dropZoneSelector = '[data-drop-zone]'
/** Selector of the page's drop zones and the overlay's targets. */
export const dropTargetSelector = `${dropZoneSelector}, #drop-overlay [data-target]`

/** Returns what to do with files dropped on an element. Undefined if it accepts no files. */
export function dropActionOf({ dataset }: HTMLElement): DropAction | undefined {
  const name = dataset['dropZone'] ?? dataset['target']
  return name === 'deposit' || name === 'verify' || name === 'import' ? name : undefined
}

/** Returns the action of the whole page during a drag, if the page's own zone is the only one. */
export function wholePageAction(): DropAction | undefined {
  const name = document.documentElement.dataset['dragging']
  return name === 'deposit' || name === 'verify' || name === 'import' ? name : undefined
}

/**
 * Returns the id of the company whose people the current page lists or imports. Undefined on other
 * pages.
 */
export function companyIdOfUsersPage(): string | undefined {
  return /\/admin\/([^/]+)\/users(?:-import)?\/?$/.exec(location.pathname)?.[1]
}
