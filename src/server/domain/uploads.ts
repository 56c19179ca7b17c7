import { sql } from 'kysely'
import { AppError, type ErrorCode } from '../../contract/errors.ts'
import type { RequestState } from '../../contract/requests.ts'
import { formatDigest, formatTime, fromBase64Url, toBase64Url } from '../../core/evidence/bytes.ts'
import { linkSalts } from '../../core/evidence/commit.ts'
import { canonicalise, type Json } from '../../core/evidence/jcs.ts'
import {
  buildDepositLeaf,
  type DepositField,
  depositFields,
  formatActor
} from '../../core/evidence/leaf.ts'
import { lookupTag } from '../../core/evidence/tag.ts'
import { inCompany, type Tx } from '../db/scope.ts'
import { companyKeys, keyVersion } from './company-keys.ts'
import type { CompanyId, Deps, Digest } from './deps.ts'
import { sealOpenings } from './openings.ts'
import { type Draft, publish } from './requests.ts'
import { release, settle as settleUsage } from './usage.ts'

/** Short and renewed while the work goes on, so that a crash holds nothing up for long. */
const leaseMs = 10_000
const lapseHours = 24

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
  original: Buffer | null
  stored: Buffer | null
  transform: Record<string, unknown> | null
  state: 'uploading' | 'received' | 'settled'
  group_id: string
  period_start: Date
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
 * Takes over a complete upload: the bytes are made durable, then the request is queued. When this
 * returns, the service owes the deposit. Does nothing the second time. A flush that fails ends the
 * request for good: the system may have dropped the bytes, and a second flush would not tell.
 */
export async function receiveUpload(deps: Deps, upload: Upload): Promise<void> {
  const failure = await deps.blobs.syncStaged(upload.company_id, upload.id).then(
    () => undefined,
    (error: unknown) => ({ error, isFlush: Object(error).syscall === 'fsync' })
  )
  // first, so that no later flush of the same bytes can succeed whatever becomes of the transaction
  if (failure?.isFlush) await deps.blobs.discardStaged(upload.company_id, upload.id)
  await inCompany(deps.db, upload.company_id, async tx => {
    const current = await lockUpload(tx, upload)
    if (!current) throw new AppError('not_found', 'No such upload')
    requireOpen(current)
    if (current.state !== 'uploading') return
    if (failure?.isFlush) return end(tx, deps, current, 'failed', 'internal')
    if (failure) throw failure.error
    await setState(tx, upload, 'received')
    await publish(tx, deps, upload.company_id, draftOf(current, 'queued'))
    tx.afterCommit(() => deps.wakes.uploads.send(upload.company_id))
  })
  if (failure?.isFlush) throw failure.error
}

/** Ends an upload at its person's wish and gives the reservation back. */
export async function cancelUpload(deps: Deps, upload: Upload): Promise<void> {
  await inCompany(deps.db, upload.company_id, async tx => {
    const current = await lockUpload(tx, upload)
    if (current?.state !== 'uploading') {
      throw new AppError('upload_state', 'The upload is complete and can no longer be cancelled')
    }
    await end(tx, deps, current, 'cancelled', 'cancelled')
  })
  await deps.blobs.discardStaged(upload.company_id, upload.id)
}

/** Ends the upload of a company for which no byte came longest, a day or more; answers whether there was one. */
export async function lapseNextUpload(deps: Deps, company_id: CompanyId): Promise<boolean> {
  const before = new Date(deps.clock().getTime() - lapseHours * 3_600_000)
  const lapsed = await inCompany(deps.db, company_id, async tx => {
    const row = await tx
      .selectFrom('upload')
      .select('id')
      .where('company_id', '=', company_id)
      .where('state', '=', 'uploading')
      .where('active_at', '<', before)
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
  await deps.blobs.discardStaged(company_id, lapsed.id)
  return true
}

/** Makes the deposit of the company's oldest received upload; answers whether there was one. */
export async function settleNextUpload(deps: Deps, company_id: CompanyId): Promise<boolean> {
  const upload = await lease(deps, company_id)
  if (!upload) return false
  using _lease = keepLease(deps, upload)
  const found = await findBytes(deps, upload)
  const declared = upload.stored
  if (!found || !declared?.equals(found.sha256) || found.size !== upload.size) {
    await failUpload(deps, upload, 'transfer_corrupt')
    return true
  }
  await record(deps, upload, declared)
  return true
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
      await publish(tx, deps, company_id, draftOf(upload, 'processing'))
    }
    return upload
  })
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

/** The bytes as they lie on the disk: staged, or already in place after a crash. */
async function findBytes(deps: Deps, upload: Upload): Promise<Digest | undefined> {
  const staged = await deps.blobs.digestStaged(upload.company_id, upload.id)
  if (staged || !upload.stored) return staged
  const keys = await inCompany(deps.db, upload.company_id, tx =>
    companyKeys(tx, deps, upload.company_id)
  )
  return deps.blobs.digestKept(upload.company_id, tagOf(keys.lookup, 'blob', upload.stored))
}

async function failUpload(deps: Deps, upload: Upload, code: ErrorCode): Promise<void> {
  await inCompany(deps.db, upload.company_id, async tx => {
    const current = await lockUpload(tx, upload)
    if (current?.state === 'received') await end(tx, deps, current, 'failed', code)
  })
  await deps.blobs.discardStaged(upload.company_id, upload.id)
}

