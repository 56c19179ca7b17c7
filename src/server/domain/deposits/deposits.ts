import { sql } from 'kysely'
import type * as z from 'zod/mini'
import { type Category, KeepOriginals } from '../../../contract/categories.ts'
import {
  type createDeposit as createDepositCall,
  type Deposit,
  type getOpenUpload as getOpenUploadCall,
  Transform
} from '../../../contract/deposits.ts'
import { AppError } from '../../../contract/errors.ts'
import { type ProcessedRequest, Store } from '../../../contract/requests.ts'
import { toHex } from '../../../core/bytes.ts'
import { type DepositField, isFieldValue } from '../../../core/evidence/deposit-leaf.ts'
import { parseDigest } from '../../../core/evidence/formats.ts'
import { allowedCategories, inSameCompany } from '../../db/joins.ts'
import { prepare } from '../../db/prepared-statements.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import { chooseCategory } from '../companies/categories.ts'
import { charge, type Meter, readMeters, reserve } from '../companies/usage.ts'
import type { CompanyId, Deps, Leaver } from '../deps.ts'
import { tagOf } from '../evidence/company-keys.ts'
import { readOpenings } from '../evidence/sealed-openings.ts'
import { type Draft, publish, readRequest } from '../history/requests.ts'
import { type IdempotentCall, runOnce } from '../idempotency.ts'
import { newId, newRecordId } from '../ids.ts'
import { readNames, writeRecord } from './deposit-records.ts'
import { openDigest, sealDigest } from './upload-digests.ts'

interface CreateInput {
  company_id: CompanyId
  user_id: string
  /** Absent where the caller gave no key. */
  act: IdempotentCall | undefined
  deposit: z.output<(typeof createDepositCall)['input']>
  caller?: Leaver | undefined
}

type Created =
  | { duplicate: ProcessedRequest }
  | {
      request: ProcessedRequest
      /** Address of the upload: `/uploads/<id>`; absent where no bytes are kept. */
      upload?: string
      continued?: true
    }

/** Reserves quota and makes the request and its upload, all or nothing. */
export async function createDeposit(
  deps: Deps,
  input: CreateInput
): Promise<{ body: Created; replayed: boolean }> {
  const { company_id, user_id, deposit, act, caller } = input
  if (!deposit.transform && deposit.original !== deposit.stored) {
    throw new AppError('fingerprint_invalid', 'Without a transform both fingerprints are equal')
  }
  const sent = deposit.transform?.to
  if (sent && (sent.bytes !== deposit.size || sent.type !== deposit.media_type)) {
    throw new AppError('fingerprint_invalid', 'The transform says other bytes than are announced')
  }
  const now = deps.clock()
  const original = Buffer.from(deposit.original, 'hex')
  const stored = Buffer.from(deposit.stored, 'hex')
  const register = async (tx: Tx) => {
    const ask = (category: string) => {
      const rules = findRules(tx, deps, { company_id, user_id, ...deposit, category })
      const meters = readMeters(tx, { company_id, user_id, category_id: category, now })
      for (const asked of [rules, meters]) asked.catch(() => undefined) // reported where it is used
      return { category, rules, meters }
    }
    // sent together with the claim of the key, which most often is a new one
    const early = deposit.category === undefined ? undefined : ask(deposit.category)
    const create = async (): Promise<Created> => {
      const asked = early ?? ask(await chooseCategory(tx, { company_id, user_id }))
      const { category, meters } = asked
      const rules = await asked.rules
      const digests = { original, stored }
      const open = deposit.again
        ? undefined
        : await findOpenUpload(tx, deps, { company_id, user_id, category, ...digests })
      if (open) {
        const request = await readRequest(tx, { company_id, user_id, id: open.request_id })
        return { request, upload: `/uploads/${open.id}`, continued: true }
      }
      const duplicate = deposit.again ? undefined : await findOwn(tx, deps, input, original)
      if (duplicate) return { duplicate }
      const opening = { company_id, user_id, ...deposit, category, digests, rules, meters, now }
      if (rules.store === 'fingerprint') {
        return { request: await recordFingerprint(tx, deps, opening, original) }
      }
      const { request, upload_id } = await openUpload(tx, deps, opening)
      return { request, upload: `/uploads/${upload_id}` }
    }
    if (!act) return { body: await create(), replayed: false }
    return runOnce(tx, deps, { company_id, now, act }, create)
  }
  return inCompany(deps.db, company_id, register, { caller })
}

