import type { AppError, ErrorCode } from '../../contract/kit/errors.ts'
import type { Desk } from './deposit-desk.ts'
import { type DepositEntry, resetForNewReservation } from './deposit-entry.ts'
import { canBePaused } from './deposit-states.ts'

export function pause(
  { list }: Desk,
  entry: DepositEntry,
  by: 'person' | 'session' = 'person'
): void {
  if (!canBePaused(entry.$state.get())) return
  entry.stop.abort()
  list.change(entry, { status: 'paused', by, ratio: entry.sent })
}

export function resume({ limits, list, start, turns }: Desk, entry: DepositEntry): void {
  const state = entry.$state.get()
  if (state.status !== 'paused') return
  limits.delete(entry.category.id)
  if (!turns.isSuspended()) start(entry)
  else list.change(entry, { status: 'paused', by: 'session', ratio: state.ratio })
}

export function suspend(desk: Desk): void {
  desk.turns.setSuspended(true)
  for (const entry of desk.list) pause(desk, entry, 'session')
}

export function endSuspension(desk: Desk): void {
  desk.turns.setSuspended(false)
  for (const entry of pausedBy(desk, 'session')) desk.start(entry)
}

export function resumeLimited(desk: Desk): void {
  for (const entry of pausedBy(desk, 'limit')) resume(desk, entry)
}

function pausedBy({ list }: Desk, cause: 'session' | 'limit'): DepositEntry[] {
  return [...list].filter(({ $state }) => {
    const state = $state.get()
    return state.status === 'paused' && state.by === cause
  })
}

export function findLimit(
  { limits }: Desk,
  { category }: DepositEntry,
  bytes: number
): AppError | undefined {
  const limit = limits.get(category.id)
  return limit && bytes >= limit.fromBytes ? limit.error : undefined
}

export function isLimit({ code }: AppError): boolean {
  return limitCodes.has(code)
}

// if the server accepts nothing more in this category, the others there pause, too
export function pauseAtLimit(desk: Desk, entry: DepositEntry, error: AppError): void {
  const { limits, list } = desk
  const { id } = entry.category
  const isKnown = limits.get(id)?.error === error
  const isFull = error.code === 'request_limit_reached'
  const size = isFull ? 0 : (entry.prepared?.bytes.size ?? 0)
  limits.set(id, { error, fromBytes: Math.min(size, limits.get(id)?.fromBytes ?? size) })
  // The server keeps the bytes of an upload that has begun. If it was not asked this time, it may
  // have recorded an earlier try under this key.
  if (!entry.reserved && !isKnown) {
    desk.forget(entry.id)
    resetForNewReservation(entry)
  }
  list.change(entry, { status: 'paused', by: 'limit', ratio: entry.sent, error })
  if (!isFull) return
  for (const other of list) {
    if (other.reserved || other.category.id !== id || !canBePaused(other.$state.get())) continue
    other.stop.abort()
    list.change(other, { status: 'paused', by: 'limit', ratio: 0, error })
  }
}

const limitCodes: ReadonlySet<ErrorCode> = new Set([
  'request_limit_reached',
  'storage_limit_reached',
  'upload_limit_reached'
])
