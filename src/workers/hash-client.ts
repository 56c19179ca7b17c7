import { createFileHasher } from './file-hasher.ts'
import type { FileHashResult } from './hash.ts'
import { createPool } from './pool.ts'

/** More workers would not be faster, because they share one disk and a phone's few cores. */
const maxWorkers = 2

const pool = createPool<readonly Blob[], readonly FileHashResult[]>(
  maxWorkers,
  () => new Worker(new URL('./hash.ts', import.meta.url), { type: 'module' })
)

/** Loads the code of the worker ahead, so that fingerprints can be computed without a network. */
export const prepareHashing = pool.prepare

/**
 * Returns the SHA-256 of a file in hex, computed in a worker. While both workers are busy, files
 * wait. Rejects with `file_unreadable`, or with `Error('terminated')` when `signal` is aborted.
 */
export const hashFile = createFileHasher(pool, maxWorkers)
