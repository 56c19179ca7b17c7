import type { AppError } from '../contract/errors.ts'
import type { ProcessedRequest } from '../contract/requests.ts'
import type { Pace } from '../core/pace.ts'

export type DepositState =
  | { status: 'waiting' }
  | { status: 'hashing'; ratio: number }
  | { status: 'preparing' }
  | { status: 'reserving' }
  | ({ status: 'uploading'; ratio: number; cut: boolean } & Pace)
  | { status: 'paused'; by: 'person' | 'session'; ratio: number }
  | { status: 'recording' }
  | { status: 'done'; request: ProcessedRequest }
  | { status: 'failed'; error: AppError; retryable: boolean }
  | { status: 'cancelled' }

export interface DepositSummary {
  total: number
  /** Neither ended nor paused. */
  active: number
  paused: number
  done: number
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
  active: 0,
  paused: 0,
  done: 0,
  failed: 0,
  retryable: 0,
  cancelled: 0,
  percent: 0
}

export function hasEnded({ status }: DepositState): boolean {
  return status === 'done' || status === 'failed' || status === 'cancelled'
}

/** Reached states that a person may still interrupt. */
export function isInterruptible({ status }: DepositState): boolean {
  return ['waiting', 'hashing', 'preparing', 'reserving', 'uploading'].includes(status)
}

/** `isEarlier`: it ended before the present batch, whose bytes alone make up the percentage. */
export function summarize(
  deposits: Iterable<{ file: Blob; state: DepositState; isEarlier?: boolean }>
): DepositSummary {
  const counted = { ...emptySummary }
  let bytes = 0
  let bytesDone = 0
  let bytesToSend = 0
  let bytesPerSecond = 0
  let steady = false
  for (const { file, state, isEarlier } of deposits) {
    counted.total += 1
    counted[bucketOf(state)] += 1
    if (state.status === 'failed' && state.retryable) counted.retryable += 1
    if (isEarlier && hasEnded(state)) continue
    bytes += file.size
    bytesDone += file.size * shareOf(state)
    if (state.status === 'uploading') {
      bytesPerSecond += state.bytesPerSecond ?? 0
      if (state.secondsLeft !== undefined) steady = true
    }
    if (isInterruptible(state)) {
      bytesToSend += file.size * (state.status === 'uploading' ? 1 - state.ratio : 1)
    }
  }
  const open = counted.active + counted.paused
  const percent = Math.floor((100 * bytesDone) / Math.max(1, bytes))
  return {
    ...counted,
    percent: open > 0 ? Math.min(99, percent) : counted.total > 0 ? 100 : 0,
    ...(steady && bytesPerSecond > 0 ? { secondsLeft: bytesToSend / bytesPerSecond } : {})
  }
}

function bucketOf({ status }: DepositState): 'active' | 'paused' | 'done' | 'failed' | 'cancelled' {
  if (status === 'done' || status === 'failed' || status === 'cancelled' || status === 'paused') {
    return status
  }
  return 'active'
}

/** Reading a file takes about a tenth of the time of sending it. */
const hashingShare = 0.1

function shareOf(state: DepositState): number {
  if (state.status === 'hashing') return hashingShare * state.ratio
  if (state.status === 'preparing' || state.status === 'reserving') return hashingShare
  if (state.status === 'uploading' || (state.status === 'paused' && state.ratio > 0)) {
    return hashingShare + (1 - hashingShare) * state.ratio
  }
  return state.status === 'waiting' || state.status === 'paused' ? 0 : 1
}
