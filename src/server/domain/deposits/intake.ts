import type * as z from 'zod/mini'
import type { createDeposit as createDepositCall } from '../../../contract/deposits.ts'
import { AppError } from '../../../contract/kit/errors.ts'
import type { ProcessedRequest } from '../../../contract/requests.ts'
import { mediaTypeOfFile } from '../../../core/files/file-type.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import type { CompanyId, Deps, StagedFileId } from '../deps.ts'
import {
  claimIdempotencyKeys,
  idempotencyKeyReusedError,
  releaseIdempotencyKeys,
  storeIdempotentResponses
} from '../idempotency/idempotency.ts'
import { newId, newRandomId } from '../ids.ts'
import { chargeQuota, planQuota, type QuotaReservation } from '../limits/quotas.ts'
import { type Admission, admitFiles } from './category-rules.ts'
import { historyFactsOf, recordDeposits } from './deposit-records.ts'
import { findOpenUploads, findOwnDeposits } from './earlier-deposits.ts'
import {
  deleteFilesIfUnreferenced,
  type FileToKeep,
  findKeptPlace,
  giveUpFiles,
  keepFiles
} from './kept-files.ts'
import { openUpload } from './uploads.ts'

export type NewDeposit = z.output<(typeof createDepositCall)['input']>

/** `duplicate` is the request (entry of the history) of an earlier deposit of the same file. */
export type CreateDepositResult =
  | { duplicate: ProcessedRequest }
  | {
      request: ProcessedRequest
      /** Absent if the category stores no bytes. */
      upload?: string
      /** An earlier call began the upload, and the client should continue it. */
      continued?: true
    }

export type DepositAnswer = { body: CreateDepositResult; replayed: boolean } | AppError

/** `POST /deposit/batch` shares the idempotency keys of `POST /deposit`. */
export const depositKeyRoute = 'POST /deposit'

interface Depositor {
  company_id: CompanyId
  user_id: string
  /** A person or an API key. Each has idempotency keys of its own. */
  actor: string
  route: string
}

export interface IncomingFile {
  key: string | undefined
  deposit: NewDeposit
  /** What a repetition with the same key must have again, if it is not `deposit`. */
  input?: unknown
  /** The bytes on disk, which match the announced fingerprint. Undefined if they are to come. */
  staged?: StagedFileId
}

/**
 * Takes in a file whose bytes are to come. If the category stores only fingerprints, records the
 * deposit immediately and creates no upload.
 */
export async function createDeposit(
  deps: Deps,
  by: Depositor,
  incoming: Omit<IncomingFile, 'staged'>
): Promise<Exclude<DepositAnswer, AppError>> {
  const examined = await examine(deps, incoming)
  const run = async (tx: Tx) => {
    // a copy, because a transaction may run again
    const file = { ...examined }
    await takeIn(tx, deps, by, [file])
    const answer = answerOf(file)
    // undoes the transaction
    if (answer instanceof AppError) throw answer
    return answer
  }
  return inCompany(deps.db, by.company_id, run)
}

/**
 * Takes in files whose bytes are on disk, in one transaction. A refused file does not affect the
 * others.
 */
export async function createDeposits(
  deps: Deps,
  by: Depositor,
  incoming: readonly IncomingFile[]
): Promise<DepositAnswer[]> {
  const { company_id } = by
  const examined = await Promise.all(incoming.map(each => examine(deps, each)))
  const run = async (tx: Tx) => {
    // copies, because a transaction may run again
    const files = examined.map(each => ({ ...each }))
    const orphans = await takeIn(tx, deps, by, files)
    return { answers: files.map(answerOf), orphans }
  }
  const { answers, orphans } = await inCompany(deps.db, company_id, run)
  if (orphans.length > 0) {
    // if this fails, the hourly check deletes the files later
    await deleteFilesIfUnreferenced(deps, company_id, orphans).catch((error: unknown) => {
      deps.log.warn(
        { company: company_id, err: error },
        'files of refused deposits of a batch could not be deleted: a job deletes them later'
      )
    })
  }
  return answers
}

// each step answers the files that go no further
interface Examined extends IncomingFile {
  original: Buffer
  stored: Buffer
  toKeep: FileToKeep | undefined
  answer?: DepositAnswer
  /** The earlier file of the call with the same idempotency key or the same bytes. */
  repeats?: { file: Examined; same: 'key' | 'bytes' }
}

type Admitted = Examined & Admission

