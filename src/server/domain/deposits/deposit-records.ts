import type { KeyObject } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import type { PictureTransform } from '../../../contract/deposits.ts'
import type { ProcessedRequest } from '../../../contract/requests.ts'
import { toBase64Url } from '../../../core/bytes.ts'
import { canonicalize, type Json } from '../../../core/evidence/canonical-json.ts'
import { deriveLinkSalts } from '../../../core/evidence/commitments.ts'
import {
  buildDepositLeaf,
  type DepositField,
  depositFields,
  formatActorField
} from '../../../core/evidence/deposit-leaf.ts'
import { formatDigest, formatTimestamp } from '../../../core/evidence/formats.ts'
import type { Tx } from '../../db/scope.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { companyKeyVersion } from '../evidence/company-keys.ts'
import { keyedHashOf } from '../evidence/keyed-hashes.ts'
import { encryptOpenings } from '../evidence/sealed-openings.ts'
import { finishWithLogs, type NewLeaf, type RequestStateToRecord } from '../finish-with-logs.ts'

export interface NewDepositRecord {
  company_id: CompanyId
  record_id: string
  request_id: string
  user_id: string
  category_id: string
  size: number
  media_type: string
  name: string
  original: Buffer
  /**
   * Undefined if only the fingerprint is stored. `stored` is the SHA-256 of the file's bytes,
   * `blobTag` its keyed hash, which names the file, and `group_id` the group that is charged.
   */
  kept: { stored: Buffer; blobTag: Buffer; group_id: string } | undefined
  transform: Record<string, unknown> | null
  request_created: Date
  request_facts: RequestStateToRecord['facts']
  now: Date
}

// `origin` is the name of the company's evidence log
interface NamesInDepositRecord {
  origin: string
  account: string
  username: string
  category: string
  visibility: string
  /** Not part of the record. */
  retention: string | null
}

async function readNames(
  tx: Tx,
  records: readonly NewDepositRecord[]
): Promise<Map<string, NamesInDepositRecord>> {
  const category_ids = [...new Set(records.map(({ category_id }) => category_id))]
  const rows = await tx
    .selectFrom('log_head')
    .innerJoin('user', 'user.company_id', 'log_head.company_id')
    .innerJoin('category', 'category.company_id', 'log_head.company_id')
    .where('log_head.company_id', '=', tx.companyId)
    .where('user.id', '=', records[0]?.user_id ?? null)
    .where(sql<boolean>`category.id = any(${category_ids}::uuid[])`)
    .select([
      'log_head.origin',
      'user.account',
      'user.username',
      'category.id',
      'category.names',
      'category.visibility',
      'category.retention'
    ])
    .execute()
  return new Map(rows.map(({ id, names, ...row }) => [id, { ...row, category: names.en }]))
}

// computed before the event loop may handle other calls
const leavesAtOnce = 8

// Writes for each the deposit's row, its tags, its encrypted openings, its entry in the history and
// its leaf in the evidence log.
export async function recordDeposits(
  tx: Tx,
  deps: Deps,
  records: readonly NewDepositRecord[]
): Promise<ProcessedRequest[]> {
  if (records.length === 0) return []
  const keys = await deps.companyKeys.read(tx)
  const namesByCategory = await readNames(tx, records)
  const rows: DepositRows[] = []
  for (const [at, record] of records.entries()) {
    if (at > 0 && at % leavesAtOnce === 0) await nextTurn()
    const names = namesByCategory.get(record.category_id)
    if (!names) throw new Error(`company ${tx.companyId} lacks the names of a record`)
    const { leaf, hash, openings } = leafOf(deps, record, names)
    const { company_id, record_id, kept, now } = record
    const { visibility, retention } = names
    rows.push({
      record,
      visibility,
      keep_until: kept && retention !== null ? retentionEnd(now, retention) : null,
      sealed: encryptOpenings(deps, keys, { company_id, record_id, openings }),
      tags: tagsOf(keys.lookup, record),
      leaf: { origin: names.origin, request_id: record.request_id, leaf_id: record_id, leaf, hash }
    })
  }
  await insertRows(tx, rows)
  const leaves = rows.map(({ leaf }) => leaf)
  return finishWithLogs(tx, deps, { states: rows.map(doneDraft), leaves })
}

interface DepositRows {
  record: NewDepositRecord
  visibility: string
  keep_until: Date | null
  sealed: Buffer
  tags: { tag: Buffer; which: string }[]
  leaf: NewLeaf
}

