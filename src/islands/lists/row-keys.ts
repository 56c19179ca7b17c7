import type { KeyboardEvent } from 'react'

export type PressedKey = Pick<KeyboardEvent, 'key' | 'altKey' | 'ctrlKey' | 'metaKey' | 'shiftKey'>

/** Returns the index of the row to focus, or undefined for other keys. */
export function findRowForPressedKey(
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
