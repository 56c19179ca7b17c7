/**
 * English dates take the browser's own form, because British readers take `5/3` for another day
 * than American ones.
 */
export function dateTag(tag: string): string {
  if (!tag.startsWith('en') || typeof document === 'undefined') return tag
  // Some systems report `en-US@posix`, which Intl refuses.
  return navigator.languages.find(known => /^en-([a-z]{2}|\d{3})$/i.test(known)) ?? tag
}
