import { atom, type WritableAtom } from 'nanostores'
import type { ProcessedRequest } from '../../contract/requests.ts'
import type { ReducedPictureWithTransform } from '../../workers/image-client.ts'
import type { RememberedUpload } from '../uploads/remembered-uploads.ts'
import type {
  DepositCategory,
  DepositState,
  PictureChoice,
  QueuedDeposit
} from './deposit-states.ts'

/** A deposit with the results of its completed steps, after which a retry continues. */
export interface DepositEntry extends QueuedDeposit {
  $state: WritableAtom<DepositState>
  /** Undefined after a reload, until the person chooses the file or the browser opens it again. */
  file: File | undefined
  /** Whether `file` was chosen or reopened for this very deposit after a reload. */
  isAssigned: boolean
  handle: FileSystemFileHandle | undefined
  type: string
  category: DepositCategory
  /** Undefined while the rules of the category decide or the person still has to choose. */
  choice: PictureChoice | undefined
  /** Idempotency key with which the deposit is admitted. All retries use the same key. */
  key: string
  /** Whether the person wants to deposit the file although they have deposited it before. */
  again: boolean
  /** Fingerprints from before a reload, with which the file chosen after it is compared. */
  expected: Pick<RememberedUpload, 'original' | 'stored'> | undefined
  prepared: PreparedFile | undefined
  /** What the server has admitted. `upload` is where it expects the bytes, if it does. */
  reserved: { request: ProcessedRequest; upload: string | undefined } | undefined
  /** Fraction of the bytes of the file that the server has received, from 0 to 1. */
  sent: number
  /** Stops the step that is running. */
  stop: AbortController
  /** Releases the lock on the file's fingerprint, so that other tabs can send the same file. */
  unlock: () => void
  /** When the progress of the deposit was last shown, in milliseconds since the epoch. */
  shownAt: number
  /** Whether the deposit was added before the current batch of files began. */
  isEarlier: boolean
}

/** A file that is ready to be sent. `bytes` are those of the file or of its reduced copy. */
export interface PreparedFile {
  original: string
  stored: string
  bytes: Blob
  reduction: ReducedPictureWithTransform | undefined
}

type Given = Pick<DepositEntry, 'file' | 'name' | 'size' | 'type' | 'category' | 'handle'>

/** Creates a deposit in the state `waiting`. `given` replaces default values. */
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
    stop: new AbortController(),
    unlock: () => {},
    shownAt: 0,
    isEarlier: false,
    ...given
  }
}

/** Recreates a deposit from before a reload. It is `missing` until it gets its file again. */
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

/** Returns the data with which the browser can continue a prepared deposit after a reload. */
export function toRememberedUpload(
  entry: DepositEntry,
  { original, stored, bytes }: PreparedFile
): Omit<RememberedUpload, 'person' | 'owner'> {
  const { id, reserved, name, size, type, category, key, again, handle } = entry
  const isChoosing = entry.$state.get().status === 'choosing'
  return {
    ...{ id, key, again, name, size, type, original, stored, category },
    bytes: bytes.size,
    ...(isChoosing ? { isChoosing } : {}),
    ...(reserved?.upload ? { address: reserved.upload, request_id: reserved.request.id } : {}),
    ...(handle ? { handle } : {})
  }
}

/** Discards what the server has admitted, so that the next try is a new deposit for it. */
export function resetForNewReservation(entry: DepositEntry): void {
  entry.key = crypto.randomUUID()
  entry.reserved = undefined
  entry.sent = 0
}
