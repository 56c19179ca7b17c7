import { defaultLocale, localizedPath } from '../i18n/index.ts'

/**
 * Values of unfinished forms. They are stored while the page changes its language, and while a
 * person whose session has ended signs in again. They stay only in memory, because they may be
 * private, and are deleted when another page is opened.
 */
const drafts = new Map<string, unknown>()
let place: string | undefined
/**
 * Id of the person who entered the values in `drafts`, if they are stored because that person's
 * session has ended. Undefined if they are stored because the page changes its language.
 */
let owner: string | undefined

/**
 * Stores a form value under `name` for a page. `path` is the page's path in the default language:
 * `/en/verify`. The value is deleted when another page is opened. With `whose`, the id of a person,
 * the value survives the sign-in page, but is deleted if somebody else signs in.
 */
export function storeDraft(path: string, name: string, value: unknown, whose?: string): void {
  if (place !== path || owner !== whose) drafts.clear()
  place = path
  owner = whose
  drafts.set(name, value)
}

/**
 * Returns the value that is stored under `name` for the page with the path `path`, and removes it.
 * Undefined if there is none.
 */
export function takeDraft(path: string, name: string): unknown {
  if (place !== path) return undefined
  const value = drafts.get(name)
  drafts.delete(name)
  return value
}

/**
 * Deletes the stored values of all pages except `path`, the page that has just been opened. On the
 * sign-in page, also keeps the values of a person whose session has ended.
 */
export function deleteDraftsOfOtherPages(path: string): void {
  if (place !== path && !(owner && path.endsWith('/sign-in'))) drafts.clear()
}

/** Deletes the stored values if they belong to a person other than the one who has signed in. */
export function deleteDraftsOfOtherPeople(person: string | undefined): void {
  if (owner !== undefined && owner !== person) drafts.clear()
}

/**
 * Returns the path of the open page in the default language. It identifies the page, whatever its
 * language is.
 */
export function pagePathInDefaultLocale(): string {
  return localizedPath(defaultLocale, location.pathname)
}
