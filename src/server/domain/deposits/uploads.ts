import { sql } from 'kysely'
import { AppError, type ErrorCode } from '../../../contract/errors.ts'
import type { RequestState } from '../../../contract/requests.ts'
import { inSameCompany } from '../../db/joins.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import { release, reserveAgain, settle as settleUsage } from '../companies/usage.ts'
import type { CompanyId, Deps, Digest } from '../deps.ts'
import { tagOf } from '../evidence/company-keys.ts'
import { type Draft, publish } from '../history/requests.ts'
import { readNames, writeRecord } from './deposit-records.ts'
import { openDigest } from './upload-digests.ts'

/** Short and renewed while the work goes on, so that a crash holds nothing up for long. */
const leaseMs = 10_000
const lapseHours = 24
/** After so long without a byte, what has not come is no longer reserved. */
const idleMinutes = 10
const releasedAtOnce = 500
/** An upload of one call cannot be continued, so its server's death ends it. */
const lapseDirectMinutes = 10

/** Pauses after failed attempts to make a deposit. After one more it is held until an operator lets it go on. */
const retrySeconds = [5, 20, 60, 300, 900, 1800, 3600]
const maxFailureLength = 300

/** An upload with the request it belongs to. */
export interface Upload {
  company_id: CompanyId
  id: string
  request_id: string
  user_id: string
  category_id: string
  record_id: string
  size: number
  media_type: string
  name: string
  /** Declared digests, sealed; without them until the last byte of `PUT /deposit`. */
  original: Buffer | null
  stored: Buffer | null
  transform: Record<string, unknown> | null
  state: 'uploading' | 'received' | 'held' | 'settled'
  /** Bytes of the reservation that went back, because none came for a while. */
  released: number
  /** How often the deposit was begun. */
  attempts: number
  group_id: string
  period_start: Date
  active_at: Date
  /** Counts the processes that have taken over the writing; names the file that holds the bytes. */
  generation: number
  /** The process that writes the bytes, and until when it may without renewing that. */
  writer: string | null
  writer_until: Date | null
  request_state: RequestState
  request_created: Date
  request_facts: Draft['facts']
}

/** The caller's own upload; another person's answers like a missing one. */
export async function getUpload(
  deps: Pick<Deps, 'db'>,
  input: { company_id: CompanyId; user_id: string; id: string }
): Promise<Upload> {
  const upload = await inCompany(deps.db, input.company_id, tx =>
    findUpload(tx, input.company_id, input.id)
  )
  if (upload?.user_id !== input.user_id) throw new AppError('not_found', 'No such upload')
  return upload
}

/** Notes that bytes came, so that the upload does not lapse. */
export async function touchUpload(deps: Pick<Deps, 'db' | 'clock'>, upload: Upload): Promise<void> {
  await inCompany(deps.db, upload.company_id, tx =>
    tx
      .updateTable('upload')
      .set({ active_at: deps.clock() })
      .where('company_id', '=', upload.company_id)
      .where('id', '=', upload.id)
      .where('state', '=', 'uploading')
      .execute()
  )
}

/** Throws `cancelled` or `lapsed` for an upload that ended so. */
export function requireOpen({ request_state: state }: Upload): void {
  if (state === 'lapsed' || state === 'cancelled') {
    throw new AppError(state, `The upload has been ${state}`)
  }
}

/**
 * Returns the error of a call that another one keeps from writing. It succeeds later, from the offset
 * that the server then has.
 */
export function uploadBusy(): AppError {
  return new AppError('upload_busy', 'Another call writes this upload', { retryAfter: 1 })
}

/** Throws `upload_state` for an upload whose bytes have all come. */
export function requireUploading({ state }: Upload): void {
  if (state !== 'uploading') throw new AppError('upload_state', 'The upload is complete')
}

/**
 * Takes over a complete upload: the bytes are made durable, then the request is queued. When this
 * returns, the service owes the deposit. Does nothing the second time. A flush that fails ends the
 * request for good: the system may have dropped the bytes, and a second flush would not tell.
 */
