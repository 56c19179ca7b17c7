import type * as z from 'zod/mini'
import {
  type Deposit,
  type getUnfinishedUpload as getUnfinishedUploadCall,
  PictureTransform
} from '../../../contract/deposits.ts'
import { AppError } from '../../../contract/kit/errors.ts'
import { toHex } from '../../../core/bytes.ts'
import type { DepositField } from '../../../core/evidence/deposit-leaf.ts'
import { parseDigest } from '../../../core/evidence/formats.ts'
import { selectInCompany } from '../../db/company-queries.ts'
import { joinInCompany } from '../../db/joins.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { readOpeningsOfDeposit } from '../evidence/sealed-openings.ts'
import { readSeals } from '../evidence/seals.ts'
import { decryptDigest } from './upload-digests.ts'

/** `input.id` is the id of the upload's request (entry of the history). */
export async function getUnfinishedUpload(
  deps: Pick<Deps, 'db' | 'keys'>,
  input: FindInput
): Promise<z.output<(typeof getUnfinishedUploadCall)['output']>> {
  const found = await inCompany(deps.db, input.company_id, tx =>
    selectInCompany(tx, 'upload')
      .where('user_id', '=', input.user_id)
      .where('request_id', '=', input.id)
      .where('state', '=', 'uploading')
      .selectAll()
      .executeTakeFirst()
  )
  // an upload of `PUT /deposit` has no fingerprint yet and cannot be continued
  if (!found?.original || !found.stored) throw new AppError('not_found', 'No such open upload')
  const from = found.transform ? PictureTransform.parse(found.transform).from : undefined
  return {
    upload: `/uploads/${found.id}`,
    name: found.name,
    category: found.category_id,
    size: from?.bytes ?? found.size,
    media_type: from?.type ?? found.media_type,
    original: toHex(decryptDigest(deps.keys, input, found.original)),
    bytes: found.size,
    stored: toHex(decryptDigest(deps.keys, input, found.stored))
  }
}

interface FindInput {
  company_id: CompanyId
  user_id: string
  id: string
}

export async function getDeposit(
  deps: Pick<Deps, 'db' | 'companyKeys'>,
  input: FindInput
): Promise<Deposit> {
  return inCompany(deps.db, input.company_id, async tx => {
    const row = await find(tx, input)
    const value = await valuesOf(tx, deps, input)
    const seal = (await readSeals(tx, [row.id])).get(row.id)
    if (!seal) throw new Error(`deposit ${row.id} has no leaf`)
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
      ...(transform === '' ? {} : { transform: PictureTransform.parse(JSON.parse(transform)) }),
      visibility: row.visibility,
      leaf_hash: row.hash.toString('hex'),
      ...seal
    }
  })
}

/**
 * `tag` is the keyed hash under which the file is stored. Throws `not_found` if the deposit stores
 * no bytes.
 */
export async function getStoredFileMetadata(
  deps: Pick<Deps, 'db' | 'companyKeys'>,
  input: FindInput
): Promise<StoredFileMetadata> {
  return inCompany(deps.db, input.company_id, async tx => {
    const { blob_tag: tag, size } = await find(tx, input)
    const value = await valuesOf(tx, deps, input)
    if (!tag || size === null) {
      throw new AppError('not_found', 'No file of this deposit is stored')
    }
    return {
      tag,
      size,
      name: value('name'),
      media_type: value('media'),
      sha256: parseDigest(value('stored')),
      isReduced: value('transform') !== ''
    }
  })
}

export interface StoredFileMetadata {
  tag: Buffer
  size: number
  name: string
  media_type: string
  sha256: Uint8Array
  isReduced: boolean
}

async function valuesOf(
  tx: Tx,
  deps: Pick<Deps, 'companyKeys'>,
  { company_id, id }: FindInput
): Promise<(field: DepositField) => string> {
  const { fields } = await readOpeningsOfDeposit(tx, deps, { company_id, record_id: id })
  return field => fields[field]?.value ?? ''
}

async function find(tx: Tx, input: FindInput) {
  const row = await selectInCompany(tx, 'deposit')
    .innerJoin('request', join => joinInCompany(join, 'request.id', 'deposit.request_id'))
    .leftJoin('blob', join => joinInCompany(join, 'blob.tag', 'deposit.blob_tag'))
    .innerJoin('log_leaf', join => joinInCompany(join, 'log_leaf.leaf_id', 'deposit.id'))
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
