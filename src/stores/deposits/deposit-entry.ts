import { atom, type ReadableAtom, type WritableAtom } from 'nanostores'
import type { Category } from '../../contract/categories.ts'
import { FileName, MediaType, type Transform } from '../../contract/deposits.ts'
import { AppError, type ErrorCode, errorCodes } from '../../contract/errors.ts'
import { fieldErrors } from '../../contract/field-errors.ts'
import { maxFileBytes } from '../../contract/limits.ts'
import type { ProcessedRequest } from '../../contract/requests.ts'
import type { Reduction } from '../../workers/image-client.ts'
import type { RememberedUpload } from '../remembered-uploads.ts'
import type { DepositState } from './deposit-states.ts'

/** The category of a deposit, with the rules that hold for its files. */
export type DepositCategory = Pick<Category, 'id' | 'keep_originals' | 'store' | 'media_types'>

export type PictureChoice = 'reduced' | 'original'

export interface QueuedDeposit {
  id: string
  name: string
  /** Bytes of the file as chosen. */
  size: number
  /** The picture and the reduced copy that will be kept in its place. */
  reduction: Pick<Transform, 'from' | 'to'> | undefined
  /** The browser gave a lasting way to the file: it can be opened again without being chosen. */
  canReopen: boolean
  $state: ReadableAtom<DepositState>
}

/** A deposit on its way, with what has been reached so far: a retry goes on from there. */
export interface DepositEntry extends QueuedDeposit {
  $state: WritableAtom<DepositState>
  /** Nothing after a reload, until it is chosen again. */
  file: File | undefined
  type: string
  category: DepositCategory
  /** What is kept of a picture, once that is decided. */
  choice: PictureChoice | undefined
  /** One per action of the person, kept over retries. */
  key: string
  /** The person knows that they have deposited the file before. */
  again: boolean
  /** What a file that is chosen again must be. */
  expected?: Pick<RememberedUpload, 'original' | 'stored'> | undefined
  /** Share of the bytes that the server held before the reload. */
  held: number
  /** Chosen for this very row, not for the queue. */
  isAssigned: boolean
  handle: FileSystemFileHandle | undefined
  prepared?: Prepared | undefined
  reserved?: { request: ProcessedRequest; upload: string | undefined } | undefined
  stop: AbortController
  toldAt: number
}

export interface Prepared {
  original: string
  stored: string
  bytes: Blob
  reduction: Reduction | undefined
}

export function createEntry(
  file: File,
  category: DepositCategory,
  given: { name: string; handle: FileSystemFileHandle | undefined }
): DepositEntry {
  const { size, type } = file
  const { name, handle } = given
  return {
    id: crypto.randomUUID(),
    file,
    name,
    size,
    type,
    reduction: undefined,
    canReopen: false,
    $state: atom<DepositState>({ status: 'waiting' }),
    category,
    choice: undefined,
    key: crypto.randomUUID(),
    again: false,
    held: 0,
    isAssigned: false,
    handle,
    stop: new AbortController(),
    toldAt: 0
  }
}

/** An entry as it was before the page was loaded anew. */
export function restoreEntry(remembered: RememberedUpload): DepositEntry {
  const { id, name, size, type, category, key, again, original, stored, handle } = remembered
  return {
    id,
    file: undefined,
    name,
    size,
    type,
    reduction: undefined,
    canReopen: handle !== undefined,
    $state: atom<DepositState>({ status: 'missing', ratio: 0, wrong: false }),
    category: { ...category, keep_originals: 'person' },
    choice: original === stored ? 'original' : 'reduced',
    key,
    again,
    expected: { original, stored },
    held: 0,
    isAssigned: false,
    handle,
    stop: new AbortController(),
    toldAt: 0
  }
}

/** Another try is another action of the person, with a place of its own. */
export function resetAttempt(entry: DepositEntry): void {
  entry.key = crypto.randomUUID()
  entry.reserved = undefined
}

/** What is remembered of an entry; nothing before its fingerprints are known. */
export function toRememberedUpload(
  entry: DepositEntry
): Omit<RememberedUpload, 'person' | 'owner'> | undefined {
  const { id, prepared, reserved, name, size, type, category, key, again, handle } = entry
  if (!prepared) return undefined
  const { original, stored, bytes } = prepared
  return {
    id,
    ...(reserved?.upload ? { address: reserved.upload, request_id: reserved.request.id } : {}),
    key,
    again,
    name,
    size,
    type,
    original,
    stored,
    bytes: bytes.size,
    category,
    ...(handle ? { handle } : {})
  }
}

export function mayReduce({ category, choice }: DepositEntry): boolean {
  return category.keep_originals !== 'yes' && category.store === 'file' && choice !== 'original'
}

/** Whether the person decides what is kept, and has not done so. */
export function isUndecided({ category, choice, prepared }: DepositEntry): boolean {
  return category.keep_originals === 'person' && !choice && prepared?.reduction !== undefined
}

/** Prepares the picture to be kept as it is, in place of its reduced copy. */
export function keepAsItIs(entry: DepositEntry): void {
  const { file, prepared } = entry
  entry.choice = 'original'
  entry.reduction = undefined
  if (!file || !prepared?.reduction) return
  const { original } = prepared
  entry.prepared = { original, stored: original, bytes: file, reduction: undefined }
}

/** What the server would refuse is refused before a byte is read. */
export function findRefusal({ size, name, type, category }: DepositEntry): AppError | undefined {
  if (size === 0) return new AppError('file_empty', 'The file has no bytes')
  if (size > maxFileBytes) return new AppError('too_large', 'The file is over 5 GB')
  const { media_types } = category
  if (media_types && !media_types.includes(mediaTypeOf({ type }))) {
    return new AppError('type_not_allowed', `The category takes ${media_types.join(', ')} only`)
  }
  const checked = FileName.safeParse(name)
  if (checked.success) return undefined
  const { '(body)': rule } = fieldErrors(checked.error)
  return new AppError('invalid_input', 'The name cannot be stored', {
    fields: { name: rule ?? { rule: 'format' } }
  })
}

/** `Text/HTML; charset=utf-8` → `text/html` */
export function mediaTypeOf(file: Pick<Blob, 'type'>): string {
  const type = (file.type.split(';')[0] ?? '').trim().toLowerCase()
  return MediaType.safeParse(type).success ? type : 'application/octet-stream'
}

export function errorCodeOf({ code }: ProcessedRequest): ErrorCode {
  return code !== undefined && code in errorCodes ? (code as ErrorCode) : 'internal' // as: just checked
}

export function isPermanent(error: AppError): boolean {
  return lasting.has(error.code)
}

/** The person's quota is used up; another try makes sense once there is room. */
export function isLimit({ code }: AppError): boolean {
  return limits.has(code)
}

export function isPreparationStale(error: AppError): boolean {
  return outdating.has(error.code)
}

const limits: ReadonlySet<ErrorCode> = new Set([
  'request_limit_reached',
  'storage_limit_reached',
  'upload_limit_reached'
])

/** Another try cannot help: the file itself, or the right to deposit it, would have to change. */
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

/** What was prepared is not what may be sent. */
const outdating: ReadonlySet<ErrorCode> = new Set([
  'transfer_corrupt',
  'transform_not_allowed',
  'fingerprint_invalid',
  'file_unreadable'
])
