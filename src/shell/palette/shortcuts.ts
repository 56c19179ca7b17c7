/**
 * Storage key of the setting for shortcuts of a single character. The stored value is `off` if the
 * person has switched these shortcuts off.
 */
export const characterShortcutsStorageKey = 'vidimus:keys'

/** What a keyboard shortcut opens on every page. */
export type ShortcutTarget = 'palette' | 'help'

type Press = Pick<KeyboardEvent, 'key' | 'altKey' | 'ctrlKey' | 'metaKey' | 'isComposing'>

interface Place {
  isApple: boolean
  isInField: boolean
  /** Whether shortcuts of a single character are switched on (WCAG 2.1.4). */
  hasCharacterKeys: boolean
}

/**
 * Returns what a pressed key opens: Ctrl+K (Cmd+K on Apple computers) the command palette, `?` the
 * list of shortcuts. Returns undefined for every other key.
 */
export function shortcutTargetOf(press: Press, place: Place): ShortcutTarget | undefined {
  const { key, altKey, ctrlKey, metaKey, isComposing } = press
  if (isComposing || altKey) return undefined
  const [modifier, other] = place.isApple ? [metaKey, ctrlKey] : [ctrlKey, metaKey]
  if (key.toLowerCase() === 'k' && modifier && !other) return 'palette'
  const isFree = place.hasCharacterKeys && !place.isInField && !ctrlKey && !metaKey
  return key === '?' && isFree ? 'help' : undefined
}

/** Returns whether the computer is made by Apple, where shortcuts have Cmd instead of Ctrl. */
export function isAppleDevice(): boolean {
  return /mac|iphone|ipad/i.test(navigator.platform)
}
