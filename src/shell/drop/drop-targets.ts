/** What is done with a dropped file. */
export type Target = 'deposit' | 'verify' | 'import'

/** Selector of the page's drop zones. */
export const dropZones = '[data-drop-zone]'
/** Selector of the page's drop zones and the overlay's targets. */
export const dropTargets = `${dropZones}, #drop-overlay [data-target]`

/**
 * Returns what is done with a file that is dropped on the element. Undefined if it accepts no
 * files.
 */
export function dropTargetOf({ dataset }: HTMLElement): Target | undefined {
  const name = dataset['dropZone'] ?? dataset['target']
  return name === 'deposit' || name === 'verify' || name === 'import' ? name : undefined
}

/**
 * Returns the id of the company whose people the present page lists or imports. Undefined on other
 * pages.
 */
export function companyOfPeoplePage(): string | undefined {
  return /\/admin\/([^/]+)\/users(?:-import)?\/?$/.exec(location.pathname)?.[1]
}
