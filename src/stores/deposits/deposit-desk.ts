import type * as z from 'zod/mini'
import type { createDeposit } from '../../contract/deposits.ts'
import type { AppError } from '../../contract/kit/errors.ts'
import type { ProcessedRequest } from '../../contract/requests.ts'
import type { ReducedPictureWithTransform } from '../../workers/image-client.ts'
import type { WorkerTaskOptions } from '../../workers/pool.ts'
import { createCallRetrier } from '../retries.ts'
import type { RememberedUpload } from '../uploads/remembered-uploads.ts'
import type { TusClient } from '../uploads/tus-client.ts'
import type { SendBatch } from './batch-client.ts'
import { createDepositBatchQueue } from './deposit-batches.ts'
import type { DepositEntry } from './deposit-entry.ts'
import { createDepositList } from './deposit-list.ts'
import type { DepositCategory } from './deposit-states.ts'
import { createDepositTurns } from './deposit-turns.ts'

/** The functions with which the queue reads and locks files, calls the API and measures time. */
export interface DepositQueueDependencies extends Pick<TusClient, 'send' | 'getOffset'> {
  hash: (file: Blob, options: WorkerTaskOptions) => Promise<string>
  reduce: (
    file: Blob,
    options: WorkerTaskOptions
  ) => Promise<ReducedPictureWithTransform | undefined>
  reserve: (
    input: z.input<typeof createDeposit.input>,
    idempotencyKey: string
  ) => Promise<z.output<typeof createDeposit.output>>
  cancelUpload: TusClient['cancel']
  maxBatchedBytes: number
  sendBatch: SendBatch
  getRequest: (id: string) => Promise<ProcessedRequest>
  remember: (upload: Omit<RememberedUpload, 'person' | 'owner'>) => void
  forget: (id: string) => void
  /** Returns the name of a file, including the folders that it was dropped or chosen with. */
  nameOf: (file: File) => string
  handleOf: (file: File) => FileSystemFileHandle | undefined
  /** With `ask`, the browser may ask for permission, which works only right after a click. */
  openHandle: (handle: FileSystemFileHandle, ask: boolean) => Promise<File | undefined>
  /**
   * Waits until no other tab sends the file with the fingerprint `original`, then locks it for this
   * tab. Returns the function that releases the lock. Aborting `signal` releases it, too.
   */
  lockFile: (original: string, signal: AbortSignal) => Promise<() => void>
  now: () => number
  random: () => number
  after: (ms: number, run: () => void) => () => void
}

export type Desk = ReturnType<typeof createDesk>

/**
 * Creates what all parts of the queue work on. `start` lets a deposit begin, or go on behind its
 * last completed step.
 */
export function createDesk(parts: DepositQueueDependencies, start: (entry: DepositEntry) => void) {
  return {
    ...parts,
    start,
    list: createDepositList(parts),
    retries: createCallRetrier(parts),
    turns: createDepositTurns(),
    batches: createDepositBatchQueue(parts.sendBatch),
    /** Files that are not in the list yet. */
    toAdd: [] as { file: File; category: DepositCategory }[],
    /**
     * The limits that the server has reported, by category id. It will probably refuse further
     * files of at least `fromBytes` bytes with the same `error`.
     */
    limits: new Map<string, { error: AppError; fromBytes: number }>(),
    /** Deposits of which the server has all bytes, but no record yet. */
    recording: new Set<DepositEntry>(),
    isCheckDue: false,
    /** Fingerprints of the files that this tab has recorded. */
    recorded: new Set<string>()
  }
}