async function insertRows(tx: Tx, rows: readonly DepositRows[]): Promise<void> {
  const of = <Value>(read: (row: DepositRows) => Value) => rows.map(read)
  const tags = rows.flatMap(({ record, tags }) => tags.map(tag => ({ ...tag, record })))
  await sql`
    with given as (
      select * from unnest(
        ${of(({ record }) => record.record_id)}::text[],
        ${of(({ record }) => record.request_id)}::uuid[],
        ${of(({ record }) => record.user_id)}::uuid[],
        ${of(({ record }) => record.category_id)}::uuid[],
        ${of(({ visibility }) => visibility)}::text[],
        ${of(({ record }) => record.kept?.blobTag ?? null)}::bytea[],
        ${of(({ record }) => record.kept?.group_id ?? null)}::uuid[],
        ${of(({ record }) => recordedAt(record))}::timestamptz[],
        ${of(({ keep_until }) => keep_until)}::timestamptz[],
        ${of(({ sealed }) => sealed)}::bytea[]
      ) as given (
        id, request_id, user_id, category_id, visibility, blob_tag, group_id, recorded_at,
        keep_until, sealed
      )
    ), deposited as (
      insert into deposit (
        company_id, id, request_id, user_id, category_id, visibility, blob_tag, group_id,
        recorded_at, keep_until
      )
      select ${tx.companyId}::uuid, id, request_id, user_id, category_id, visibility, blob_tag,
        group_id, recorded_at, keep_until
      from given
    ), opened as (
      insert into deposit_opening (company_id, record_id, key_version, sealed)
      select ${tx.companyId}::uuid, id, ${companyKeyVersion}::int, sealed from given
    )
    insert into lookup_tag (company_id, scheme, key_version, tag, record_ref, user_id, which)
    select ${tx.companyId}::uuid, 1, ${companyKeyVersion}::int, tag, record_ref, user_id, which
    from unnest(
      ${tags.map(({ tag }) => tag)}::bytea[], ${tags.map(({ record }) => record.record_id)}::text[],
      ${tags.map(({ record }) => record.user_id)}::uuid[], ${tags.map(({ which }) => which)}::text[]
    ) as tag (tag, record_ref, user_id, which)`.execute(tx)
}

// a record states whole seconds
function recordedAt({ now }: NewDepositRecord): Date {
  return new Date(Math.floor(now.getTime() / 1000) * 1000)
}

function doneDraft({ record, keep_until, leaf }: DepositRows): RequestStateToRecord {
  return {
    id: record.request_id,
    user_id: record.user_id,
    kind: 'deposit',
    state: 'done',
    created: record.request_created,
    facts: {
      ...record.request_facts,
      ...(keep_until ? { keep_until: keep_until.toISOString() } : {}),
      recorded: recordedAt(record).toISOString(),
      leaf_hash: Buffer.from(leaf.hash).toString('hex'),
      rung: 'recorded'
    }
  }
}

export function historyFactsOf(
  file: {
    name: string
    size: number
    media_type: string
    category: string
    transform?: PictureTransform | undefined
  },
  deposit_id: string
): RequestStateToRecord['facts'] {
  const { name, size, media_type, category, transform } = file
  const facts = { name, size, media_type, category_id: category, deposit_id }
  if (!transform) return facts
  const { bytes, w, h } = transform.from
  return { ...facts, reduced_from: { bytes, w, h } }
}

function leafOf(deps: Deps, record: NewDepositRecord, names: NamesInDepositRecord) {
  const { origin, account, username, category, visibility } = names
  const values: Record<DepositField, string> = {
    actor: formatActorField(account, username),
    bytes: String(record.size),
    category,
    expires: '',
    media: record.media_type,
    name: record.name,
    orig: formatDigest(record.original),
    sig: '',
    stored: record.kept ? formatDigest(record.kept.stored) : '',
    time: formatTimestamp(recordedAt(record)),
    // as: the value comes from jsonb, so it is JSON
    transform: record.transform ? canonicalize(record.transform as Json) : '',
    visibility
  }
  // one call for all salts, because a call costs more than the bytes
  const random = deps.random(32 * (depositFields.length + 1))
  const lk = random.slice(0, 32)
  const own = depositFields.map((field, at) => [field, random.slice(32 * (at + 1), 32 * (at + 2))])
  // as: the object has an entry for every field of the list
  const salts = { ...Object.fromEntries(own), ...deriveLinkSalts(lk) } as Record<
    DepositField,
    Uint8Array
  >
  const { leaf, hash, openings } = buildDepositLeaf({ origin, id: record.record_id, values, salts })
  return {
    leaf,
    hash,
    openings: { fields: openings, lk: toBase64Url(lk) }
  }
}

function tagsOf(lookup: KeyObject, { original, kept }: NewDepositRecord) {
  const first = { tag: keyedHashOf(lookup, 'sha256', original), which: 'original' }
  if (!kept || original.equals(kept.stored)) return [first]
  return [first, { tag: keyedHashOf(lookup, 'sha256', kept.stored), which: 'stored_copy' }]
}

/**
 * Counts in UTC: one month after January 31 is the last day of February. Throws for another
 * duration than `P90D`, `P18M` or `P10Y`.
 */
export function retentionEnd(from: Date, retention: string): Date {
  const [, count = '', unit] = /^P([1-9][0-9]{0,2})([DMY])$/.exec(retention) ?? []
  const end = new Date(from)
  if (unit === 'D') end.setUTCDate(end.getUTCDate() + Number(count))
  else if (unit === 'M' || unit === 'Y') addMonths(end, Number(count) * (unit === 'Y' ? 12 : 1))
  else throw new RangeError(`retention: not a duration: ${retention}`)
  return end
}

function addMonths(date: Date, months: number): void {
  const day = date.getUTCDate()
  date.setUTCMonth(date.getUTCMonth() + months)
  // day 0 is the last day of the month before
  if (date.getUTCDate() !== day) date.setUTCDate(0)
}
