import { defaultLocale, localizedPath } from '../i18n/index.ts'

// in memory only, because the values may be private
const drafts = new Map<string, unknown>()
let place: string | undefined
// undefined: kept for a change of language, not for the same person's next session
let owner: string | undefined

/**
 * Keeps a value until another page is opened. With `whose`, the id of a person, it survives the
 * sign-in page, but not the sign-in of somebody else. `path` is in the default language:
 * `/en/verify`.
 */
export function storeDraft(path: string, name: string, value: unknown, whose?: string): void {
  if (place !== path || owner !== whose) drafts.clear()
  place = path
  owner = whose
  drafts.set(name, value)
}

export function takeDraft(path: string, name: string): unknown {
  if (place !== path) return undefined
  const value = drafts.get(name)
  drafts.delete(name)
  return value
}

/** On the sign-in page, keeps the values of a person whose session has ended. */
export function deleteDraftsOfOtherPages(path: string): void {
  if (place !== path && !(owner && path.endsWith('/sign-in'))) drafts.clear()
}

export function deleteDraftsOfOtherPeople(person: string | undefined): void {
  if (owner !== undefined && owner !== person) drafts.clear()
}

export function pagePathInDefaultLocale(): string {
  return localizedPath(defaultLocale, location.pathname)
}