async function examine(deps: Deps, file: IncomingFile): Promise<Examined> {
  const { staged, deposit } = file
  const original = Buffer.from(deposit.original, 'hex')
  const stored = Buffer.from(deposit.stored, 'hex')
  const place = staged && (await findKeptPlace(deps, staged.company_id, stored))
  const toKeep = place && { staged, size: deposit.size, tag: place.tag, damaged: place.damaged }
  return { ...file, original, stored, toKeep }
}

function answerOf({ answer, repeats }: Examined): DepositAnswer {
  if (answer) return answer
  if (!repeats) throw new Error('a file was left without an answer')
  const first = answerOf(repeats.file)
  if (first instanceof AppError) return first
  if (repeats.same === 'key') return { ...first, replayed: true }
  if (!('request' in first.body)) return first
  return { body: { duplicate: first.body.request }, replayed: false }
}

// Returns the tags of kept files that belong to no deposit, which must be deleted after the
// transaction. Locks rows in the same order as other transactions, to avoid deadlocks: idempotency
// keys, rows of files, usage, and finally the heads of the logs.
async function takeIn(
  tx: Tx,
  deps: Deps,
  by: Depositor,
  files: readonly Examined[]
): Promise<Buffer[]> {
  const claimed = await claimKeys(tx, deps, by, files)
  const announced = claimed.map(({ deposit }) => deposit)
  const admitted = accept(claimed, await admitFiles(tx, deps, by, announced))
  const fresh = await leaveOutEarlier(tx, deps, by, admitted)
  const [file, ...others] = fresh.filter(isAwaited)
  if (others.length > 0) throw new Error('only one file of a call may be awaited')
  if (file) {
    const { company_id, user_id } = by
    const { category, deposit, original, stored } = file
    const awaited = { ...deposit, company_id, user_id, category, digests: { original, stored } }
    const { request, upload_id } = await openUpload(tx, deps, awaited)
    file.answer = { body: { request, upload: `/uploads/${upload_id}` }, replayed: false }
  }
  const { charged, orphans } = await keepAndCharge(
    tx,
    deps,
    by,
    fresh.filter(each => !isAwaited(each))
  )
  const refused = claimed.flatMap(each =>
    isRefused(each) && each.key !== undefined ? [each.key] : []
  )
  if (refused.length > 0) await releaseIdempotencyKeys(tx, by, refused)
  await record(tx, deps, by, charged)
  const answers = claimed.flatMap(each => {
    const answer = answerOf(each)
    return each.key === undefined || answer instanceof AppError
      ? []
      : [{ key: each.key, body: answer.body }]
  })
  if (answers.length > 0) await storeIdempotentResponses(tx, by, answers)
  return orphans
}

function isAwaited({ rules, toKeep }: Admitted): boolean {
  return rules.store === 'file' && !toKeep
}

function isRefused({ answer, repeats }: Examined): boolean {
  return (repeats ? repeats.file.answer : answer) instanceof AppError
}

async function claimKeys(
  tx: Tx,
  deps: Deps,
  by: Depositor,
  files: readonly Examined[]
): Promise<Examined[]> {
  const inputOf = ({ input, deposit }: Examined) => input ?? deposit
  const firsts = new Map<string, Examined>()
  for (const file of files) {
    if (file.key === undefined) continue
    const first = firsts.get(file.key)
    if (!first) firsts.set(file.key, file)
    else if (JSON.stringify(inputOf(first)) === JSON.stringify(inputOf(file))) {
      file.repeats = { file: first, same: 'key' }
    } else file.answer = idempotencyKeyReusedError()
  }
  const calls = [...firsts].map(([key, file]) => ({ key, input: inputOf(file), file }))
  const outcomes =
    calls.length === 0 ? [] : await claimIdempotencyKeys<CreateDepositResult>(tx, deps, by, calls)
  for (const [at, { file }] of calls.entries()) {
    const outcome = outcomes[at]
    if (outcome instanceof AppError) file.answer = outcome
    else if (outcome && outcome !== 'claimed') file.answer = { ...outcome, replayed: true }
  }
  return files.filter(({ answer, repeats }) => !answer && !repeats)
}

function accept<File extends Examined, Found extends object>(
  files: readonly File[],
  outcomes: readonly (Found | AppError)[]
): (File & Found)[] {
  return files.flatMap((file, at) => {
    const outcome = outcomes[at]
    if (outcome && !(outcome instanceof AppError)) return [Object.assign(file, outcome)]
    if (outcome) file.answer = outcome
    return []
  })
}

