/**
 * A handler for `.catch()`: returns undefined for a missing file and throws any other error again.
 */
export function ignoreMissingFile(error: unknown): undefined {
  const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
  if (!isMissing) throw error
}
