import type { AppError } from '../../contract/errors.ts'
import type { ProcessedRequest } from '../../contract/requests.ts'
import type { Pace } from '../../core/files/transfer-speed.ts'

/** As many files may be on their way at once. */
export const maxQueued = 1000

export type DepositState =
  | { status: 'waiting' }
  | { status: 'hashing'; ratio: number }
  | { status: 'preparing' }
  /** The person decides between the picture and its reduced copy; nothing is sent before. */
  | { status: 'choosing' }
  | { status: 'reserving' }
  | ({ status: 'uploading'; ratio: number; cut: boolean } & Pace)
  | { status: 'paused'; by: 'person' | 'session'; ratio: number }
  /** No place for this one now; whoever resumes it asks again. */
  | { status: 'paused'; by: 'limit'; ratio: number; error: AppError }
  /** Left over from before a reload: the browser no longer has the file. */
  | { status: 'missing'; ratio: number; wrong: boolean }
  /** The person has deposited exactly this file. */
  | { status: 'duplicate'; request: ProcessedRequest }
  | { status: 'recording' }
  | { status: 'done'; request: ProcessedRequest }
  | { status: 'failed'; error: AppError; retryable: boolean }
  | { status: 'cancelled' }

export interface DepositSummary {
  total: number
  /** Files of the present batch, which alone make up the percentage, and how many of them have ended. */
  batch: { total: number; ended: number }
  /** Neither ended nor paused. */
  active: number
  paused: number
  /** Pictures that wait for the person's choice. */
  choosing: number
  /** Waiting for their file to be chosen again. */
  missing: number
  done: number
  /** Deposited before. */
  duplicate: number
  failed: number
  /** Of the failed, those that another try may help. */
  retryable: number
  cancelled: number
  /** Of all bytes; 100 only once everything has ended. */
  percent: number
  secondsLeft?: number
}

export const emptySummary: DepositSummary = {
  total: 0,
  batch: { total: 0, ended: 0 },
  active: 0,
  paused: 0,
  choosing: 0,
  missing: 0,
  done: 0,
  duplicate: 0,
  failed: 0,
  retryable: 0,
  cancelled: 0,
  percent: 0
}

export function hasEnded({ status }: DepositState): boolean {
  return ['done', 'failed', 'cancelled', 'duplicate'].includes(status)
}

/** Reached states that a person may still interrupt. */
export function isInterruptible({ status }: DepositState): boolean {
  return ['waiting', 'hashing', 'preparing', 'reserving', 'uploading'].includes(status)
}

/** `isEarlier`: it ended before the present batch, whose bytes alone make up the percentage. */
export function summarize(
  deposits: Iterable<{ size: number; state: DepositState; isEarlier?: boolean }>
): DepositSummary {
  const counted = { ...emptySummary, batch: { total: 0, ended: 0 } }
  let bytes = 0
  let bytesDone = 0
  let bytesToSend = 0
  let bytesPerSecond = 0
  let steady = false
  for (const { size, state, isEarlier } of deposits) {
    counted.total += 1
    counted[bucketOf(state)] += 1
    if (state.status === 'failed' && state.retryable) counted.retryable += 1
    if (isEarlier && hasEnded(state)) continue
    counted.batch.total += 1
    if (hasEnded(state)) counted.batch.ended += 1
    bytes += size
    bytesDone += size * shareOf(state)
    if (state.status === 'uploading') {
      bytesPerSecond += state.bytesPerSecond ?? 0
      if (state.secondsLeft !== undefined) steady = true
    }
    if (isInterruptible(state)) {
      bytesToSend += size * (state.status === 'uploading' ? 1 - state.ratio : 1)
    }
  }
  const open = openOf(counted)
  const percent = Math.floor((100 * bytesDone) / Math.max(1, bytes))
  return {
    ...counted,
    percent: open > 0 ? Math.min(99, percent) : counted.total > 0 ? 100 : 0,
    ...(steady && bytesPerSecond > 0 ? { secondsLeft: bytesToSend / bytesPerSecond } : {})
  }
}

/** How many have not ended. */
export function openOf({ active, paused, choosing, missing }: DepositSummary): number {
  return active + paused + choosing + missing
}

type Bucket =
  | 'active'
  | 'paused'
  | 'choosing'
  | 'missing'
  | 'done'
  | 'failed'
  | 'cancelled'
  | 'duplicate'

function bucketOf(state: DepositState): Bucket {
  const { status } = state
  if (status === 'failed' || status === 'cancelled' || status === 'done') return status
  if (status === 'paused' || status === 'choosing') return status
  if (status === 'missing' || status === 'duplicate') return status
  return 'active'
}

/** How much of a file has been sent, as its row says; what needs no sending ends at once. */
function shareOf(state: DepositState): number {
  if (state.status === 'uploading' || state.status === 'paused' || state.status === 'missing') {
    return state.ratio
  }
  return ['waiting', 'hashing', 'preparing', 'choosing', 'reserving'].includes(state.status) ? 0 : 1
}

/** What needs the person comes first, then what runs, then what failed, and last what has ended. */
export function rankOf({ status }: DepositState): number {
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
