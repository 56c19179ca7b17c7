/** Direction controls, such as U+202E, change the order of the letters on the screen. */
const directionControls = /\p{Bidi_Control}/u
/** Matches a visible character. U+3164 is a letter and U+2800 a symbol, but both are blank. */
const visible = /(?![\p{Default_Ignorable_Code_Point}\u2800])[\p{L}\p{N}\p{P}\p{S}]/u

export function hasDirectionControls(text: string): boolean {
  return directionControls.test(text)
}

export function isVisible(text: string): boolean {
  return visible.test(text)
}

/**
 * Returns a file name without direction controls, which could disguise its extension.
 * `'a\u202Efdp.exe'` → `'afdp.exe'`
 */
export function shownName(name: string): string {
  return name.replace(/\p{Bidi_Control}/gu, '')
}
