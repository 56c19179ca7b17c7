/** What a dropped file is for. */
export type Target = 'deposit' | 'verify'

/** Selector of the page's drop zones. */
export const dropZones = '[data-drop-zone]'
/** Selector of the page's drop zones and the overlay's targets. */
export const dropTargets = `${dropZones}, #drop-overlay [data-target]`

/** Returns what a file dropped on the element is for: a deposit or a verification. */
export function dropTargetOf({ dataset }: HTMLElement): Target | undefined {
  const name = dataset['dropZone'] ?? dataset['target']
  return name === 'deposit' || name === 'verify' ? name : undefined
}
