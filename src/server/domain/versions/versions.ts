import { AppError } from '../../../contract/kit/errors.ts'

/**
 * The version of an object, such as a group, that the caller of a change has seen. The caller need
 * not name one, and may name several.
 */
export interface ExpectedVersion {
  /**
   * The change is refused if the object has none of these versions now. Undefined accepts every
   * version.
   */
  version: readonly number[] | undefined
}

/**
 * Throws `changed_meanwhile` if the present version is none of those that a caller expects
 * (`If-Match`), because somebody else has changed the object since.
 */
export function requireVersion(present: number, expected: readonly number[] | undefined): void {
  if (expected === undefined || expected.includes(present)) return
  throw new AppError('changed_meanwhile', `It was changed meanwhile: the version is ${present}`)
}

/**
 * Returns the field `if_match: 'none'` for the audit log if the caller of a change named no
 * version. Such a caller may have overwritten a change without having seen it. Otherwise returns
 * `{}`.
 */
export function missingVersionNote(expected: readonly number[] | undefined): { if_match?: 'none' } {
  return expected === undefined ? { if_match: 'none' } : {}
}