export async function receiveUpload(deps: Deps, upload: Upload): Promise<void> {
  const failure = await deps.blobs.syncStaged(upload).then(
    () => undefined,
    (error: unknown) => ({ error, isFlush: Object(error).syscall === 'fsync' })
  )
  // first, so that no later flush of the same bytes can succeed whatever becomes of the transaction
  if (failure?.isFlush) await deps.blobs.discardStaged(upload)
  await inCompany(deps.db, upload.company_id, async tx => {
    const current = await lockUpload(tx, upload)
    if (!current) throw new AppError('not_found', 'No such upload')
    requireOpen(current)
    // another process has taken over: these are not the bytes of the upload any more
    if (current.generation !== upload.generation) {
      throw uploadBusy()
    }
    if (current.state !== 'uploading') return
    if (failure?.isFlush) return end(tx, deps, current, 'failed', 'not_stored')
    if (failure) throw failure.error
    // before a PATCH began, or while it was no longer heard of
    await reserveReleased(tx, current)
    await setState(tx, upload, 'received')
    await publish(tx, deps, upload.company_id, requestDraft(current, 'queued'))
    tx.afterCommit(() => deps.signals.uploads.send(upload.company_id))
  })
  if (failure?.isFlush) throw failure.error
}

/** Ends an upload at its person's wish and gives the reservation back. */
export async function cancelUpload(deps: Deps, upload: Upload): Promise<void> {
  if (await endUpload(deps, upload, 'cancelled', async () => {})) return
  throw new AppError('upload_state', 'The upload is complete and can no longer be cancelled')
}

/**
 * Ends an upload whose bytes have not all come, by its person's doing (`cancelled`) or by ours
 * (`failed`), does `also` in the same transaction, and answers whether there was one to end.
 */
export async function endUpload(
  deps: Deps,
  upload: Upload,
  state: 'cancelled' | 'failed',
  also: (tx: Tx) => Promise<void>
): Promise<boolean> {
  const ended = await inCompany(deps.db, upload.company_id, async tx => {
    const current = await lockUpload(tx, upload)
    if (current?.state !== 'uploading') return undefined
    await end(tx, deps, current, state, state === 'failed' ? 'not_stored' : state)
    await also(tx)
    return current
  })
  if (!ended) return false
  await deps.blobs.discardStaged(ended)
  return true
}

/**
 * Reserves the bytes again that an upload has given back. Throws `storage_limit_reached` when others have
 * taken the room; what has arrived stays, and the upload can go on later.
 */
export async function reserveReleasedBytes(deps: Pick<Deps, 'db'>, upload: Upload): Promise<void> {
  await inCompany(deps.db, upload.company_id, async tx => {
    const current = await lockUpload(tx, upload)
    if (current?.state === 'uploading') await reserveReleased(tx, current)
  })
}

async function reserveReleased(tx: Tx, { company_id, id, group_id, released }: Upload) {
  if (released === 0) return
  await reserveAgain(tx, { company_id, group_id, bytes: released })
  await setReleased(tx, { company_id, id }, 0)
}

async function setReleased(
  tx: Tx,
  { company_id, id }: Pick<Upload, 'company_id' | 'id'>,
  released: number
): Promise<void> {
  await tx
    .updateTable('upload')
    .set({ released })
    .where('company_id', '=', company_id)
    .where('id', '=', id)
    .execute()
}

/**
 * Gives back what uploads without progress have reserved for bytes that have not come. Those that came
 * stay reserved until the upload lapses.
 */
