import type { KeyboardEvent } from 'react'

/**
 * Returns the index of the row to which a key leads from the row `here`: arrow keys, Home and End.
 * Returns undefined for any other key.
 */
export function rowStep(
  {
    key,
    altKey,
    ctrlKey,
    metaKey,
    shiftKey
  }: Pick<KeyboardEvent, 'key' | 'altKey' | 'ctrlKey' | 'metaKey' | 'shiftKey'>,
  here: number,
  count: number
): number | undefined {
  if (altKey || ctrlKey || metaKey || shiftKey) return undefined
  const steps: Record<string, number> = {
    ArrowDown: here + 1,
    ArrowUp: here - 1,
    Home: 0,
    End: count - 1
  }
  const step = steps[key]
  return step === undefined ? undefined : Math.max(0, Math.min(count - 1, step))
}