/** The one transaction of a deposit: blob, charge, record with its tags and openings, then event and leaf. */
async function record(deps: Deps, upload: Upload, stored: Buffer): Promise<void> {
  const { company_id } = upload
  await inCompany(deps.db, company_id, async tx => {
    const current = await lockUpload(tx, upload)
    if (current?.state !== 'received' || !current.original) return
    const original = current.original
    const { lookup } = await companyKeys(tx, deps, company_id)
    const blobTag = tagOf(lookup, 'blob', stored)
    const now = new Date(Math.floor(deps.clock().getTime() / 1000) * 1000)
    const leaf = await leafOf(tx, deps, current, { original, stored, time: now })

    await tx
      .insertInto('blob')
      .values({ company_id, tag: blobTag, size: current.size, refs: 1, created_at: now })
      .onConflict(conflict =>
        conflict.columns(['company_id', 'tag']).doUpdateSet({ refs: sql`blob.refs + 1` })
      )
      .execute()
    // under the blob's row lock, so that a deletion of the same bytes waits
    await deps.blobs.keep(company_id, current.id, blobTag)
    await settleUsage(tx, company_id, reservationOf(current))
    await tx
      .insertInto('deposit')
      .values({
        company_id,
        id: current.record_id,
        request_id: current.request_id,
        user_id: current.user_id,
        category_id: current.category_id,
        visibility: leaf.visibility,
        blob_tag: blobTag,
        recorded_at: now
      })
      .execute()
    await sealOpenings(tx, deps, {
      company_id,
      record_id: current.record_id,
      openings: leaf.openings
    })
    await tx
      .insertInto('lookup_tag')
      .values(
        tagsOf(lookup, original, stored).map(({ tag, which }) => ({
          company_id,
          scheme: 1,
          key_version: keyVersion,
          tag,
          record_ref: current.record_id,
          which
        }))
      )
      .execute()
    await setState(tx, current, 'settled')
    const facts = {
      ...current.request_facts,
      leaf_hash: Buffer.from(leaf.hash).toString('hex'),
      rung: 'recorded' as const
    }
    await publish(tx, deps, company_id, draftOf({ ...current, request_facts: facts }, 'done'), {
      record_id: current.record_id,
      leaf: leaf.leaf,
      hash: leaf.hash
    })
  })
}

async function leafOf(
  tx: Tx,
  deps: Deps,
  upload: Upload,
  facts: { original: Buffer; stored: Buffer; time: Date }
) {
  const { company_id } = upload
  const { origin } = await tx
    .selectFrom('log_head')
    .select('origin')
    .where('company_id', '=', company_id)
    .executeTakeFirstOrThrow()
  const category = await tx
    .selectFrom('category')
    .select(['names', 'visibility'])
    .where('company_id', '=', company_id)
    .where('id', '=', upload.category_id)
    .executeTakeFirstOrThrow()
  const depositor = await tx
    .selectFrom('user')
    .select(['account', 'username'])
    .where('company_id', '=', company_id)
    .where('id', '=', upload.user_id)
    .executeTakeFirstOrThrow()

  const values: Record<DepositField, string> = {
    actor: formatActor(depositor.account, depositor.username),
    bytes: String(upload.size),
    category: category.names.en,
    expires: '',
    media: upload.media_type,
    name: upload.name,
    orig: formatDigest(facts.original),
    sig: '',
    stored: formatDigest(facts.stored),
    time: formatTime(facts.time),
    // as: read from jsonb, so it is JSON
    transform: upload.transform ? canonicalise(upload.transform as Json) : '',
    visibility: category.visibility
  }
  const lk = deps.random(32)
  const random = Object.fromEntries(depositFields.map(field => [field, deps.random(32)]))
  // as: one entry for every field of the list
  const salts = { ...random, ...linkSalts(lk) } as Record<DepositField, Uint8Array>
  const { leaf, hash, openings } = buildDepositLeaf({ origin, id: upload.record_id, values, salts })
  return {
    leaf,
    hash,
    visibility: category.visibility,
    openings: { fields: openings, lk: toBase64Url(lk) }
  }
}

/** Keyed tag of a fingerprint, 32 bytes. */
export function tagOf(lookup: Uint8Array, kind: 'sha256' | 'blob', digest: Uint8Array): Buffer {
  return Buffer.from(
    fromBase64Url(lookupTag({ version: keyVersion, key: lookup }, kind, digest).tag)
  )
}

function tagsOf(lookup: Uint8Array, original: Buffer, stored: Buffer) {
  const first = { tag: tagOf(lookup, 'sha256', original), which: 'original' }
  if (original.equals(stored)) return [first]
  return [first, { tag: tagOf(lookup, 'sha256', stored), which: 'stored_copy' }]
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
  await publish(tx, deps, upload.company_id, { ...draftOf(upload, state), code })
}

async function setState(tx: Tx, upload: Upload, state: 'received' | 'settled'): Promise<void> {
  await tx
    .updateTable('upload')
    .set(
      state === 'settled'
        ? { state, original: null, stored: null, transform: null, leased_until: null }
        : { state }
    )
    .where('company_id', '=', upload.company_id)
    .where('id', '=', upload.id)
    .execute()
}

function reservationOf(upload: Upload) {
  const { group_id, period_start, size } = upload
  return { group_id, period_start, requests: 1, bytes: size }
}

function draftOf(upload: Upload, state: RequestState): Draft {
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

async function findUpload(tx: Tx, company_id: CompanyId, id: string): Promise<Upload | undefined> {
  const row = await tx
    .selectFrom('upload')
    .innerJoin('request', join =>
      join
        .onRef('request.company_id', '=', 'upload.company_id')
        .onRef('request.id', '=', 'upload.request_id')
    )
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
