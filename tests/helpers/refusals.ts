import { expect } from 'vitest'
import type { ErrorCode } from '../../src/contract/kit/errors.ts'

/** Matches an error or an answer that has this code. */
export function errorWithCode(code: ErrorCode) {
  return expect.objectContaining({ code })
}
