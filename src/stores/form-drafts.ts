/**
 * Values of unfinished forms. They are stored while the page changes its language, and while a
 * person whose session has ended signs in again. They stay only in memory, because they may be
 * private, and are deleted when another page is opened.
 */
const drafts = new Map<string, unknown>()
let place: string | undefined
/** The person whose session has ended. Undefined if the values are stored for another reason. */
let owner: string | undefined

/**
 * Stores a form value under `name` for the page with the path `path`, without the language. The
 * value is deleted when another page is opened. With `whose`, the id of a person, it also stays on
 * the sign-in page, but is deleted if somebody else signs in.
 */
export function keepDraft(path: string, name: string, value: unknown, whose?: string): void {
  if (place !== path || owner !== whose) drafts.clear()
  place = path
  owner = whose
  drafts.set(name, value)
}

/** Returns the value stored for this page and removes it. Undefined if there is none. */
export function takeDraft(path: string, name: string): unknown {
  if (place !== path) return undefined
  const value = drafts.get(name)
  drafts.delete(name)
  return value
}

/**
 * Deletes the stored values unless they belong to the page `path`, which is opened now. Values of a
 * person whose session has ended survive the sign-in page, too.
 */
export function keepOnlyDraftsOfPage(path: string): void {
  if (place !== path && !(owner && path.endsWith('/sign-in'))) drafts.clear()
}

/** Deletes the stored values if they belong to a person other than the one who has signed in. */
export function keepOnlyDraftsOfPerson(person: string | undefined): void {
  if (owner !== undefined && owner !== person) drafts.clear()
}