export async function releaseIdleUploads(deps: Deps, company_id: CompanyId): Promise<void> {
  const now = deps.clock()
  const before = new Date(now.getTime() - idleMinutes * 60_000)
  const isIdle = (tx: Tx) =>
    tx
      .selectFrom('upload')
      .select('id')
      .where('company_id', '=', company_id)
      .where('state', '=', 'uploading')
      .where('released', '=', 0)
      // the file of `PUT /deposit` cannot be continued, so it lapses as a whole
      .where('stored', 'is not', null)
      .where('active_at', '<', before)
      .where(either => either.or([either('writer', 'is', null), either('writer_until', '<', now)]))
  let last = ''
  for (;;) {
    const page = await inCompany(deps.db, company_id, tx =>
      isIdle(tx).where('id', '>', last).orderBy('id').limit(releasedAtOnce).execute()
    )
    for (const { id } of page) {
      await inCompany(deps.db, company_id, async tx => {
        const locked = await isIdle(tx).where('id', '=', id).forUpdate().executeTakeFirst()
        const upload = locked && (await findUpload(tx, company_id, id))
        if (!upload) return
        const arrived = (await deps.blobs.sizeStaged(upload)) ?? 0
        const bytes = upload.size - arrived
        if (bytes <= 0) return
        await release(tx, company_id, { ...reservationOf(upload), requests: 0, bytes })
        await setReleased(tx, upload, bytes)
      })
    }
    const end = page.at(-1)
    if (!end || page.length < releasedAtOnce) return
    last = end.id
  }
}

/** Ends the upload of a company that nobody has continued longest, a day or more; answers whether there was one. */
export async function lapseNextUpload(deps: Deps, company_id: CompanyId): Promise<boolean> {
  const now = deps.clock().getTime()
  const before = new Date(now - lapseHours * 3_600_000)
  const directBefore = new Date(now - lapseDirectMinutes * 60_000)
  const lapsed = await inCompany(deps.db, company_id, async tx => {
    const row = await tx
      .selectFrom('upload')
      .select('id')
      .where('company_id', '=', company_id)
      .where('state', '=', 'uploading')
      .where(either =>
        either.or([
          either('active_at', '<', before),
          either.and([either('stored', 'is', null), either('active_at', '<', directBefore)])
        ])
      )
      .orderBy('active_at')
      .limit(1)
      .forUpdate()
      .skipLocked()
      .executeTakeFirst()
    const upload = row && (await findUpload(tx, company_id, row.id))
    if (upload) await end(tx, deps, upload, 'lapsed', 'lapsed')
    return upload
  })
  if (!lapsed) return false
  await deps.blobs.discardStaged(lapsed)
  return true
}

/**
 * Makes the deposit of the company's oldest received upload that is due, and returns whether there was
 * one. An upload whose deposit fails waits for its next attempt, so that it stops none of the others.
 */
export async function settleNextUpload(deps: Deps, company_id: CompanyId): Promise<boolean> {
  const upload = await lease(deps, company_id)
  if (!upload) return false
  try {
    // the process may have died in each attempt, and would again
    if (upload.attempts > retrySeconds.length + 1) throw new Error('no attempt came to an end')
    using _lease = keepLease(deps, upload)
    await settleUpload(deps, upload)
  } catch (error) {
    await postpone(deps, upload, error)
  }
  return true
}

/**
 * Makes the deposit of a received upload that the caller holds, or ends it if its bytes are others. Throws
 * when there are no bytes: they were acknowledged, and may only be out of reach.
 */
export async function settleUpload(deps: Deps, upload: Upload): Promise<void> {
  const declared = upload.stored && openDigest(deps.keys, upload, upload.stored)
  const { lookup } = await deps.companyKeys.open(upload.company_id)
  const tag = declared && tagOf(lookup, 'blob', declared)
  const [staged, kept] = await Promise.all([
    deps.blobs.digestStaged(upload),
    tag && digestKept(deps, upload.company_id, tag)
  ])
  // without a staged file a crash came after it had been moved to its place
  const found = staged ?? kept
  if (!found) throw new Error('the bytes of a received upload are not there')
  if (!tag || !found.sha256.equals(declared) || found.size !== upload.size) {
    return failUpload(deps, upload, 'transfer_corrupt')
  }
  const isDamaged = kept && !kept.sha256.equals(declared)
  await record(deps, upload, declared, isDamaged ? kept.inode : undefined)
}

