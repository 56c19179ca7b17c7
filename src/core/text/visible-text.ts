/** Controls of direction, such as U+202E, which show a text in another order than it has. */
const directionControls = /\p{Bidi_Control}/u
/** Something that can be seen: U+3164 is a letter and U+2800 a symbol, and both are blank. */
const visible = /(?![\p{Default_Ignorable_Code_Point}\u2800])[\p{L}\p{N}\p{P}\p{S}]/u

export function hasDirectionControls(text: string): boolean {
  return directionControls.test(text)
}

export function isVisible(text: string): boolean {
  return visible.test(text)
}

/**
 * A name of somebody else's file as it is shown: nothing in it turns the order of what stands there.
 * `'a\u202Efdp.exe'` → `'afdp.exe'`
 */
export function shownName(name: string): string {
  return name.replace(/\p{Bidi_Control}/gu, '')
}
