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

/** With the results of the completed steps, after which a retry continues. */
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
  // the idempotency key of all tries
  key: string
  // the person wants it although they have deposited the file before
  again: boolean
  // fingerprints from before a reload
  expected: Pick<RememberedUpload, 'original' | 'stored'> | undefined
  prepared: PreparedFile | undefined
  // `upload` is where the server expects the bytes, if it does
  reserved: { request: ProcessedRequest; upload: string | undefined } | undefined
  // fraction of the file's bytes that the server has, from 0 to 1
  sent: number
  stop: AbortController
  unlock: () => void
  shownAt: number
  isEarlier: boolean
}

// `bytes` are those of the file or of its reduced copy
export interface PreparedFile {
  original: string
  stored: string
  bytes: Blob
  reduction: ReducedPictureWithTransform | undefined
}

type Given = Pick<DepositEntry, 'file' | 'name' | 'size' | 'type' | 'category' | 'handle'>

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

// `missing` until it gets its file again
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

export function resetForNewReservation(entry: DepositEntry): void {
  entry.key = crypto.randomUUID()
  entry.reserved = undefined
  entry.sent = 0
}
