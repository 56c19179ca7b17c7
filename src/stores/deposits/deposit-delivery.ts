import type * as z from 'zod/mini'
import type { createDeposit } from '../../contract/deposits.ts'
import { AppError } from '../../contract/errors.ts'
import { createPace } from '../../core/files/transfer-speed.ts'
import type { Reduction } from '../../workers/image-client.ts'
import type { AskOptions } from '../../workers/pool.ts'
import type { RememberedUpload } from '../remembered-uploads.ts'
import type { Retrying } from '../retrying.ts'
import {
  type DepositEntry,
  mayReduce,
  mediaTypeOf,
  type Prepared,
  resetAttempt,
  toRememberedUpload
} from './deposit-entry.ts'
import type { DepositLimits } from './deposit-limits.ts'
import type { DepositList } from './deposit-list.ts'
import type { PendingRecords } from './pending-records.ts'
import type { TusClient } from './tus-client.ts'

/** What a delivery needs of the world. */
export interface DeliveryParts extends Pick<TusClient, 'send' | 'release'> {
  hash: (file: Blob, options: AskOptions) => Promise<string>
  reduce: (file: Blob, options: AskOptions) => Promise<Reduction | undefined>
  reserve: (
    input: z.input<typeof createDeposit.input>,
    idempotencyKey: string
  ) => Promise<z.output<typeof createDeposit.output>>
  /** What survives a reload of the page. */
  remember: (upload: Omit<RememberedUpload, 'person' | 'owner'>) => void
  forget: (id: string) => void
  now: () => number
}

interface DeliveryNeeds {
  list: DepositList
  limits: DepositLimits
  records: PendingRecords
  retrying: Retrying
}

/** The way of one file from the disk to the service. */
export interface DepositDelivery {
  /** Fingerprints and reduces the file; `false` where it is not the one that was expected. */
  prepare: (entry: DepositEntry, signal: AbortSignal) => Promise<boolean>
  /** Reserves a place and sends the bytes; then the service owes the record. */
  deliver: (entry: DepositEntry, signal: AbortSignal) => Promise<void>
  /** Gives the place back. */
  release: (entry: DepositEntry) => void
}

export function createDepositDelivery(
  parts: DeliveryParts,
  { list, limits, records, retrying }: DeliveryNeeds
): DepositDelivery {
  async function prepare(entry: DepositEntry, signal: AbortSignal): Promise<boolean> {
    const { file } = entry
    if (!file) throw new Error('A deposit without its file cannot be prepared')
    list.change(entry, { status: 'hashing', ratio: 0 })
    const onProgress = (done: number) => {
      if (!signal.aborted) list.progress(entry, { status: 'hashing', ratio: done / file.size })
    }
    const original = await parts.hash(file, { onProgress, signal })
    signal.throwIfAborted()
    if (entry.expected && entry.expected.original !== original) return false
    list.change(entry, { status: 'preparing' })
    const reduction = mayReduce(entry) ? await parts.reduce(file, { signal }) : undefined
    const stored = reduction ? await parts.hash(reduction.blob, { signal }) : original
    signal.throwIfAborted()
    if (entry.expected && entry.expected.stored !== stored) {
      // another browser version reduces otherwise: the bytes that were sent do not fit these
      release(entry)
      resetAttempt(entry)
    }
    entry.expected = undefined
    entry.prepared = { original, stored, bytes: reduction?.blob ?? file, reduction }
    entry.reduction = reduction?.transform
    return true
  }

  async function deliver(entry: DepositEntry, signal: AbortSignal): Promise<void> {
    if (!entry.prepared) throw new Error('A deposit must be prepared before it is delivered')
    const { prepared } = entry
    if (!entry.reserved) {
      const error = limits.against(entry.category, prepared.bytes.size)
      if (error) {
        list.change(entry, { status: 'paused', by: 'limit', ratio: 0, error })
        return
      }
      list.change(entry, { status: 'reserving' })
      remember(entry)
      const answer = await retrying.run(() => reserve(entry, prepared), { signal })
      if ('duplicate' in answer) {
        signal.throwIfAborted()
        parts.forget(entry.id)
        list.change(entry, { status: 'duplicate', request: answer.duplicate })
        return
      }
      entry.reserved = { request: answer.request, upload: answer.upload }
      records.follow(entry)
      // a reservation on its way cannot be called back: whoever cancelled meanwhile gives it back
      if (entry.$state.get().status === 'cancelled') release(entry)
      signal.throwIfAborted()
      remember(entry)
    }
    const { upload: address } = entry.reserved
    if (address !== undefined) await upload(entry, prepared.bytes, address, signal)
    signal.throwIfAborted()
    records.expect(entry)
  }

  function remember(entry: DepositEntry): void {
    const memory = toRememberedUpload(entry)
    if (memory) parts.remember(memory)
  }

  function reserve(entry: DepositEntry, { original, stored, bytes, reduction }: Prepared) {
    const media_type = mediaTypeOf(bytes)
    const transform = reduction ? { transform: reduction.transform } : {}
    const again = entry.again ? { again: true } : {}
    const { name, category } = entry
    const same = { name, size: bytes.size, media_type, original, stored, category: category.id }
    return parts.reserve({ ...same, ...transform, ...again }, entry.key)
  }

  async function upload(
    entry: DepositEntry,
    bytes: Blob,
    url: string,
    signal: AbortSignal
  ): Promise<void> {
    let reached = 0
    let ratio = 0
    list.change(entry, { status: 'uploading', ratio, cut: false })
    const step = (advanced: () => void) => {
      const paceAt = createPace() // the time without a connection says nothing about its speed
      const onProgress = (sent: number) => {
        if (signal.aborted) return
        if (sent > reached) advanced()
        reached = Math.max(reached, sent)
        ratio = sent / bytes.size
        const pace = paceAt(parts.now(), sent, bytes.size)
        list.progress(entry, { status: 'uploading', ratio, cut: false, ...pace })
      }
      return parts.send(url, bytes, { onProgress, signal })
    }
    const onPause = () => list.change(entry, { status: 'uploading', ratio, cut: true })
    await retrying.run(step, { signal, onPause })
  }

  function release(entry: DepositEntry): void {
    const url = entry.reserved?.upload
    if (!url) return
    const signal = new AbortController().signal
    retrying
      .run(() => parts.release(url), { signal })
      .catch((error: unknown) => {
        // an upload that could not be released lapses by itself; one that was complete goes on
        if (!(error instanceof AppError) || error.code !== 'upload_state') return
        if (entry.reserved?.upload === url) records.expect(entry)
      })
  }

  return { prepare, deliver, release }
}
