export type Target = 'deposit' | 'verify'

export const dropZones = '[data-drop-zone]'
/** Selector of the page's drop zones and the overlay's targets. */
export const dropTargets = `${dropZones}, #drop-overlay [data-target]`

export function nameOf({ dataset }: HTMLElement): Target | undefined {
  const name = dataset['dropZone'] ?? dataset['target']
  return name === 'deposit' || name === 'verify' ? name : undefined
}
