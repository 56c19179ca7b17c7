import { atom, type ReadableAtom } from 'nanostores'
import type { AppError } from '../../contract/errors.ts'
import { isPassing } from '../retrying.ts'
import { type Act, isLasting, type QueuedDeposit } from './deposit-mutations.ts'
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
export interface DepositList extends Iterable<Act> {
  $deposits: ReadableAtom<readonly QueuedDeposit[]>
  $summary: ReadableAtom<DepositSummary>
  get: (id: string) => Act | undefined
  /** Nobody sees what is put here or taken away before `show()`. */
  put: (act: Act) => void
  remove: (act: Act) => void
  show: () => void
  /** Adds up now what otherwise follows a change after a moment. */
  sum: () => DepositSummary
  /** What has ended by then belongs to the past, and the percentage begins anew. */
  beginBatch: () => void
  change: (act: Act, state: DepositState) => void
  /** As `change`, for what comes too often to show all of it. */
  progress: (act: Act, state: DepositState) => void
  fail: (act: Act, error: AppError) => void
}

export function createDepositList({ forget, now, after }: ListParts): DepositList {
  const $deposits = atom<readonly QueuedDeposit[]>([])
  const $summary = atom<DepositSummary>(emptySummary)
  const acts = new Map<string, Act>()
  const earlier = new WeakSet<Act>()
  let summaryDue = false

  function sum(): DepositSummary {
    const states = [...acts.values()].map(act => {
      return { size: act.size, state: act.$state.get(), isEarlier: earlier.has(act) }
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

  function change(act: Act, state: DepositState): void {
    act.$state.set(state)
    sumSoon()
  }

  return {
    $deposits,
    $summary,
    [Symbol.iterator]: () => acts.values(),
    get: id => acts.get(id),
    put: act => void acts.set(act.id, act),
    remove: act => void acts.delete(act.id),
    show() {
      $deposits.set([...acts.values()])
      sumSoon()
    },
    sum,
    beginBatch() {
      for (const act of acts.values()) earlier.add(act)
    },
    change,
    progress(act, state) {
      if (now() - act.toldAt < progressMs) return
      act.toldAt = now()
      change(act, state)
    },
    fail(act, error) {
      // what may be decided still goes on with its key after a reload
      if (!isPassing(error)) forget(act.id)
      change(act, { status: 'failed', error, retryable: !isLasting(error) })
    }
  }
}
