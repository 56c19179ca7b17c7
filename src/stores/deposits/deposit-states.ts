import type { ReadableAtom } from 'nanostores'
import type { Category } from '../../contract/categories.ts'
import type { PictureTransform } from '../../contract/deposits.ts'
import type { AppError } from '../../contract/kit/errors.ts'
import type { ProcessedRequest } from '../../contract/requests.ts'
import type { TransferSpeed } from '../../core/files/transfer-speed.ts'

export const maxUnfinishedDeposits = 1000

export type DepositCategory = Pick<Category, 'id' | 'keep_originals' | 'store' | 'media_types'>

export type PictureChoice = 'reduced' | 'original'

export interface QueuedDeposit {
  id: string
  name: string
  // of the file that the person chose
  size: number
  reduction: Pick<PictureTransform, 'from' | 'to'> | undefined
  canReopen: boolean
  $state: ReadableAtom<DepositState>
}

export type DepositState =
  | { status: 'waiting' }
  // `sent`: what the server had received before a reload, from 0 to 1
  | { status: 'hashing'; ratio: number; sent: number }
  | { status: 'preparing' }
  // the fingerprints of a picture and its reduced copy
  | { status: 'choosing'; original: string; stored: string }
  | { status: 'reserving' }
  // `cut`: the connection has broken off, and the upload waits for the next try
  | ({ status: 'uploading'; ratio: number; cut: boolean } & TransferSpeed)
  | { status: 'paused'; by: 'person' | 'session'; ratio: number }
  // resuming calls the server again, because the limit may have changed
  | { status: 'paused'; by: 'limit'; ratio: number; error: AppError }
  // after a reload; `wrong`: the person has chosen another file
  | { status: 'missing'; ratio: number; wrong: boolean }
  // `request` is the earlier deposit of the same file
  | { status: 'duplicate'; request: ProcessedRequest }
  | { status: 'recording' }
  | { status: 'done'; request: ProcessedRequest }
  | { status: 'failed'; error: AppError; retryable: boolean }
  | { status: 'cancelled' }

export const emptyDepositQueueSummary = {
  total: 0,
  // files that are added when nothing is in progress begin a new batch, in which earlier deposits
  // count until they end
  batch: { total: 0, ended: 0 },
  // neither paused nor ended, and not waiting for the person
  active: 0,
  paused: 0,
  choosing: 0,
  missing: 0,
  done: 0,
  // of those that are done
  sealed: 0,
  duplicate: 0,
  failed: 0,
  retryable: 0,
  cancelled: 0,
  // of the bytes of the batch; 100 only if all deposits have ended
  percent: 0
}

export type DepositQueueSummary = typeof emptyDepositQueueSummary & { secondsLeft?: number }

export function hasEnded({ status }: DepositState): boolean {
  return ['done', 'failed', 'cancelled', 'duplicate'].includes(status)
}

export function canBePaused({ status }: DepositState): boolean {
  return ['waiting', 'hashing', 'preparing', 'reserving', 'uploading'].includes(status)
}

interface Summarized {
  size: number
  state: DepositState
  // from 0 to 1
  sent?: number
  isEarlier?: boolean
}

export function summarizeDeposits(deposits: Iterable<Summarized>): DepositQueueSummary {
  const summary = { ...emptyDepositQueueSummary, batch: { total: 0, ended: 0 } }
  let bytes = 0
  let bytesDone = 0
  let bytesToSend = 0
  let bytesPerSecond = 0
  let isSteady = false
  for (const { size, state, sent = 0, isEarlier } of deposits) {
    summary.total += 1
    summary[counterOf(state)] += 1
    if (state.status === 'failed' && state.retryable) summary.retryable += 1
    if (state.status === 'done' && state.request.rung === 'sealed') summary.sealed += 1
    if (isEarlier && hasEnded(state)) continue
    const share = ratioOf(state, sent)
    summary.batch.total += 1
    if (hasEnded(state)) summary.batch.ended += 1
    bytes += size
    bytesDone += size * share
    if (canBePaused(state)) bytesToSend += size * (1 - share)
    if (state.status !== 'uploading') continue
    bytesPerSecond += state.bytesPerSecond ?? 0
    if (state.secondsLeft !== undefined) isSteady = true
  }
  const percent = Math.floor((100 * bytesDone) / Math.max(1, bytes))
  return {
    ...summary,
    percent: countUnfinished(summary) > 0 ? Math.min(99, percent) : summary.total > 0 ? 100 : 0,
    ...(isSteady && bytesPerSecond > 0 ? { secondsLeft: bytesToSend / bytesPerSecond } : {})
  }
}

export function countUnfinished({
  active,
  paused,
  choosing,
  missing
}: DepositQueueSummary): number {
  return active + paused + choosing + missing
}

type Counter = Extract<DepositState['status'], keyof DepositQueueSummary>

function counterOf({ status }: DepositState): Counter | 'active' {
  return status in emptyDepositQueueSummary ? (status as Counter) : 'active' // as: just checked
}

function ratioOf(state: DepositState, sent: number): number {
  if (state.status === 'uploading' || state.status === 'paused' || state.status === 'missing') {
    return state.ratio
  }
  return canBePaused(state) || state.status === 'choosing' ? sent : 1
}

// what waits for the person comes first
export function listRankOf({ status }: DepositState): number {
  return ranks.findIndex(rank => rank.includes(status))
}

const ranks: readonly DepositState['status'][][] = [
  ['choosing', 'missing'],
  ['hashing', 'preparing', 'reserving', 'uploading', 'recording'],
  ['failed'],
  ['paused'],
  ['waiting'],
  ['duplicate'],
  ['done'],
  ['cancelled']
]
