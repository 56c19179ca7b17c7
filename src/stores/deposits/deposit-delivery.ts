import type * as z from 'zod/mini'
import type { createDeposit } from '../../contract/deposits.ts'
import { AppError } from '../../contract/kit/errors.ts'
import { mediaTypeOfFile } from '../../core/files/file-type.ts'
import { createSpeedMeter } from '../../core/files/transfer-speed.ts'
import type { Desk } from './deposit-desk.ts'
import {
  type DepositEntry,
  type PreparedFile,
  resetForNewReservation,
  toRememberedUpload
} from './deposit-entry.ts'
import { findLimit } from './deposit-pauses.ts'
import { expectRecord } from './deposit-records.ts'

type Input = z.input<typeof createDeposit.input>
type Answer = z.output<typeof createDeposit.output>

export async function deliver(
  desk: Desk,
  entry: DepositEntry,
  prepared: PreparedFile,
  signal: AbortSignal
): Promise<void> {
  if (!entry.reserved) {
    const answer = await admit(desk, entry, prepared, signal)
    // a running call cannot be undone, so what it has brought is taken back
    if (entry.$state.get().status === 'cancelled') takeBack(desk, entry)
    signal.throwIfAborted()
    if ('duplicate' in answer) {
      desk.forget(entry.id)
      return desk.list.change(entry, { status: 'duplicate', request: answer.duplicate })
    }
    if (answer.upload) remember(desk, entry)
  }
  const url = entry.reserved?.upload
  if (url !== undefined) await upload(desk, entry, prepared.bytes, url, signal)
  signal.throwIfAborted()
  expectRecord(desk, entry)
}

// an admitted deposit continues its own upload
export function isBatched(desk: Desk, entry: DepositEntry, { bytes }: PreparedFile): boolean {
  return !entry.reserved && entry.category.store === 'file' && bytes.size <= desk.maxBatchedBytes
}

// every try has the same key, so that nothing is admitted twice
async function admit(
  desk: Desk,
  entry: DepositEntry,
  prepared: PreparedFile,
  signal: AbortSignal
): Promise<Answer> {
  const limit = findLimit(desk, entry, prepared.bytes.size)
  if (limit) throw limit
  const input = inputOf(entry, prepared)
  const inBatch = isBatched(desk, entry, prepared)
  if (!inBatch) desk.list.change(entry, { status: 'reserving' })
  remember(desk, entry)
  const ask = inBatch
    ? () => sendInBatch(desk, entry, input, prepared.bytes, signal)
    : () => desk.reserve(input, entry.key)
  return accept(entry, await desk.retries.run(ask, { signal }))
}

function accept(entry: DepositEntry, answer: Answer): Answer {
  if ('request' in answer) entry.reserved = { request: answer.request, upload: answer.upload }
  return answer
}

async function sendInBatch(
  { batches, list }: Desk,
  entry: DepositEntry,
  input: Input,
  bytes: Blob,
  signal: AbortSignal
): Promise<Answer> {
  // a call that breaks off leaves no bytes on the server
  const showStart = (cut: boolean) => list.change(entry, { status: 'uploading', ratio: 0, cut })
  try {
    return await batches.send({ ...input, key: entry.key }, bytes, {
      signal,
      onStart: () => showStart(false),
      onProgress(sent) {
        list.showProgress(entry, { status: 'uploading', ratio: sent / bytes.size, cut: false })
      },
      onSent: () => list.change(entry, { status: 'recording' }),
      onResult: result => accept(entry, result)
    })
  } catch (error) {
    if (!signal.aborted) showStart(true) // unlike `recording`, a state that can be paused
    throw error
  }
}

async function upload(
  { list, now, retries, send }: Desk,
  entry: DepositEntry,
  bytes: Blob,
  url: string,
  signal: AbortSignal
): Promise<void> {
  let most = 0
  const showStart = (cut: boolean) =>
    list.change(entry, { status: 'uploading', ratio: entry.sent, cut })
  showStart(false)
  const attempt = (onNewBytes: () => void) => {
    // a new meter, so that time without a connection does not count
    const paceAt = createSpeedMeter()
    const onProgress = (sent: number) => {
      if (signal.aborted) return
      if (sent > most) onNewBytes()
      most = Math.max(most, sent)
      entry.sent = sent / bytes.size
      const pace = paceAt(now(), sent, bytes.size)
      list.showProgress(entry, { status: 'uploading', ratio: entry.sent, cut: false, ...pace })
    }
    return send(url, bytes, { onProgress, signal })
  }
  await retries.run(attempt, { signal, onPause: () => showStart(true) })
}

export function remember(desk: Desk, entry: DepositEntry): void {
  if (entry.prepared) desk.remember(toRememberedUpload(entry, entry.prepared))
}

/** If the server has all bytes, expects the record after all. */
export function takeBack(desk: Desk, entry: DepositEntry): void {
  cancelOnServer(desk, entry).catch(() => {
    // the server ends an incomplete upload after a while, and has no record of what it has refused
  })
}

/** The next try is a new one for the server. */
export function startAnew(desk: Desk, entry: DepositEntry): void {
  takeBack(desk, entry)
  resetForNewReservation(entry)
}

async function cancelOnServer(desk: Desk, entry: DepositEntry): Promise<void> {
  const { retries } = desk
  const { prepared, key } = entry
  const state = entry.$state.get()
  const isOnItsWay = state.status === 'uploading' && !state.cut
  if (isOnItsWay && !entry.reserved && prepared) {
    // the answer to the same key tells whether the batch has arrived
    accept(entry, await retries.run(() => desk.reserve(inputOf(entry, prepared), key)))
  }
  const { reserved } = entry
  const url = reserved?.upload
  try {
    if (url !== undefined) return await retries.run(() => desk.cancelUpload(url))
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'upload_state') throw error
  }
  if (reserved && entry.reserved === reserved) expectRecord(desk, entry)
}

function inputOf(
  { name, type: told, category, again }: DepositEntry,
  { original, stored, bytes, reduction }: PreparedFile
): Input {
  const type = mediaTypeOfFile(name, told)
  const transform = reduction && {
    ...reduction.transform,
    from: { ...reduction.transform.from, type }
  }
  return {
    ...{ name, original, stored, size: bytes.size },
    media_type: transform?.to.type ?? type,
    category: category.id,
    ...(transform ? { transform } : {}),
    ...(again ? { again } : {})
  }
}
