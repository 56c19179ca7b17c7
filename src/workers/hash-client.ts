import { type AskOptions, createPool } from './pool.ts'

/** Two files at once: one disk and a phone's cores gain nothing from more. */
const maxWorkers = 2

/**
 * Hex SHA-256 of a file, computed in a worker; further files wait for one of two workers. Rejects
 * with `file_unreadable`, or with `Error('terminated')` once `signal` has killed the worker.
 */
export const hashFile: (file: Blob, options?: AskOptions) => Promise<string> = createPool(
  maxWorkers,
  () => new Worker(new URL('./hash.ts', import.meta.url), { type: 'module' })
)