interface Opening {
  company_id: CompanyId
  user_id: string
  name: string
  size: number
  media_type: string
  category: string
  transform?: Transform | undefined
  /** Nothing where the bytes themselves will tell. */
  digests: { original: Buffer; stored: Buffer } | undefined
  rules: CategoryRules
  /** Of the groups that allow the category, where they were asked for before. */
  meters?: Promise<Meter[]>
  now: Date
}

/** A person's uploads that have begun and not ended. */
const maxOpenUploads = 2000

const countOpenUploads = prepare(
  (
    _db,
    { company_id, user_id, limit }: { company_id: CompanyId; user_id: string; limit: number }
  ) =>
    sql<{ open: number }>`
      select count(*)::int as open from (
        select from upload
        where company_id = ${company_id}::uuid and user_id = ${user_id}::uuid and state = 'uploading'
        limit ${limit}::int
      ) as uploads`
)

/** Reserves quota, then makes the upload and its request. */
export async function openUpload(
  tx: Tx,
  deps: Deps,
  opening: Opening
): Promise<{ request: ProcessedRequest; upload_id: string }> {
  const { company_id, user_id, size, now, digests } = opening
  // the calls of a person that charge one group stand in line here, so the count below is exact among them
  const held = await reserve(tx, { ...chargeOf(opening), bytes: size })
  const counted = tx.run(countOpenUploads, { company_id, user_id, limit: maxOpenUploads })
  counted.catch(() => undefined) // reported where it is awaited
  const request_id = newId(deps)
  const record_id = newRecordId(deps)
  const upload_id = newRecordId(deps)
  await tx
    .insertInto('upload')
    .values({
      company_id,
      id: upload_id,
      request_id,
      user_id,
      category_id: opening.category,
      record_id,
      size,
      media_type: opening.media_type,
      name: opening.name,
      original: digests ? sealDigest(deps.keys, opening, digests.original) : null,
      stored: digests ? sealDigest(deps.keys, opening, digests.stored) : null,
      transform: opening.transform ? JSON.stringify(opening.transform) : null,
      state: 'uploading',
      group_id: held.group_id,
      period_start: held.period_start,
      leased_until: null,
      created_at: now,
      active_at: now
    })
    .execute()
  const [count] = await counted
  if (count && count.open >= maxOpenUploads) {
    throw new AppError(
      'upload_limit_reached',
      `A person has at most ${maxOpenUploads} open uploads`,
      {
        figures: { used: count.open, limit: maxOpenUploads, resets_at: null }
      }
    )
  }
  const request = await publish(tx, deps, company_id, {
    id: request_id,
    user_id,
    kind: 'deposit',
    state: 'uploading',
    created: now,
    facts: factsOf(opening, record_id)
  })
  return { request, upload_id }
}

/** A deposit of which no bytes are kept needs no upload: it is made at once. */
async function recordFingerprint(
  tx: Tx,
  deps: Deps,
  opening: Opening,
  original: Buffer
): Promise<ProcessedRequest> {
  const record_id = newRecordId(deps)
  const [names] = await Promise.all([
    readNames(tx, { ...opening, category_id: opening.category }),
    charge(tx, chargeOf(opening))
  ])
  return writeRecord(tx, deps, {
    ...opening,
    names,
    record_id,
    request_id: newId(deps),
    category_id: opening.category,
    original,
    kept: undefined,
    transform: null,
    request_created: opening.now,
    request_facts: { ...factsOf(opening, record_id), store: 'fingerprint' }
  })
}

function chargeOf({ company_id, user_id, category, now, meters }: Opening) {
  return { company_id, user_id, category_id: category, requests: 1, now, ...(meters && { meters }) }
}

