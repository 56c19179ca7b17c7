import type * as z from 'zod/mini'
import {
  type createDeposit as createDepositCall,
  type Deposit,
  Transform
} from '../../contract/deposits.ts'
import { AppError } from '../../contract/errors.ts'
import type { ProcessedRequest } from '../../contract/requests.ts'
import { parseDigest, toHex } from '../../core/evidence/bytes.ts'
import type { DepositField } from '../../core/evidence/leaf.ts'
import { inCompany, type Tx } from '../db/scope.ts'
import type { CompanyId, Deps } from './deps.ts'
import { type Act, once } from './idempotency.ts'
import { newId, newRecordId } from './ids.ts'
import { readOpenings } from './openings.ts'
import { publish } from './requests.ts'
import { reserve } from './usage.ts'

interface CreateInput {
  company_id: CompanyId
  user_id: string
  act: Act
  deposit: z.output<(typeof createDepositCall)['input']>
}

interface Created {
  request: ProcessedRequest
  /** Address of the upload: `/uploads/<id>`. */
  upload: string
}

/** Reserves quota and makes the request and its upload, all or nothing. */
export async function createDeposit(
  deps: Deps,
  input: CreateInput
): Promise<{ body: Created; replayed: boolean }> {
  const { company_id, user_id, deposit } = input
  if (deposit.size === 0) throw new AppError('file_empty', 'An empty file cannot be deposited')
  if (deposit.size > deps.settings.maxUploadBytes) {
    throw new AppError('too_large', `A file has at most ${deps.settings.maxUploadBytes} bytes`)
  }
  if (!deposit.transform && deposit.original !== deposit.stored) {
    throw new AppError('fingerprint_invalid', 'Without a transform both fingerprints are equal')
  }
  const sent = deposit.transform?.to
  if (sent && (sent.bytes !== deposit.size || sent.type !== deposit.media_type)) {
    throw new AppError('fingerprint_invalid', 'The transform says other bytes than are announced')
  }
  const now = deps.clock()
  return inCompany(deps.db, company_id, tx =>
    once(tx, { company_id, now, act: input.act }, async () => {
      await requireCategory(tx, input)
      const held = await reserve(tx, {
        company_id,
        user_id,
        category_id: deposit.category,
        requests: 1,
        bytes: deposit.size,
        now
      })
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
          category_id: deposit.category,
          record_id,
          size: deposit.size,
          media_type: deposit.media_type,
          name: deposit.name,
          original: Buffer.from(deposit.original, 'hex'),
          stored: Buffer.from(deposit.stored, 'hex'),
          transform: deposit.transform ? JSON.stringify(deposit.transform) : null,
          state: 'uploading',
          group_id: held.group_id,
          period_start: held.period_start,
          leased_until: null,
          created_at: now,
          active_at: now
        })
        .execute()
      const request = await publish(tx, deps, company_id, {
        id: request_id,
        user_id,
        kind: 'deposit',
        state: 'uploading',
        created: now,
        facts: {
          name: deposit.name,
          size: deposit.size,
          media_type: deposit.media_type,
          category_id: deposit.category,
          deposit_id: record_id
        }
      })
      return { request, upload: `/uploads/${upload_id}` }
    })
  )
}

async function requireCategory(tx: Tx, input: CreateInput): Promise<void> {
  const allowed = await tx
    .selectFrom('group_category')
    .innerJoin('group_user', join =>
      join
        .onRef('group_user.company_id', '=', 'group_category.company_id')
        .onRef('group_user.group_id', '=', 'group_category.group_id')
    )
    .innerJoin('group', join =>
      join
        .onRef('group.company_id', '=', 'group_category.company_id')
        .onRef('group.id', '=', 'group_category.group_id')
    )
    .where('group_category.company_id', '=', input.company_id)
    .where('group_category.category_id', '=', input.deposit.category)
    .where('group_user.user_id', '=', input.user_id)
    .select('group.features')
    .execute()
  // missing, foreign and not allowed answer alike
  if (allowed.length === 0) {
    throw new AppError('category_unknown', 'The caller may not deposit in this category')
  }
  if (!allowed.some(group => group.features.includes('deposit'))) {
    throw new AppError('forbidden', 'No group of the caller has the feature deposit')
  }
}

interface FindInput {
  company_id: CompanyId
  user_id: string
  id: string
}

/** A deposit of the caller; its values come from the sealed openings. */
export async function getDeposit(
  deps: Pick<Deps, 'db' | 'keys'>,
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
      size: row.size,
      media_type: value('media'),
      category_id: row.category_id,
      created: row.created_at.toISOString(),
      recorded: row.recorded_at.toISOString(),
      original: toHex(parseDigest(value('orig'))),
      stored: toHex(parseDigest(value('stored'))),
      ...(transform === '' ? {} : { transform: Transform.parse(JSON.parse(transform)) }),
      visibility: row.visibility,
      leaf_hash: row.hash.toString('hex')
    }
  })
}

/** What a download of a deposit needs: where the bytes are and what to call them. */
export async function findContent(
  deps: Pick<Deps, 'db' | 'keys'>,
  input: FindInput
): Promise<{ tag: Buffer; size: number; name: string; media_type: string; sha256: Uint8Array }> {
  return inCompany(deps.db, input.company_id, async tx => {
    const row = await find(tx, input)
    const value = await valuesOf(tx, deps, input)
    return {
      tag: row.blob_tag,
      size: row.size,
      name: value('name'),
      media_type: value('media'),
      sha256: parseDigest(value('stored'))
    }
  })
}

async function valuesOf(
  tx: Tx,
  deps: Pick<Deps, 'keys'>,
  { company_id, id }: FindInput
): Promise<(field: DepositField) => string> {
  const { fields } = await readOpenings(tx, deps, { company_id, record_id: id })
  return field => fields[field]?.value ?? ''
}

async function find(tx: Tx, input: FindInput) {
  const row = await tx
    .selectFrom('deposit')
    .innerJoin('request', join =>
      join
        .onRef('request.company_id', '=', 'deposit.company_id')
        .onRef('request.id', '=', 'deposit.request_id')
    )
    .innerJoin('blob', join =>
      join
        .onRef('blob.company_id', '=', 'deposit.company_id')
        .onRef('blob.tag', '=', 'deposit.blob_tag')
    )
    .innerJoin('log_leaf', join =>
      join
        .onRef('log_leaf.company_id', '=', 'deposit.company_id')
        .onRef('log_leaf.record_id', '=', 'deposit.id')
    )
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
