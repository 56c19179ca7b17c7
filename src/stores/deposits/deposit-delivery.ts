import type * as z from 'zod/mini'
import type { createDeposit } from '../../contract/deposits.ts'
import { AppError } from '../../contract/errors.ts'
import { createPace } from '../../core/pace.ts'
import type { Reduction } from '../../workers/image-client.ts'
import type { AskOptions } from '../../workers/pool.ts'
import type { RememberedUpload } from '../remembered-uploads.ts'
import type { Retrying } from '../retrying.ts'
import type { DepositLimits } from './deposit-limits.ts'
import type { DepositList } from './deposit-list.ts'
import {
  type Act,
  mayReduce,
  mediaTypeOf,
  memoryOf,
  type Prepared,
  startAnew
} from './deposit-mutations.ts'
import type { DepositRecords } from './deposit-records.ts'
import type { Uploads } from './tus-client.ts'

/** What a delivery needs of the world. */
export interface DeliveryParts extends Pick<Uploads, 'send' | 'release'> {
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
  records: DepositRecords
  retrying: Retrying
}

/** The way of one file from the disk to the service. */
export interface DepositDelivery {
  /** Fingerprints and reduces the file; `false` where it is not the one that was expected. */
  prepare: (act: Act, signal: AbortSignal) => Promise<boolean>
  /** Reserves a place and sends the bytes; then the service owes the record. */
  deliver: (act: Act, signal: AbortSignal) => Promise<void>
  /** Gives the place back. */
  release: (act: Act) => void
}

export function createDepositDelivery(
  parts: DeliveryParts,
  { list, limits, records, retrying }: DeliveryNeeds
): DepositDelivery {
  async function prepare(act: Act, signal: AbortSignal): Promise<boolean> {
    const { file } = act
    if (!file) throw new Error('A deposit without its file cannot be prepared')
    list.change(act, { status: 'hashing', ratio: 0 })
    const onProgress = (done: number) => {
      if (!signal.aborted) list.progress(act, { status: 'hashing', ratio: done / file.size })
    }
    const original = await parts.hash(file, { onProgress, signal })
    signal.throwIfAborted()
    if (act.expected && act.expected.original !== original) return false
    list.change(act, { status: 'preparing' })
    const reduction = mayReduce(act) ? await parts.reduce(file, { signal }) : undefined
    const stored = reduction ? await parts.hash(reduction.blob, { signal }) : original
    signal.throwIfAborted()
    if (act.expected && act.expected.stored !== stored) {
      // another browser version reduces otherwise: the bytes that were sent do not fit these
      release(act)
      startAnew(act)
    }
    act.expected = undefined
    act.prepared = { original, stored, bytes: reduction?.blob ?? file, reduction }
    act.reduction = reduction?.transform
    return true
  }

  async function deliver(act: Act, signal: AbortSignal): Promise<void> {
    if (!act.prepared) throw new Error('A deposit must be prepared before it is delivered')
    const { prepared } = act
    if (!act.reserved) {
      const error = limits.against(act.category, prepared.bytes.size)
      if (error) {
        list.change(act, { status: 'paused', by: 'limit', ratio: 0, error })
        return
      }
      list.change(act, { status: 'reserving' })
      remember(act)
      const answer = await retrying.run(() => reserve(act, prepared), { signal })
      if ('duplicate' in answer) {
        signal.throwIfAborted()
        parts.forget(act.id)
        list.change(act, { status: 'duplicate', request: answer.duplicate })
        return
      }
      act.reserved = { request: answer.request, upload: answer.upload }
      records.follow(act)
      // a reservation on its way cannot be called back: whoever cancelled meanwhile gives it back
      if (act.$state.get().status === 'cancelled') release(act)
      signal.throwIfAborted()
      remember(act)
    }
    const { upload: address } = act.reserved
    if (address !== undefined) await upload(act, prepared.bytes, address, signal)
    signal.throwIfAborted()
    records.expect(act)
  }

  function remember(act: Act): void {
    const memory = memoryOf(act)
    if (memory) parts.remember(memory)
  }

  function reserve(act: Act, { original, stored, bytes, reduction }: Prepared) {
    const media_type = mediaTypeOf(bytes)
    const transform = reduction ? { transform: reduction.transform } : {}
    const again = act.again ? { again: true } : {}
    const { name, category } = act
    const same = { name, size: bytes.size, media_type, original, stored, category: category.id }
    return parts.reserve({ ...same, ...transform, ...again }, act.key)
  }

  async function upload(act: Act, bytes: Blob, url: string, signal: AbortSignal): Promise<void> {
    let reached = 0
    let ratio = 0
    list.change(act, { status: 'uploading', ratio, cut: false })
    const step = (advanced: () => void) => {
      const paceAt = createPace() // the time without a connection says nothing about its speed
      const onProgress = (sent: number) => {
        if (signal.aborted) return
        if (sent > reached) advanced()
        reached = Math.max(reached, sent)
        ratio = sent / bytes.size
        const pace = paceAt(parts.now(), sent, bytes.size)
        list.progress(act, { status: 'uploading', ratio, cut: false, ...pace })
      }
      return parts.send(url, bytes, { onProgress, signal })
    }
    const onPause = () => list.change(act, { status: 'uploading', ratio, cut: true })
    await retrying.run(step, { signal, onPause })
  }

  function release(act: Act): void {
    const url = act.reserved?.upload
    if (!url) return
    const signal = new AbortController().signal
    retrying
      .run(() => parts.release(url), { signal })
      .catch((error: unknown) => {
        // an upload that could not be released lapses by itself; one that was complete goes on
        if (!(error instanceof AppError) || error.code !== 'upload_state') return
        if (act.reserved?.upload === url) records.expect(act)
      })
  }

  return { prepare, deliver, release }
}
