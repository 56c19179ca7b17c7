import { AppError } from '../../contract/errors.ts'

/** Throws `changed_meanwhile` where a caller names another version than the present one. */
export function requireVersion(present: number, expected: number | undefined): void {
  if (expected === undefined || expected === present) return
  throw new AppError('changed_meanwhile', `It was changed meanwhile: the version is ${present}`)
}

/** Returns the field by which the audit log tells that a caller named no version, and so saw none. */
export function versionNote(expected: number | undefined): { if_match?: 'none' } {
  return expected === undefined ? { if_match: 'none' } : {}
}
