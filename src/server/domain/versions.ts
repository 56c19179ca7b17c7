import { AppError } from '../../contract/kit/errors.ts'

export interface ExpectedVersion {
  // undefined accepts every version
  version: readonly number[] | undefined
}

export function requireVersion(present: number, expected: readonly number[] | undefined): void {
  if (expected === undefined || expected.includes(present)) return
  throw new AppError('changed_meanwhile', `It was changed meanwhile: the version is ${present}`)
}

/**
 * Notes in the audit log that the caller named no version, and so may have overwritten a change
 * unseen.
 */
export function missingVersionNote(expected: readonly number[] | undefined): { if_match?: 'none' } {
  return expected === undefined ? { if_match: 'none' } : {}
}
