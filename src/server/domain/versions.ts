import { AppError } from '../../contract/kit/errors.ts'

/**
 * Throws `changed_meanwhile` if the version that a caller expects (`If-Match`) is not the present
 * one, because somebody else has changed the object since.
 */
export function requireVersion(present: number, expected: number | undefined): void {
  if (expected === undefined || expected === present) return
  throw new AppError('changed_meanwhile', `It was changed meanwhile: the version is ${present}`)
}

/**
 * Returns a field for the audit log if the caller of a change named no version. Such a caller may
 * have overwritten a change without having seen it.
 */
export function missingVersionNote(expected: number | undefined): { if_match?: 'none' } {
  return expected === undefined ? { if_match: 'none' } : {}
}
