import { atom, type WritableAtom } from 'nanostores'
import type { AppError, ErrorCode } from '../../contract/kit/errors.ts'
import type { ProcessedRequest } from '../../contract/requests.ts'
import type { ReducedPictureWithTransform } from '../../workers/image-client.ts'
import { personalAtom } from '../personal-atoms.ts'
import { isTransient } from '../retries.ts'
import type { RememberedUpload } from '../uploads/remembered-uploads.ts'
import {
  type DepositCategory,
  type DepositQueueSummary,
  type DepositState,
  emptyDepositQueueSummary,
  type PictureChoice,
  type QueuedDeposit,
  summarizeDeposits
} from './deposit-states.ts'

const progressMs = 100

/**
 * A deposit in the list, with the results of its completed steps. A retry continues after these
 * steps.
 */
export interface DepositEntry extends QueuedDeposit {
  $state: WritableAtom<DepositState>
  /** Undefined after a reload, until the person chooses the file or the browser opens it again. */
  file: File | undefined
  /**
   * Whether the person has chosen or reopened the file for this very deposit after a reload. If
   * true, a file with other bytes counts as a wrong choice. If false, such a file becomes a deposit
   * of its own.
   */
  isAssigned: boolean
  handle: FileSystemFileHandle | undefined
  type: string
  category: DepositCategory
  /**
   * Whether to send the original picture or its reduced copy. While undefined, the rules of the
   * category decide: they send one of the two, or require the person to choose.
   */
  choice: PictureChoice | undefined
  /** Idempotency key of the reservation. All retries use the same key. */
  key: string
  /** Whether the person wants to deposit the file although they have deposited it before. */
  again: boolean
  /**
   * Fingerprints from before a reload, with which the file chosen after the reload is compared.
   * Undefined if there is nothing to compare.
   */
  expected: Pick<RememberedUpload, 'original' | 'stored'> | undefined
  prepared: PreparedFile | undefined
  reserved: { request: ProcessedRequest; upload: string | undefined } | undefined
  /** Fraction of the bytes of the file that the server has received, from 0 to 1. */
  sent: number
  isInBatch: boolean
  stop: AbortController
  /** Releases the lock on the file's fingerprint, so that other tabs can send the same file. */
  unlock: () => void
  /** When the progress of the deposit was last shown, in milliseconds since the epoch. */
  shownAt: number
  /**
   * Whether the deposit belongs to an earlier batch of files (see `beginBatch()`). When such a
   * deposit has ended, the percentage of the summary no longer counts it.
   */
  isEarlier: boolean
}

/**
 * A file that is ready to be sent. `bytes` are the bytes to send: those of the original file or of
 * a reduced copy. `original` is the fingerprint of the original file, and `stored` that of `bytes`.
 */
export interface PreparedFile {
  original: string
  stored: string
  bytes: Blob
  reduction: ReducedPictureWithTransform | undefined
}

type Given = Pick<DepositEntry, 'file' | 'name' | 'size' | 'type' | 'category' | 'handle'>

/**
 * Creates a deposit in the state `waiting`. `given` sets properties of the deposit and replaces
 * default values.
 */
export function createDepositEntry(given: Given & Partial<DepositEntry>): DepositEntry {
  return {
    id: crypto.randomUUID(),
    reduction: undefined,
    canReopen: false,
    $state: atom<DepositState>({ status: 'waiting' }),
    isAssigned: false,
    choice: undefined,
    key: crypto.randomUUID(),
    again: false,
    expected: undefined,
    prepared: undefined,
    reserved: undefined,
    sent: 0,
    isInBatch: false,
    stop: new AbortController(),
    unlock: () => {},
    shownAt: 0,
    isEarlier: false,
    ...given
  }
}

/**
 * Creates the deposit of an upload that began before a reload. Its state is `missing` until it gets
 * its file again.
 */
export function restoreDepositEntry(upload: RememberedUpload): DepositEntry {
  const { id, name, size, type, category, key, again, original, stored, handle } = upload
  return createDepositEntry({
    ...{ id, name, size, type, key, again, handle },
    file: undefined,
    canReopen: handle !== undefined,
    $state: atom<DepositState>({ status: 'missing', ratio: 0, wrong: false }),
    category: { ...category, keep_originals: 'person' },
    choice: upload.isChoosing ? undefined : original === stored ? 'original' : 'reduced',
    expected: { original, stored }
  })
}

/**
 * Returns the data with which the browser can continue a deposit after a reload. Returns undefined
 * as long as the file has no fingerprints.
 */
export function toRememberedUpload(
  entry: DepositEntry
): Omit<RememberedUpload, 'person' | 'owner'> | undefined {
  const { id, prepared, reserved, name, size, type, category, key, again, handle } = entry
  if (!prepared) return undefined
  const { original, stored, bytes } = prepared
  const isChoosing = entry.$state.get().status === 'choosing'
  return {
    ...{ id, key, again, name, size, type, original, stored, category },
    bytes: bytes.size,
    ...(isChoosing ? { isChoosing } : {}),
    ...(reserved?.upload ? { address: reserved.upload, request_id: reserved.request.id } : {}),
    ...(handle ? { handle } : {})
  }
}

/**
 * Discards the reservation and the idempotency key of a deposit, so that the next try makes a new
 * reservation.
 */
export function resetForNewReservation(entry: DepositEntry): void {
  entry.key = crypto.randomUUID()
  entry.reserved = undefined
  entry.sent = 0
}

interface ListParts {
  forget: (id: string) => void
  now: () => number
  after: (ms: number, run: () => void) => () => void
}

export type DepositList = ReturnType<typeof createDepositList>

/** Creates the list of the deposits of this tab, in the order in which they were added. */
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
    /**
     * The number of deposits in each state, and the percentage that is done. Updated a tenth of a
     * second after each change.
     */
    $summary,
    [Symbol.iterator]: () => entries.values(),
    get: (id: string) => entries.get(id),
    findByRequest(requestId: string): DepositEntry | undefined {
      for (const entry of entries.values())
        if (entry.reserved?.request.id === requestId) return entry
      return undefined
    },
    /** Adds a deposit. It appears with the next `show()`. */
    add: (entry: DepositEntry) => void entries.set(entry.id, entry),
    remove: (entry: DepositEntry) => void entries.delete(entry.id),
    show(): void {
      $deposits.set([...entries.values()])
      updateSummarySoon()
    },
    /** Updates the summary immediately and returns it. */
    updateSummary,
    /**
     * Begins a new batch of files. The deposits that are already in the list count toward `batch`
     * and `percent` of the summary only while they have not ended.
     */
    beginBatch(): void {
      for (const entry of entries.values()) entry.isEarlier = true
    },
    change,
    /**
     * Changes the state of a deposit to show its progress. Ignores a call that comes less than
     * 0.1 s after the last shown progress of this deposit.
     */
    showProgress(entry: DepositEntry, state: DepositState): void {
      if (now() - entry.shownAt < progressMs) return
      entry.shownAt = now()
      change(entry, state)
    },
    fail(entry: DepositEntry, error: AppError): void {
      // the server may have made the reservation despite a transient error, so a retry uses the
      // same key
      if (!isTransient(error)) forget(entry.id)
      change(entry, { status: 'failed', error, retryable: !lasting.has(error.code) })
    }
  }
}

/** Errors that a retry cannot resolve: the file, or the right to deposit it, must change first. */
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
