import { createFileHasher } from './file-hasher.ts'
import type { FileHashResult } from './hash.ts'
import { createPool } from './pool.ts'

// more would not be faster, because they share one disk and a phone's few cores
const maxWorkers = 2

const pool = createPool<readonly Blob[], readonly FileHashResult[]>(
  maxWorkers,
  () => new Worker(new URL('./hash.ts', import.meta.url), { type: 'module' })
)

/** So that fingerprints can be computed without a network. */
export const prepareHashing = pool.prepare

/** Rejects with `file_unreadable`, or with `Error('terminated')` when `signal` is aborted. */
export const hashFile = createFileHasher(pool, maxWorkers)
