const directionControls = /\p{Bidi_Control}/u
// blank letters such as U+3164 are Default_Ignorable, the blank symbol U+2800 is not
const visible = /(?![\p{Default_Ignorable_Code_Point}\u2800])[\p{L}\p{N}\p{P}\p{S}]/u

/** Such as U+202E, which change the order of letters on the screen. */
export function hasDirectionControls(text: string): boolean {
  return directionControls.test(text)
}

export function hasVisibleCharacter(text: string): boolean {
  return visible.test(text)
}

/** They could disguise the extension: `'a\u202Efdp.exe'` → `'afdp.exe'` */
export function withoutDirectionControls(name: string): string {
  return name.replace(/\p{Bidi_Control}/gu, '')
}
