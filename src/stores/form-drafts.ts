/**
 * Values of unfinished forms, stored while the page changes its language, and while a person whose
 * session has ended signs in again. They stay in memory until another page is opened and are never
 * saved, because they may be private.
 */
const drafts = new Map<string, unknown>()
let place: string | undefined
/** The person whose session has ended. Undefined if the values are stored for another reason. */
let owner: string | undefined

/**
 * Stores a value under `name` until the page `path`, a path without the language, is opened again,
 * for example in another language. With `whose`, the id of a person, stores it until this person
 * has signed in again.
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
 * Deletes the stored values unless they belong to the page `path`. Also keeps them on the sign-in
 * page if their owner's session has ended.
 */
export function keepOnlyDraftsOfPage(path: string): void {
  if (place !== path && !(owner && path.endsWith('/sign-in'))) drafts.clear()
}

/** Deletes the stored values if they belong to a person other than the one who has signed in. */
export function keepOnlyDraftsOfPerson(person: string | undefined): void {
  if (owner !== undefined && owner !== person) drafts.clear()
}
