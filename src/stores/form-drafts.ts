/**
 * What half-filled forms hold while the page changes its language. It stays in memory and is gone with the
 * first page that is another one, because passwords are part of it.
 */
const drafts = new Map<string, unknown>()
let place: string | undefined

/** Keeps a value for the same page in another language; `path` is the page's without its language. */
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

/** Forgets everything that was kept for another page than this. */
export function dropDrafts(path: string): void {
  if (place !== path) drafts.clear()
}
