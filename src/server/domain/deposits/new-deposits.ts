import { sql } from 'kysely'
import type * as z from 'zod/mini'
import type {
  createDeposit as createDepositCall,
  PictureTransform
} from '../../../contract/deposits.ts'
import { AppError } from '../../../contract/kit/errors.ts'
import type { ProcessedRequest } from '../../../contract/requests.ts'
import { mediaTypeOfFile } from '../../../core/files/file-type.ts'
import { selectInCompany } from '../../db/company-queries.ts'
import { joinInCompany } from '../../db/joins.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import { chooseCategoryIfNoneNamed } from '../companies/categories.ts'
import type { CompanyId, Deps, WaitingClient } from '../deps.ts'
import { keyedHashOf } from '../evidence/company-keys.ts'
import { finishWithLogs, type RequestStateToRecord } from '../finish-with-logs.ts'
import { readRequest } from '../history/requests.ts'
import { type IdempotentCall, runOnce } from '../idempotency/idempotency.ts'
import { newId, newRandomId } from '../ids.ts'
import { chargeRequests, reserveQuota } from '../limits/quotas.ts'
import { type GroupQuota, readQuotasOfPerson } from '../limits/usage.ts'
import { type CategoryRules, getCategoryRulesForFile } from './category-rules.ts'
import { readNamesForRecord, recordDeposit } from './deposit-records.ts'
import { encryptDigest } from './upload-digests.ts'

/** The input of `POST /deposit`: what a client announces about a file before it sends the bytes. */
export type NewDeposit = z.output<(typeof createDepositCall)['input']>

interface CreateInput {
  company_id: CompanyId
  user_id: string
  call: IdempotentCall
  deposit: NewDeposit
  caller?: WaitingClient | undefined
}

/**
 * The result of `POST /deposit`. If the person has deposited the same file before, the result has
 * only `duplicate`: the request (entry of the history) of the earlier deposit. With `again` in the
 * input, there is never a `duplicate`.
 */
export type CreateDepositResult =
  | { duplicate: ProcessedRequest }
  | {
      request: ProcessedRequest
      /**
       * The path to which to send the bytes, `/uploads/<id>`. Absent if the category stores no
       * bytes.
       */
      upload?: string
      /** Present if an earlier call began the upload. The client should continue that upload. */
      continued?: true
    }

/**
 * Begins a deposit in one transaction: creates its request (entry of the history) and its upload,
 * and reserves quota. If the category stores only fingerprints, records the deposit immediately and
 * creates no upload. If the caller has deposited the same file before or is uploading it, creates
 * nothing and returns the existing request, unless `deposit.again` is set.
 */
export async function createDeposit(
  deps: Deps,
  input: CreateInput
): Promise<{ body: CreateDepositResult; replayed: boolean }> {
  const { company_id, user_id, deposit, call, caller } = input
  requireConsistentTransform(deposit)
  const now = deps.clock()
  const original = Buffer.from(deposit.original, 'hex')
  const stored = Buffer.from(deposit.stored, 'hex')
  const register = async (tx: Tx) => {
    const prepareIn = (category: string) => {
      const rules = getCategoryRulesForFile(tx, deps, { company_id, user_id, ...deposit, category })
      const quotas = readQuotasOfPerson(tx, { company_id, user_id, category_id: category, now })
      for (const pending of [rules, quotas]) pending.catch(() => undefined) // reported where it is used
      return { category, rules, quotas }
    }
    // these statements are sent together with the one that claims the idempotency key, because in
    // most calls the key is new
    const early = deposit.category === undefined ? undefined : prepareIn(deposit.category)
    const create = async (): Promise<CreateDepositResult> => {
      const prepared =
        early ?? prepareIn(await chooseCategoryIfNoneNamed(tx, { company_id, user_id }))
      const { category, quotas } = prepared
      const rules = await prepared.rules
      const digests = { original, stored }
      const open = deposit.again
        ? undefined
        : await findOpenUpload(tx, deps, { company_id, user_id, category, ...digests })
      if (open) {
        const request = await readRequest(tx, { user_id, id: open.request_id })
        return { request, upload: `/uploads/${open.id}`, continued: true }
      }
      const duplicate = deposit.again ? undefined : await findOwn(tx, deps, input, original)
      if (duplicate) return { duplicate }
      const planned = { company_id, user_id, ...deposit, category, digests, rules, quotas, now }
      if (rules.store === 'fingerprint') {
        return { request: await recordFingerprint(tx, deps, planned, original) }
      }
      const { request, upload_id } = await createUpload(tx, deps, planned)
      return { request, upload: `/uploads/${upload_id}` }
    }
    return runOnce(tx, deps, call, create)
  }
  return inCompany(deps.db, company_id, register, { caller })
}

