/**
 * Values of unfinished forms, stored while the page changes its language. They stay in memory until
 * another page is opened and are never saved, because they may be passwords.
 */
const drafts = new Map<string, unknown>()
let place: string | undefined

/** Stores a value for the same page in another language. `path` is without the language. */
export function keepDraft(path: string, name: string, value: unknown): void {
  if (place !== path) drafts.clear()
  place = path
  drafts.set(name, value)
}

/** Returns the value stored for this page and removes it. */
export function takeDraft(path: string, name: string): unknown {
  if (place !== path) return undefined
  const value = drafts.get(name)
  drafts.delete(name)
  return value
}

/** Deletes all values unless they belong to the page `path`. */
export function dropOtherDrafts(path: string): void {
  if (place !== path) drafts.clear()
}