function factsOf(opening: Opening, deposit_id: string): Draft['facts'] {
  const { name, size, media_type, category, transform } = opening
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

/** The caller's open upload of the same bytes, which was continued last. */
const openUploads = prepare((db, file: SameFile) =>
  db
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
)

async function findOpenUpload(
  tx: Tx,
  deps: Pick<Deps, 'keys'>,
  file: SameFile
): Promise<{ id: string; request_id: string } | undefined> {
  const [found] = await tx.run(openUploads, {
    ...file,
    original: sealDigest(deps.keys, file, file.original),
    stored: sealDigest(deps.keys, file, file.stored)
  })
  return found
}

/** Returns what has to be sent of an open upload. Throws `not_found` where the caller has none of this request. */
export async function getOpenUpload(
  deps: Pick<Deps, 'db' | 'keys'>,
  input: FindInput
): Promise<z.output<(typeof getOpenUploadCall)['output']>> {
  const found = await inCompany(deps.db, input.company_id, tx =>
    tx
      .selectFrom('upload')
      .where('company_id', '=', input.company_id)
      .where('user_id', '=', input.user_id)
      .where('request_id', '=', input.id)
      .where('state', '=', 'uploading')
      .selectAll()
      .executeTakeFirst()
  )
  // one of a single call has no fingerprint yet, and cannot be continued
  if (!found?.original || !found.stored) throw new AppError('not_found', 'No such open upload')
  const from = found.transform ? Transform.parse(found.transform).from : undefined
  return {
    upload: `/uploads/${found.id}`,
    name: found.name,
    category: found.category_id,
    size: from?.bytes ?? found.size,
    media_type: from?.type ?? found.media_type,
    original: toHex(openDigest(deps.keys, input, found.original)),
    bytes: found.size,
    stored: toHex(openDigest(deps.keys, input, found.stored))
  }
}

/** The caller's newest deposit of the same file; its index holds nobody else's between the caller's own. */
async function findOwn(
  tx: Tx,
  deps: Deps,
  { company_id, user_id }: CreateInput,
  original: Buffer
): Promise<ProcessedRequest | undefined> {
  const { lookup } = await deps.companyKeys.read(tx)
  const own = await tx
    .selectFrom('lookup_tag')
    .innerJoin('deposit', join => inSameCompany(join, 'deposit.id', 'lookup_tag.record_ref'))
    .where('lookup_tag.company_id', '=', company_id)
    .where('lookup_tag.user_id', '=', user_id)
    .where('lookup_tag.tag', '=', tagOf(lookup, 'sha256', original))
    .where('lookup_tag.which', '=', 'original')
    // recorded to the second; ids of requests grow with time
    .orderBy('deposit.recorded_at', 'desc')
    .orderBy('deposit.request_id', 'desc')
    .select('deposit.request_id')
    .limit(1)
    .executeTakeFirst()
  return own && readRequest(tx, { company_id, user_id, id: own.request_id })
}

export type CategoryRules = Pick<Category, 'keep_originals' | 'store' | 'media_types'>

interface Wanted {
  company_id: CompanyId
  user_id: string
  category: string
  size: number
  media_type: string
  transform?: Transform | undefined
}

/** The caller's groups that may use the category, which each row repeats. */
const allowedGroups = prepare((db, wanted: Wanted) =>
  allowedCategories(db, wanted)
    .innerJoin('group', join => inSameCompany(join, 'group.id', 'group_category.group_id'))
    .innerJoin('category', join => inSameCompany(join, 'category.id', 'group_category.category_id'))
    .where('group_category.category_id', '=', wanted.category)
    .select([
      'group.features',
      'category.names',
      'category.originals',
      'category.store',
      'category.media_types'
    ])
)

/** What the category asks of its documents; throws where the caller or this file may not go there. */
export async function findRules(tx: Tx, deps: Deps, wanted: Wanted): Promise<CategoryRules> {
  if (wanted.size === 0) throw new AppError('file_empty', 'An empty file cannot be deposited')
  if (wanted.size > deps.settings.maxUploadBytes) {
    throw new AppError('too_large', `A file has at most ${deps.settings.maxUploadBytes} bytes`)
  }
  const allowed = await tx.run(allowedGroups, wanted)
  const [rules] = allowed
  // missing, foreign and not allowed answer alike
  if (!rules) {
    throw new AppError('category_unknown', 'The caller may not deposit in this category')
  }
  if (!allowed.some(group => group.features.includes('deposit'))) {
    throw new AppError('forbidden', 'No group of the caller has the feature deposit')
  }
  // the database refuses most such names; what it lets pass would fail when the record is written
  if (!isFieldValue('category', rules.names.en)) {
    throw new AppError('category_unusable', 'The name of the category cannot enter a record')
  }
  const { media_types } = rules
  const keep_originals = KeepOriginals.parse(rules.originals)
  const store = Store.parse(rules.store)
  // the type of the file as chosen: a reduced copy has another one
  const type = wanted.transform?.from.type ?? wanted.media_type
  if (media_types && !media_types.includes(type)) {
    throw new AppError('type_not_allowed', `The category takes ${media_types.join(', ')} only`)
  }
  if (wanted.transform && (keep_originals === 'yes' || store === 'fingerprint')) {
    throw new AppError('transform_not_allowed', 'The category takes files as they are')
  }
  return { keep_originals, store, media_types }
}

interface FindInput {
  company_id: CompanyId
  user_id: string
  id: string
}

/** A deposit of the caller; its values come from the sealed openings. */
export async function getDeposit(
  deps: Pick<Deps, 'db' | 'companyKeys'>,
  input: FindInput
): Promise<Deposit> {
  return inCompany(deps.db, input.company_id, async tx => {
    const row = await find(tx, input)
    const value = await valuesOf(tx, deps, input)
    const transform = value('transform')
    return {
      id: row.id,
      request_id: row.request_id,
      name: value('name'),
      size: Number(value('bytes')),
      media_type: value('media'),
      category_id: row.category_id,
      created: row.created_at.toISOString(),
      recorded: row.recorded_at.toISOString(),
      original: toHex(parseDigest(value('orig'))),
      ...(value('stored') === '' ? {} : { stored: toHex(parseDigest(value('stored'))) }),
      ...(transform === '' ? {} : { transform: Transform.parse(JSON.parse(transform)) }),
      visibility: row.visibility,
      leaf_hash: row.hash.toString('hex')
    }
  })
}

/** What a download of a deposit needs: where the bytes are and what to call them. */
export async function findContent(
  deps: Pick<Deps, 'db' | 'companyKeys'>,
  input: FindInput
): Promise<{ tag: Buffer; size: number; name: string; media_type: string; sha256: Uint8Array }> {
  return inCompany(deps.db, input.company_id, async tx => {
    const { blob_tag: tag, size } = await find(tx, input)
    const value = await valuesOf(tx, deps, input)
    if (!tag || size === null) {
      throw new AppError('not_found', 'Of this deposit the fingerprint alone is kept')
    }
    return {
      tag,
      size,
      name: value('name'),
      media_type: value('media'),
      sha256: parseDigest(value('stored'))
    }
  })
}

async function valuesOf(
  tx: Tx,
  deps: Pick<Deps, 'companyKeys'>,
  { company_id, id }: FindInput
): Promise<(field: DepositField) => string> {
  const { fields } = await readOpenings(tx, deps, { company_id, record_id: id })
  return field => fields[field]?.value ?? ''
}

async function find(tx: Tx, input: FindInput) {
  const row = await tx
    .selectFrom('deposit')
    .innerJoin('request', join => inSameCompany(join, 'request.id', 'deposit.request_id'))
    .leftJoin('blob', join => inSameCompany(join, 'blob.tag', 'deposit.blob_tag'))
    .innerJoin('log_leaf', join => inSameCompany(join, 'log_leaf.record_id', 'deposit.id'))
    .where('deposit.company_id', '=', input.company_id)
    .where('deposit.user_id', '=', input.user_id)
    .where('deposit.id', '=', input.id)
    .select([
      'deposit.id',
      'deposit.request_id',
      'deposit.category_id',
      'deposit.visibility',
      'deposit.blob_tag',
      'deposit.recorded_at',
      'request.created_at',
      'blob.size',
      'log_leaf.hash'
    ])
    .executeTakeFirst()
  if (!row) throw new AppError('not_found', 'No such deposit')
  return row
}