async function leaveOutEarlier(
  tx: Tx,
  deps: Deps,
  by: Depositor,
  files: readonly Admitted[]
): Promise<Admitted[]> {
  const sought = files.filter(({ deposit }) => !deposit.again)
  const open = await findOpenUploads(tx, deps, by, sought)
  for (const [file, { request, upload_id }] of open) {
    const body = { request, upload: `/uploads/${upload_id}`, continued: true } as const
    file.answer = { body, replayed: false }
  }
  const own = await findOwnDeposits(
    tx,
    deps,
    by,
    sought.filter(file => !open.has(file))
  )
  for (const [file, { request }] of own) {
    file.answer = { body: { duplicate: request }, replayed: false }
  }
  const firsts = new Map<string, Admitted>()
  for (const file of files.filter(({ answer }) => !answer)) {
    const { original, again } = file.deposit
    const first = firsts.get(original)
    if (!first) firsts.set(original, file)
    else if (!again) file.repeats = { file: first, same: 'bytes' }
  }
  return files.filter(({ answer, repeats }) => !answer && !repeats)
}

// The limits are read before the files are moved, so that a call at the limit moves none for
// nothing, and checked again by the statement that charges. So the usage is not locked while files
// are moved.
async function keepAndCharge(
  tx: Tx,
  deps: Deps,
  by: Depositor,
  files: readonly Admitted[]
): Promise<{ charged: Charged[]; orphans: Buffer[] }> {
  const payer = { ...by, now: deps.clock() }
  const planned = accept(files, (await planQuota(tx, payer, files.map(needOf))).map(chargeOf))
  await keepFiles(tx, deps, planned.flatMap(keptOf))
  const plan = planned.map(({ charge }) => charge)
  const outcomes = await chargeQuota(tx, payer, planned.map(needOf), 'deposit', plan)
  const charged = accept(planned, outcomes.map(chargeOf))
  const givenUp = planned.filter(({ answer }) => answer).flatMap(keptOf)
  await giveUpFiles(tx, givenUp)
  return { charged, orphans: givenUp.map(({ tag }) => tag) }
}

type Charged = Admitted & { charge: QuotaReservation }

function chargeOf(outcome: QuotaReservation | AppError) {
  return outcome instanceof AppError ? outcome : { charge: outcome }
}

function needOf({ category, rules, deposit }: Admitted) {
  return { category_id: category, requests: 1, bytes: rules.store === 'file' ? deposit.size : 0 }
}

function keptOf({ rules, toKeep }: Admitted): FileToKeep[] {
  return rules.store === 'file' && toKeep ? [toKeep] : []
}

async function record(
  tx: Tx,
  deps: Deps,
  { company_id, user_id }: Depositor,
  files: readonly Charged[]
): Promise<void> {
  const now = deps.clock()
  // sorted, because all are created in the same millisecond and the history shows requests in the
  // order of their ids
  const ids = files.map(() => newId(deps)).toSorted()
  const records = files.map((file, at) => {
    const { deposit, category, original, stored, charge } = file
    const record_id = newRandomId(deps)
    const [kept] = keptOf(file)
    const facts = historyFactsOf({ ...deposit, category }, record_id)
    return {
      ...{ company_id, user_id, record_id, request_id: ids[at] ?? newId(deps) },
      ...{ category_id: category, original, now, request_created: now },
      size: deposit.size,
      media_type: deposit.media_type,
      name: deposit.name,
      kept: kept && { stored, blobTag: kept.tag, group_id: charge.group_id },
      transform: deposit.transform ?? null,
      request_facts: kept ? facts : { ...facts, store: 'fingerprint' as const }
    }
  })
  for (const [at, request] of (await recordDeposits(tx, deps, records)).entries()) {
    const file = files[at]
    if (file) file.answer = { body: { request }, replayed: false }
  }
}

/**
 * Takes the media type from the name where the client has told none or one that is known to be
 * wrong.
 */
export function withMediaTypeByName<
  T extends Pick<NewDeposit, 'name' | 'media_type' | 'transform'>
>(deposit: T): T {
  const { name, media_type, transform } = deposit
  if (!transform) return { ...deposit, media_type: mediaTypeOfFile(name, media_type) }
  const from = { ...transform.from, type: mediaTypeOfFile(name, transform.from.type) }
  return { ...deposit, transform: { ...transform, from } }
}
