import type { KeyObject } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Selectable } from 'kysely'
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
import { retentionEnd } from '../../../core/retention.ts'
import type { Database } from '../../db/schema.ts'
import type { Tx } from '../../db/scope.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { companyKeyVersion, keyedHashOf } from '../evidence/company-keys.ts'
import { encryptAndStoreOpenings } from '../evidence/sealed-openings.ts'
import { finishWithLogs, type NewLeaf, type RequestStateToRecord } from '../finish-with-logs.ts'

/** A deposit to record, and what the history shows about it. */
export interface NewDepositRecord {
  company_id: CompanyId
  record_id: string
  request_id: string
  user_id: string
  category_id: string
  size: number
  media_type: string
  name: string
  names: NamesInDepositRecord
  original: Buffer
  /**
   * Describes the file that the service stores for the deposit. `stored` is the SHA-256 of its
   * bytes. `blobTag` is the keyed hash of `stored` and names the file on disk. `group_id` is the
   * group that is charged for the file. Undefined if only the fingerprint is stored, not the file.
   */
  kept: { stored: Buffer; blobTag: Buffer; group_id: string } | undefined
  transform: Record<string, unknown> | null
  request_created: Date
  request_facts: RequestStateToRecord['facts']
  now: Date
}

/**
 * The names that are written into the record of a deposit. `origin` is the name of the company's
 * evidence log. The other names describe the depositor and the category.
 */
export interface NamesInDepositRecord {
  origin: string
  account: string
  username: string
  category: string
  visibility: string
  /**
   * How long the service keeps the files of the category, such as `P90D` or `P10Y`. Null means
   * forever. This is not part of the record.
   */
  retention: string | null
}

interface NamesQuery {
  company_id: CompanyId
  user_id: string
  category_id: string
}

/**
 * Reads, for the record of a deposit, the name of the company's evidence log, the depositor's
 * account and username, and the category's English name, visibility and retention. Throws if the
 * user or the category does not exist.
 */
export async function readNamesForRecord(tx: Tx, of: NamesQuery): Promise<NamesInDepositRecord> {
  const [row] = await namesOf(tx, of).execute()
  if (!row) throw new Error(`company ${of.company_id} lacks the names of a record`)
  const { names, ...others } = row
  return { ...others, category: names.en }
}

const namesOf = (tx: Tx, { company_id, user_id, category_id }: NamesQuery) =>
  tx
    .selectFrom('log_head')
    .innerJoin('user', 'user.company_id', 'log_head.company_id')
    .innerJoin('category', 'category.company_id', 'log_head.company_id')
    .where('log_head.company_id', '=', company_id)
    .where('user.id', '=', user_id)
    .where('category.id', '=', category_id)
    .select([
      'log_head.origin',
      'user.account',
      'user.username',
      'category.names',
      'category.visibility',
      'category.retention'
    ])

/**
 * Records a deposit and returns its request (entry of the history). Writes the deposit's row, its
 * tags (keyed hashes for look-ups), its encrypted openings (salts, values and link key), its entry
 * in the history and its leaf in the evidence log.
 */
export async function recordDeposit(
  tx: Tx,
  deps: Deps,
  record: NewDepositRecord
): Promise<ProcessedRequest> {
  const [request] = await recordDeposits(tx, deps, [record])
  if (!request) throw new Error('a record was written and not answered')
  return request
}

/** The number of log leaves that are computed before the event loop may handle other calls. */
const leavesAtOnce = 8

/**
 * Records several deposits with few statements, in the given order, each as `recordDeposit` does.
 * Returns their requests (entries of the history).
 */
export async function recordDeposits(
  tx: Tx,
  deps: Deps,
  records: readonly NewDepositRecord[]
): Promise<ProcessedRequest[]> {
  const keys = await deps.companyKeys.read(tx)
  const leaves: ReturnType<typeof leafOf>[] = []
  for (const [at, record] of records.entries()) {
    if (at > 0 && at % leavesAtOnce === 0) await nextTurn()
    leaves.push(leafOf(deps, record, recordedAt(record)))
  }
  const drafts: RequestStateToRecord[] = []
  const newLeaves: NewLeaf[] = []
  for (const [at, record] of records.entries()) {
    const leaf = leaves[at]
    if (!leaf) throw new Error('a record has no leaf')
    const { company_id, record_id, request_id, user_id, category_id } = record
    const { visibility } = record.names
    const blob_tag = record.kept?.blobTag ?? null
    const group_id = record.kept?.group_id ?? null
    await insertDeposit(tx, {
      ...{ company_id, id: record_id, request_id, user_id, category_id },
      ...{ visibility, blob_tag, group_id },
      ...{ recorded_at: recordedAt(record), keep_until: keepUntil(record) ?? null }
    }).execute()
    await encryptAndStoreOpenings(tx, deps, keys, {
      company_id,
      record_id,
      openings: leaf.openings
    })
    for (const tag of tagsOf(keys.lookup, record)) {
      await insertTag(tx, { company_id, user_id, record_id, ...tag }).execute()
    }
    drafts.push(doneDraft(record, leaf.hash))
    newLeaves.push({ record_id, leaf: leaf.leaf, hash: leaf.hash })
  }
  return finishWithLogs(tx, deps, { states: drafts, leaves: newLeaves })
}

/**
 * Returns the time that a record states: the time of the deposit, rounded down to a whole second.
 */
function recordedAt({ now }: NewDepositRecord): Date {
  return new Date(Math.floor(now.getTime() / 1000) * 1000)
}

function keepUntil({ kept, names, now }: NewDepositRecord): Date | undefined {
  if (!kept || names.retention === null) return undefined
  return retentionEnd(now, names.retention)
}

function doneDraft(record: NewDepositRecord, hash: Uint8Array): RequestStateToRecord {
  const keep_until = keepUntil(record)?.toISOString()
  return {
    id: record.request_id,
    user_id: record.user_id,
    kind: 'deposit',
    state: 'done',
    created: record.request_created,
    facts: {
      ...record.request_facts,
      ...(keep_until === undefined ? {} : { keep_until }),
      recorded: recordedAt(record).toISOString(),
      leaf_hash: Buffer.from(hash).toString('hex'),
      rung: 'recorded'
    }
  }
}

const insertDeposit = (tx: Tx, row: Omit<Selectable<Database['deposit']>, 'erased_at'>) =>
  tx.insertInto('deposit').values({
    company_id: row.company_id,
    id: row.id,
    request_id: row.request_id,
    user_id: row.user_id,
    category_id: row.category_id,
    visibility: row.visibility,
    blob_tag: row.blob_tag,
    recorded_at: row.recorded_at,
    keep_until: row.keep_until,
    group_id: row.group_id
  })

interface Tag {
  company_id: CompanyId
  user_id: string
  record_id: string
  tag: Buffer
  which: string
}

const insertTag = (tx: Tx, { company_id, user_id, record_id, tag, which }: Tag) =>
  tx.insertInto('lookup_tag').values({
    company_id,
    scheme: 1,
    key_version: companyKeyVersion,
    tag,
    record_ref: record_id,
    user_id,
    which
  })

function leafOf(deps: Deps, record: NewDepositRecord, time: Date) {
  const { origin, account, username, category, visibility } = record.names
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
    time: formatTimestamp(time),
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
