import { FileName } from '../../contract/deposits.ts'
import { AppError, type ErrorCode } from '../../contract/kit/errors.ts'
import { fieldErrors } from '../../contract/kit/field-errors.ts'
import { maxFileBytes } from '../../contract/kit/limits.ts'
import { mediaTypeOfFile } from '../../core/files/file-type.ts'
import { acceptsMediaType } from '../../core/media-types.ts'
import { startAnew } from './deposit-delivery.ts'
import type { Desk } from './deposit-desk.ts'
import type { DepositEntry } from './deposit-entry.ts'

export function findRefusal({ size, name, type, category }: DepositEntry): AppError | undefined {
  if (size === 0) return new AppError('file_empty', 'The file has no bytes')
  if (size > maxFileBytes) return new AppError('too_large', 'The file is over 5 GB')
  const { media_types } = category
  if (!acceptsMediaType(media_types, mediaTypeOfFile(name, type))) {
    return new AppError('type_not_allowed', `The category takes ${media_types?.join(', ')} only`)
  }
  const checked = FileName.safeParse(name)
  if (checked.success) return undefined
  const { '(body)': rule } = fieldErrors(checked.error)
  return new AppError('invalid_input', 'The name cannot be stored', {
    fields: { name: rule ?? { rule: 'format' } }
  })
}

/** Returns false if the file differs from the one that was sent before a reload. */
export async function prepareFile(
  desk: Desk,
  entry: DepositEntry,
  signal: AbortSignal
): Promise<boolean> {
  const { hash, list, reduce } = desk
  const { file, sent, expected } = entry
  if (!file) throw new Error('A deposit without its file cannot be prepared')
  list.change(entry, { status: 'hashing', ratio: 0, sent })
  const onProgress = (done: number) => {
    if (signal.aborted) return
    list.showProgress(entry, { status: 'hashing', ratio: done / file.size, sent })
  }
  const original = await hash(file, { onProgress, signal })
  signal.throwIfAborted()
  if (expected && expected.original !== original) return false
  list.change(entry, { status: 'preparing' })
  const reduction = mayReduce(entry) ? await reduce(file, { signal }) : undefined
  const stored = reduction ? await hash(reduction.blob, { signal }) : original
  signal.throwIfAborted()
  // another version of the browser makes other bytes of the same picture
  if (expected && expected.stored !== stored) startAnew(desk, entry)
  entry.expected = undefined
  entry.prepared = { original, stored, bytes: reduction?.blob ?? file, reduction }
  entry.reduction = reduction?.transform
  return true
}

export function mustChoose({ category, choice, prepared }: DepositEntry): boolean {
  return category.keep_originals === 'person' && !choice && prepared?.reduction !== undefined
}

export function keepOriginal(entry: DepositEntry): void {
  const { file, prepared } = entry
  entry.choice = 'original'
  entry.reduction = undefined
  if (!file || !prepared?.reduction) return
  const { original } = prepared
  entry.prepared = { original, stored: original, bytes: file, reduction: undefined }
}

export function needsPreparation({ code }: AppError): boolean {
  return stalePreparation.has(code)
}

function mayReduce({ category, choice }: DepositEntry): boolean {
  return category.keep_originals !== 'yes' && category.store === 'file' && choice !== 'original'
}

const stalePreparation: ReadonlySet<ErrorCode> = new Set([
  'transfer_corrupt',
  'transform_not_allowed',
  'fingerprint_invalid',
  'file_unreadable'
])
