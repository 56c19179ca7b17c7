import type { KeyboardEvent } from 'react'

/** A key that was pressed, and the modifier keys that were held. */
export type PressedKey = Pick<KeyboardEvent, 'key' | 'altKey' | 'ctrlKey' | 'metaKey' | 'shiftKey'>

/**
 * Returns the index of the row that gets the focus when a key is pressed in the row `here`. The
 * keys are the arrow keys, Home and End. Returns undefined for any other key.
 */
export function findRowToFocus(
  { key, altKey, ctrlKey, metaKey, shiftKey }: PressedKey,
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
