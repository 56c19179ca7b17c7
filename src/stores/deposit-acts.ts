import { atom, type ReadableAtom, type WritableAtom } from 'nanostores'
import { FileName, MediaType, maxFileBytes } from '../contract/deposits.ts'
import { AppError, type ErrorCode, errorCodes, fieldErrors } from '../contract/errors.ts'
import type { ProcessedRequest } from '../contract/requests.ts'
import type { Reduction } from '../workers/image-client.ts'
import type { DepositState } from './deposit-states.ts'

export interface QueuedDeposit {
  id: string
  file: File
  name: string
  $state: ReadableAtom<DepositState>
}

/** A deposit on its way, with what has been reached so far: a retry goes on from there. */
export interface Act extends QueuedDeposit {
  $state: WritableAtom<DepositState>
  category: string
  /** One per act of the person, kept over retries. */
  key: string
  prepared?: Prepared | undefined
  reserved?: { request: ProcessedRequest; upload: string } | undefined
  stop: AbortController
  toldAt: number
}

export interface Prepared {
  original: string
  stored: string
  bytes: Blob
  reduction: Reduction | undefined
}

export function createAct(file: File, category: string): Act {
  return {
    id: crypto.randomUUID(),
    file,
    name: file.name.normalize('NFC'),
    $state: atom<DepositState>({ status: 'waiting' }),
    category,
    key: crypto.randomUUID(),
    stop: new AbortController(),
    toldAt: 0
  }
}

/** What the server would refuse is refused before a byte is read. */
export function refusalOf({ file, name }: Act): AppError | undefined {
  if (file.size === 0) return new AppError('file_empty', 'The file has no bytes')
  if (file.size > maxFileBytes) return new AppError('too_large', 'The file is over 5 GB')
  const checked = FileName.safeParse(name)
  if (checked.success) return undefined
  const { '(body)': rule } = fieldErrors(checked.error)
  return new AppError('invalid_input', 'The name cannot be stored', {
    fields: { name: rule ?? { rule: 'format' } }
  })
}

/** `Text/HTML; charset=utf-8` → `text/html` */
export function mediaTypeOf(file: Blob): string {
  const type = (file.type.split(';')[0] ?? '').trim().toLowerCase()
  return MediaType.safeParse(type).success ? type : 'application/octet-stream'
}

export function appErrorOf(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown
  return new AppError('internal', 'A deposit failed in the browser', { cause: thrown })
}

export function codeOf({ code }: ProcessedRequest): ErrorCode {
  return code !== undefined && code in errorCodes ? (code as ErrorCode) : 'internal' // as: just checked
}

export function isLasting(error: AppError): boolean {
  return lasting.has(error.code)
}

export function isOutdating(error: AppError): boolean {
  return outdating.has(error.code)
}

/** Another try cannot help: the file itself, or the right to deposit it, would have to change. */
const lasting: ReadonlySet<ErrorCode> = new Set([
  'file_empty',
  'too_large',
  'invalid_input',
  'category_unknown',
  'type_not_allowed',
  'forbidden',
  'account_disabled'
])

/** The file is not what was fingerprinted. */
const outdating: ReadonlySet<ErrorCode> = new Set([
  'transfer_corrupt',
  'fingerprint_invalid',
  'file_unreadable'
])