/**
 * Returns a deposit with the media type of the chosen file by its name, where the client has told
 * none or one that is known to be wrong.
 */
export function withMediaTypeByName<
  T extends Pick<NewDeposit, 'name' | 'media_type' | 'transform'>
>(deposit: T): T {
  const { name, media_type, transform } = deposit
  if (!transform) return { ...deposit, media_type: mediaTypeOfFile(name, media_type) }
  const from = { ...transform.from, type: mediaTypeOfFile(name, transform.from.type) }
  return { ...deposit, transform: { ...transform, from } }
}

/**
 * Checks that the announced fingerprints, size and type of a deposit agree with its `transform`,
 * which describes how a reduced copy was made. Throws `fingerprint_invalid` if the copy has another
 * size or type than `transform` states. Also throws it if there is no `transform`, but the original
 * and the stored file have different fingerprints.
 */
export function requireConsistentTransform(deposit: NewDeposit): void {
  if (!deposit.transform && deposit.original !== deposit.stored) {
    throw new AppError('fingerprint_invalid', 'Without a transform both fingerprints are equal')
  }
  const sent = deposit.transform?.to
  if (sent && (sent.bytes !== deposit.size || sent.type !== deposit.media_type)) {
    throw new AppError('fingerprint_invalid', 'The transform says other bytes than are announced')
  }
}

interface PlannedDeposit {
  company_id: CompanyId
  user_id: string
  name: string
  size: number
  media_type: string
  category: string
  transform?: PictureTransform | undefined
  /**
   * The digests of the file that the person chose and of the file to store. Undefined if the
   * service computes them later from the bytes.
   */
  digests: { original: Buffer; stored: Buffer } | undefined
  rules: CategoryRules
  /**
   * A pending read of the limits and current usage of the person's groups. Undefined if it has not
   * been started yet.
   */
  quotas?: Promise<GroupQuota[]>
  now: Date
}

const maxOpenUploads = 2000

/**
 * Reserves quota and creates an upload with its request (entry of the history). Throws
 * `upload_limit_reached` if the person has too many open uploads.
 */
export async function createUpload(
  tx: Tx,
  deps: Deps,
  planned: PlannedDeposit
): Promise<{ request: ProcessedRequest; upload_id: string }> {
  const { company_id, user_id, size, now, digests } = planned
  // the reservation locks the group's usage, so that parallel calls of a person are counted one
  // after the other
  const held = await reserveQuota(tx, { ...chargeOf(planned), bytes: size })
  const { rows } = await sql<{ open: number }>`
    select count(*)::int as open from (
      select from upload
      where company_id = ${company_id}::uuid and user_id = ${user_id}::uuid and state = 'uploading'
      limit ${maxOpenUploads}::int
    ) as uploads`.execute(tx)
  const open = rows[0]?.open ?? 0
  if (open >= maxOpenUploads) {
    throw new AppError(
      'upload_limit_reached',
      `A person has at most ${maxOpenUploads} open uploads`,
      { figures: { used: open, limit: maxOpenUploads, resets_at: null } }
    )
  }
  const request_id = newId(deps)
  const record_id = newRandomId(deps)
  const upload_id = newRandomId(deps)
  await tx
    .insertInto('upload')
    .values({
      company_id,
      id: upload_id,
      request_id,
      user_id,
      category_id: planned.category,
      record_id,
      size,
      media_type: planned.media_type,
      name: planned.name,
      original: digests ? encryptDigest(deps.keys, planned, digests.original) : null,
      stored: digests ? encryptDigest(deps.keys, planned, digests.stored) : null,
      transform: planned.transform ? JSON.stringify(planned.transform) : null,
      state: 'uploading',
      group_id: held.group_id,
      period_start: held.period_start,
      leased_until: null,
      created_at: now,
      active_at: now
    })
    .execute()
  const state: RequestStateToRecord = {
    id: request_id,
    user_id,
    kind: 'deposit',
    state: 'uploading',
    created: now,
    facts: historyFactsOf(planned, record_id)
  }
  const [request] = await finishWithLogs(tx, deps, { states: [state] })
  return { request, upload_id }
}

