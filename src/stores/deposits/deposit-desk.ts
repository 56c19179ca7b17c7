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
  sealedIfReached: (request: ProcessedRequest) => ProcessedRequest
  remember: (upload: Omit<RememberedUpload, 'person' | 'owner'>) => void
  forget: (id: string) => void
  /** Including the folders that the file was dropped or chosen with. */
  nameOf: (file: File) => string
  handleOf: (file: File) => FileSystemFileHandle | undefined
  // with `ask`, the browser may ask for permission, which works only right after a click
  openHandle: (handle: FileSystemFileHandle, ask: boolean) => Promise<File | undefined>
  // other tabs may send the same file; aborting `signal` also releases the lock
  lockFile: (original: string, signal: AbortSignal) => Promise<() => void>
  now: () => number
  random: () => number
  after: (ms: number, run: () => void) => () => void
}

export type Desk = ReturnType<typeof createDesk>

/** `start` lets a deposit begin, or go on behind its last completed step. */
export function createDesk(parts: DepositQueueDependencies, start: (entry: DepositEntry) => void) {
  return {
    ...parts,
    start,
    list: createDepositList(parts),
    retries: createCallRetrier(parts),
    turns: createDepositTurns(),
    batches: createDepositBatchQueue(parts.sendBatch),
    // not in the list yet
    toAdd: [] as { file: File; category: DepositCategory }[],
    // reported by the server, by category id; it will probably refuse files of at least `fromBytes`
    limits: new Map<string, { error: AppError; fromBytes: number }>(),
    // the server has all bytes, but no record yet
    recording: new Set<DepositEntry>(),
    isCheckDue: false,
    // fingerprints
    recorded: new Set<string>()
  }
}
