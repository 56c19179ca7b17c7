const directionControls = /\p{Bidi_Control}/u
/**
 * Matches a character that can be seen. Blank letters, such as U+3164, are excluded by the property
 * `Default_Ignorable_Code_Point`. The blank symbol U+2800 does not have this property,
 * so it is excluded by its number.
 */
const visible = /(?![\p{Default_Ignorable_Code_Point}\u2800])[\p{L}\p{N}\p{P}\p{S}]/u

/**
 * Returns whether a text contains direction controls, such as U+202E, which change the order of
 * letters on the screen.
 */
export function hasDirectionControls(text: string): boolean {
  return directionControls.test(text)
}

/** Returns whether a text contains a character that can be seen. */
export function hasVisibleCharacter(text: string): boolean {
  return visible.test(text)
}

/**
 * Returns a file name without direction controls, which could disguise its extension:
 * `'a\u202Efdp.exe'` → `'afdp.exe'`
 */
export function withoutDirectionControls(name: string): string {
  return name.replace(/\p{Bidi_Control}/gu, '')
}
