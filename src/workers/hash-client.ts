import { type AskOptions, createPool } from './pool.ts'

/** More than two files at once gain nothing: they share one disk and a phone's few cores. */
const maxWorkers = 2

/**
 * Returns the SHA-256 of a file in hex, computed in one of two workers. Further files wait. Rejects
 * with `file_unreadable`, or with `Error('terminated')` when `signal` is aborted.
 */
export const hashFile: (file: Blob, options?: AskOptions) => Promise<string> = createPool(
  maxWorkers,
  () => new Worker(new URL('./hash.ts', import.meta.url), { type: 'module' })
)
