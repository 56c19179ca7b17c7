export type Target = 'deposit' | 'verify'

export const dropZones = '[data-drop-zone]'
/** Zones of the page and targets of the overlay beside them. */
export const dropTargets = `${dropZones}, #drop-overlay [data-target]`

export function nameOf({ dataset }: HTMLElement): Target | undefined {
  const name = dataset['dropZone'] ?? dataset['target']
  return name === 'deposit' || name === 'verify' ? name : undefined
}
