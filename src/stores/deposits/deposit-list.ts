import type { AppError, ErrorCode } from '../../contract/kit/errors.ts'
import { personalAtom } from '../personal-atoms.ts'
import { isTransient } from '../retries.ts'
import type { DepositEntry } from './deposit-entry.ts'
import {
  type DepositQueueSummary,
  type DepositState,
  emptyDepositQueueSummary,
  type QueuedDeposit,
  summarizeDeposits
} from './deposit-states.ts'

const progressMs = 100

interface ListParts {
  forget: (id: string) => void
  now: () => number
  after: (ms: number, run: () => void) => () => void
}

export type DepositList = ReturnType<typeof createDepositList>

export function createDepositList({ forget, now, after }: ListParts) {
  const $deposits = personalAtom<readonly QueuedDeposit[]>([], 'person')
  const $summary = personalAtom<DepositQueueSummary>(emptyDepositQueueSummary, 'person')
  const entries = new Map<string, DepositEntry>()
  let isSummaryDue = false

  function updateSummary(): DepositQueueSummary {
    const summed = [...entries.values()].map(({ size, $state, sent, isEarlier }) => {
      return { size, state: $state.get(), sent, isEarlier }
    })
    $summary.set(summarizeDeposits(summed))
    return $summary.get()
  }

  function updateSummarySoon(): void {
    if (isSummaryDue) return
    isSummaryDue = true
    after(progressMs, () => {
      isSummaryDue = false
      updateSummary()
    })
  }

  function change(entry: DepositEntry, state: DepositState): void {
    entry.$state.set(state)
    updateSummarySoon()
  }

  return {
    $deposits,
    // updated a tenth of a second after each change
    $summary,
    [Symbol.iterator]: () => entries.values(),
    get: (id: string) => entries.get(id),
    find(isMeant: (entry: DepositEntry) => boolean): DepositEntry | undefined {
      for (const entry of entries.values()) if (isMeant(entry)) return entry
      return undefined
    },
    /** It appears with the next `show()`. */
    add: (entry: DepositEntry) => void entries.set(entry.id, entry),
    show(): void {
      $deposits.set([...entries.values()])
      updateSummarySoon()
    },
    updateSummary,
    /** The summary then counts the deposits in the list only while they have not ended. */
    beginBatch(): void {
      for (const entry of entries.values()) entry.isEarlier = true
    },
    change,
    /** At most ten times a second. */
    showProgress(entry: DepositEntry, state: DepositState): void {
      if (now() - entry.shownAt < progressMs) return
      entry.shownAt = now()
      change(entry, state)
    },
    fail(entry: DepositEntry, error: AppError): void {
      // the server may have admitted the deposit despite a transient error, so a retry uses the
      // same key
      if (!isTransient(error)) forget(entry.id)
      change(entry, { status: 'failed', error, retryable: !lasting.has(error.code) })
    },
    removeWhere(isMeant: (entry: DepositEntry) => boolean): void {
      for (const entry of entries.values()) if (isMeant(entry)) entries.delete(entry.id)
      $deposits.set([...entries.values()])
      updateSummary()
    }
  }
}

// the file, or the right to deposit it, must change first
const lasting: ReadonlySet<ErrorCode> = new Set([
  'file_empty',
  'too_large',
  'invalid_input',
  'category_unknown',
  'category_unusable',
  'type_not_allowed',
  'forbidden',
  'account_disabled'
])
