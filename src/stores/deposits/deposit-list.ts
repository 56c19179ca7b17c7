import { atom, type ReadableAtom } from 'nanostores'
import type { AppError } from '../../contract/errors.ts'
import { isPassing } from '../retrying.ts'
import { type DepositEntry, isPermanent, type QueuedDeposit } from './deposit-entry.ts'
import {
  type DepositState,
  type DepositSummary,
  emptySummary,
  summarize
} from './deposit-states.ts'

const progressMs = 100

interface ListParts {
  /** Lets go of what survives a reload of the page. */
  forget: (id: string) => void
  now: () => number
  after: (ms: number, run: () => void) => () => void
}

/** The deposits of this document in the order in which they came, and what they add up to. */
export interface DepositList extends Iterable<DepositEntry> {
  $deposits: ReadableAtom<readonly QueuedDeposit[]>
  $summary: ReadableAtom<DepositSummary>
  get: (id: string) => DepositEntry | undefined
  /** Nobody sees what is put here or taken away before `show()`. */
  put: (entry: DepositEntry) => void
  remove: (entry: DepositEntry) => void
  show: () => void
  /** Adds up now what otherwise follows a change after a moment. */
  sum: () => DepositSummary
  /** What has ended by then belongs to the past, and the percentage begins anew. */
  beginBatch: () => void
  change: (entry: DepositEntry, state: DepositState) => void
  /** As `change`, for what comes too often to show all of it. */
  progress: (entry: DepositEntry, state: DepositState) => void
  fail: (entry: DepositEntry, error: AppError) => void
}

export function createDepositList({ forget, now, after }: ListParts): DepositList {
  const $deposits = atom<readonly QueuedDeposit[]>([])
  const $summary = atom<DepositSummary>(emptySummary)
  const entries = new Map<string, DepositEntry>()
  const earlier = new WeakSet<DepositEntry>()
  let summaryDue = false

  function sum(): DepositSummary {
    const states = [...entries.values()].map(entry => {
      return { size: entry.size, state: entry.$state.get(), isEarlier: earlier.has(entry) }
    })
    $summary.set(summarize(states))
    return $summary.get()
  }

  function sumSoon(): void {
    if (summaryDue) return
    summaryDue = true
    after(progressMs, () => {
      summaryDue = false
      sum()
    })
  }

  function change(entry: DepositEntry, state: DepositState): void {
    entry.$state.set(state)
    sumSoon()
  }

  return {
    $deposits,
    $summary,
    [Symbol.iterator]: () => entries.values(),
    get: id => entries.get(id),
    put: entry => void entries.set(entry.id, entry),
    remove: entry => void entries.delete(entry.id),
    show() {
      $deposits.set([...entries.values()])
      sumSoon()
    },
    sum,
    beginBatch() {
      for (const entry of entries.values()) earlier.add(entry)
    },
    change,
    progress(entry, state) {
      if (now() - entry.toldAt < progressMs) return
      entry.toldAt = now()
      change(entry, state)
    },
    fail(entry, error) {
      // what may be decided still goes on with its key after a reload
      if (!isPassing(error)) forget(entry.id)
      change(entry, { status: 'failed', error, retryable: !isPermanent(error) })
    }
  }
}
