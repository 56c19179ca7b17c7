import { createPool, type TaskOptions } from './pool.ts'

/**
 * The most files that are hashed at the same time. More would gain nothing, because they share one
 * disk and a phone's few cores.
 */
const maxWorkers = 2

/**
 * Returns the SHA-256 of a file in hex, computed in a worker. At most two files are hashed at the
 * same time; others wait. Rejects with `file_unreadable`, or with `Error('terminated')` when
 * `signal` is aborted.
 */
export const hashFile: (file: Blob, options?: TaskOptions) => Promise<string> = createPool(
  maxWorkers,
  () => new Worker(new URL('./hash.ts', import.meta.url), { type: 'module' })
)