async function recordFingerprint(
  tx: Tx,
  deps: Deps,
  planned: PlannedDeposit,
  original: Buffer
): Promise<ProcessedRequest> {
  const record_id = newRandomId(deps)
  const names = await readNamesForRecord(tx, { ...planned, category_id: planned.category })
  await chargeRequests(tx, { ...chargeOf(planned), kind: 'deposit' })
  return recordDeposit(tx, deps, {
    ...planned,
    names,
    record_id,
    request_id: newId(deps),
    category_id: planned.category,
    original,
    kept: undefined,
    transform: null,
    request_created: planned.now,
    request_facts: { ...historyFactsOf(planned, record_id), store: 'fingerprint' }
  })
}

function chargeOf({ company_id, user_id, category, now, quotas }: PlannedDeposit) {
  return { company_id, user_id, category_id: category, requests: 1, now, ...(quotas && { quotas }) }
}

/** Returns the facts about a deposit that its entry in the history shows. */
export function historyFactsOf(
  planned: Pick<PlannedDeposit, 'name' | 'size' | 'media_type' | 'category' | 'transform'>,
  deposit_id: string
): RequestStateToRecord['facts'] {
  const { name, size, media_type, category, transform } = planned
  const facts = { name, size, media_type, category_id: category, deposit_id }
  if (!transform) return facts
  const { bytes, w, h } = transform.from
  return { ...facts, reduced_from: { bytes, w, h } }
}

interface SameFile {
  company_id: CompanyId
  user_id: string
  category: string
  original: Buffer
  stored: Buffer
}

const openUploads = (tx: Tx, file: SameFile) =>
  tx
    .selectFrom('upload')
    .where('company_id', '=', file.company_id)
    .where('user_id', '=', file.user_id)
    .where('original', '=', file.original)
    .where('stored', '=', file.stored)
    .where('category_id', '=', file.category)
    .where('state', '=', 'uploading')
    .orderBy('active_at', 'desc')
    .limit(1)
    .select(['id', 'request_id'])

async function findOpenUpload(
  tx: Tx,
  deps: Pick<Deps, 'keys'>,
  file: SameFile
): Promise<{ id: string; request_id: string } | undefined> {
  const [found] = await openUploads(tx, {
    ...file,
    original: encryptDigest(deps.keys, file, file.original),
    stored: encryptDigest(deps.keys, file, file.stored)
  }).execute()
  return found
}

/**
 * Returns the request (entry of the history) of the caller's newest deposit of the same file. Does
 * not search other people's deposits.
 */
async function findOwn(
  tx: Tx,
  deps: Deps,
  { user_id }: CreateInput,
  original: Buffer
): Promise<ProcessedRequest | undefined> {
  const { lookup } = await deps.companyKeys.read(tx)
  const own = await selectInCompany(tx, 'lookup_tag')
    .innerJoin('deposit', join => joinInCompany(join, 'deposit.id', 'lookup_tag.record_ref'))
    .where('lookup_tag.user_id', '=', user_id)
    .where('lookup_tag.tag', '=', keyedHashOf(lookup, 'sha256', original))
    .where('lookup_tag.which', '=', 'original')
    // two deposits may have the same second; the ids of requests grow with time
    .orderBy('deposit.recorded_at', 'desc')
    .orderBy('deposit.request_id', 'desc')
    .select('deposit.request_id')
    .limit(1)
    .executeTakeFirst()
  return own && readRequest(tx, { user_id, id: own.request_id })
}
