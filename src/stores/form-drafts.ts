/**
 * Values of half-filled forms, kept while the page changes its language. They stay in memory until
 * another page is opened, because they may be passwords.
 */
const drafts = new Map<string, unknown>()
let place: string | undefined

/** Keeps a value for the same page in another language. `path` is without the language. */
export function keepDraft(path: string, name: string, value: unknown): void {
  if (place !== path) drafts.clear()
  place = path
  drafts.set(name, value)
}

/** Returns what was kept for this page, once. */
export function takeDraft(path: string, name: string): unknown {
  if (place !== path) return undefined
  const value = drafts.get(name)
  drafts.delete(name)
  return value
}

/** Drops the values that were kept for other pages. */
export function dropDrafts(path: string): void {
  if (place !== path) drafts.clear()
}