/** Nearly always there is none, which takes no reading. */
async function digestKept(
  deps: Deps,
  company_id: CompanyId,
  tag: Buffer
): Promise<Digest | undefined> {
  const size = await deps.blobs.sizeKept(company_id, tag)
  return size === undefined ? undefined : deps.blobs.digestKept(company_id, tag)
}

/** Leaves an upload to the caller until then, as a lease does; it may still be on its way. */
export async function holdUpload(
  deps: Pick<Deps, 'db'>,
  { company_id, id }: Upload,
  until: Date
): Promise<void> {
  await inCompany(deps.db, company_id, tx =>
    tx
      .updateTable('upload')
      .set({ leased_until: until })
      .where('company_id', '=', company_id)
      .where('id', '=', id)
      .where('state', '<>', 'settled')
      .execute()
  )
}

async function lease(deps: Deps, company_id: CompanyId): Promise<Upload | undefined> {
  const now = deps.clock()
  return inCompany(deps.db, company_id, async tx => {
    const next = await tx
      .selectFrom('upload')
      .select('id')
      .where('company_id', '=', company_id)
      .where('state', '=', 'received')
      .where(either =>
        either.or([either('leased_until', 'is', null), either('leased_until', '<', now)])
      )
      .orderBy('created_at')
      .limit(1)
      .forUpdate()
      .skipLocked()
      .executeTakeFirst()
    if (!next) return undefined
    const upload = await findUpload(tx, company_id, next.id)
    if (!upload) return undefined
    await tx
      .updateTable('upload')
      .set({
        leased_until: new Date(now.getTime() + leaseMs),
        attempts: sql<number>`attempts + 1`
      })
      .where('company_id', '=', company_id)
      .where('id', '=', next.id)
      .execute()
    if (upload.request_state !== 'processing') {
      await publish(tx, deps, company_id, requestDraft(upload, 'processing'))
    }
    return { ...upload, attempts: upload.attempts + 1 }
  })
}

/** Notes a failed attempt: the next one comes later, and after the last one the upload is held. */
async function postpone(deps: Deps, upload: Upload, error: unknown): Promise<void> {
  const { company_id, request_id, attempts } = upload
  const now = deps.clock()
  const seconds = retrySeconds[attempts - 1]
  const failure = String(error instanceof Error ? error.message : error).slice(0, maxFailureLength)
  await inCompany(deps.db, company_id, async tx => {
    const current = await lockUpload(tx, upload)
    if (current?.state !== 'received') return
    await tx
      .updateTable('upload')
      .set(
        seconds === undefined
          ? { state: 'held', held_at: now, failure, leased_until: null }
          : { failure, leased_until: new Date(now.getTime() + seconds * 1000) }
      )
      .where('company_id', '=', company_id)
      .where('id', '=', upload.id)
      .execute()
    if (seconds !== undefined) return
    await publish(tx, deps, company_id, { ...requestDraft(current, 'processing'), code: 'held' })
  })
  const facts = { company: company_id, request: request_id, attempts, err: error }
  if (seconds === undefined) deps.log.error(facts, 'deposit held: see vidimus deposit held')
  else deps.log.warn({ ...facts, seconds }, 'deposit not made, tried again later')
}

