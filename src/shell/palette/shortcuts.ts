/** `off` if the person has switched off the shortcuts of a single character (WCAG 2.1.4). */
export const characterShortcutsStorageKey = 'vidimus:keys'

export type ShortcutTarget = 'palette' | 'help'

type Press = Pick<KeyboardEvent, 'key' | 'altKey' | 'ctrlKey' | 'metaKey' | 'isComposing'>

interface Place {
  isApple: boolean
  isInField: boolean
  hasCharacterKeys: boolean
}

/** Ctrl+K (Cmd+K on Apple computers) or `?`. Undefined for every other key. */
export function shortcutTargetOf(press: Press, place: Place): ShortcutTarget | undefined {
  const { key, altKey, ctrlKey, metaKey, isComposing } = press
  if (isComposing || altKey) return undefined
  const [modifier, other] = place.isApple ? [metaKey, ctrlKey] : [ctrlKey, metaKey]
  if (key.toLowerCase() === 'k' && modifier && !other) return 'palette'
  const isFree = place.hasCharacterKeys && !place.isInField && !ctrlKey && !metaKey
  return key === '?' && isFree ? 'help' : undefined
}

/** Where shortcuts have Cmd instead of Ctrl. */
export function isAppleDevice(): boolean {
  return /mac|iphone|ipad/i.test(navigator.platform)
}
