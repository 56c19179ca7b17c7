import { AppError } from '../../../contract/kit/errors.ts'

/**
 * The version of an object, such as a group, that the caller of a change has seen. The caller need
 * not name one.
 */
export interface ExpectedVersion {
  /**
   * The version that the caller has seen. The change is refused if the object has another version
   * now. Undefined accepts every version.
   */
  version: number | undefined
}

/**
 * Throws `changed_meanwhile` if the version that a caller expects (`If-Match`) is not the present
 * one, because somebody else has changed the object since.
 */
export function requireVersion(present: number, expected: number | undefined): void {
  if (expected === undefined || expected === present) return
  throw new AppError('changed_meanwhile', `It was changed meanwhile: the version is ${present}`)
}

/**
 * Returns the field `if_match: 'none'` for the audit log if the caller of a change named no
 * version. Such a caller may have overwritten a change without having seen it. Otherwise returns
 * `{}`.
 */
export function missingVersionNote(expected: number | undefined): { if_match?: 'none' } {
  return expected === undefined ? { if_match: 'none' } : {}
}
