export function ignoreMissingFile(error: unknown): undefined {
  const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
  if (!isMissing) throw error
}