function keepLease(deps: Deps, upload: Upload): Disposable {
  const renew = () =>
    inCompany(deps.db, upload.company_id, tx =>
      tx
        .updateTable('upload')
        .set({ leased_until: new Date(deps.clock().getTime() + leaseMs) })
        .where('company_id', '=', upload.company_id)
        .where('id', '=', upload.id)
        .where('state', '=', 'received')
        .execute()
    )
  const timer = setInterval(() => {
    // a lease that runs out lets another run do the work again, which is harmless
    renew().catch((error: unknown) => deps.log.warn({ err: error }, 'lease not renewed'))
  }, leaseMs / 3)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

async function failUpload(deps: Deps, upload: Upload, code: ErrorCode): Promise<void> {
  const ended = await inCompany(deps.db, upload.company_id, async tx => {
    const current = await lockUpload(tx, upload)
    if (current?.state !== 'received') return false
    await end(tx, deps, current, 'failed', code)
    return true
  })
  // whoever holds it by now may need its bytes
  if (ended) await deps.blobs.discardStaged(upload)
}

/** The one transaction of a deposit: blob, charge, record with its tags and openings, then event and leaf. */
async function record(
  deps: Deps,
  upload: Upload,
  stored: Buffer,
  damaged: number | undefined
): Promise<void> {
  const { company_id } = upload
  await inCompany(deps.db, company_id, async tx => {
    const current = await lockUpload(tx, upload)
    if (current?.state !== 'received' || !current.original) return
    const { lookup } = await deps.companyKeys.read(tx)
    const blobTag = tagOf(lookup, 'blob', stored)
    const now = deps.clock()
    await tx
      .insertInto('blob')
      .values({ company_id, tag: blobTag, size: current.size, refs: 1, created_at: now })
      .onConflict(conflict =>
        conflict.columns(['company_id', 'tag']).doUpdateSet({ refs: sql`blob.refs + 1` })
      )
      .execute()
    // under the blob's row lock, so that a deletion of the same bytes waits
    await deps.blobs.keep(current, blobTag, damaged)
    const [names] = await Promise.all([
      readNames(tx, current),
      settleUsage(tx, company_id, reservationOf(current)),
      setState(tx, current, 'settled')
    ])
    await writeRecord(tx, deps, {
      ...current,
      names,
      original: openDigest(deps.keys, current, current.original),
      kept: { stored, blobTag },
      now
    })
  })
}

/** Closes an upload badly: reservation back, digests forgotten, request told. */
async function end(
  tx: Tx,
  deps: Deps,
  upload: Upload,
  state: 'cancelled' | 'lapsed' | 'failed' | 'rejected',
  code: ErrorCode
): Promise<void> {
  await release(tx, upload.company_id, reservationOf(upload))
  await setState(tx, upload, 'settled')
  await publish(tx, deps, upload.company_id, { ...requestDraft(upload, state), code })
}

const released = { writer: null, writer_until: null }

async function setState(tx: Tx, upload: Upload, state: 'received' | 'settled'): Promise<void> {
  await tx
    .updateTable('upload')
    .set(
      state === 'settled'
        ? { ...released, state, original: null, stored: null, transform: null, leased_until: null }
        : { ...released, state }
    )
    .where('company_id', '=', upload.company_id)
    .where('id', '=', upload.id)
    .execute()
}

function reservationOf(upload: Upload) {
  const { user_id, group_id, period_start, size, released } = upload
  return { user_id, group_id, period_start, requests: 1, bytes: size - released }
}

export function requestDraft(upload: Upload, state: RequestState): Draft {
  return {
    id: upload.request_id,
    user_id: upload.user_id,
    kind: 'deposit',
    state,
    created: upload.request_created,
    facts: upload.request_facts
  }
}

async function lockUpload(tx: Tx, upload: Upload): Promise<Upload | undefined> {
  await tx
    .selectFrom('upload')
    .select('id')
    .where('company_id', '=', upload.company_id)
    .where('id', '=', upload.id)
    .forUpdate()
    .execute()
  return findUpload(tx, upload.company_id, upload.id)
}

/** An upload with its request, as it stands in this transaction. */
export async function findUpload(
  tx: Tx,
  company_id: CompanyId,
  id: string
): Promise<Upload | undefined> {
  const row = await tx
    .selectFrom('upload')
    .innerJoin('request', join => inSameCompany(join, 'request.id', 'upload.request_id'))
    .selectAll('upload')
    .select([
      'request.state as request_state',
      'request.created_at as request_created',
      'request.facts as request_facts'
    ])
    .where('upload.company_id', '=', company_id)
    .where('upload.id', '=', id)
    .executeTakeFirst()
  // as: the state columns are checked by their tables, facts are written by publish()
  return row ? ({ ...row, company_id } as Upload) : undefined
}
