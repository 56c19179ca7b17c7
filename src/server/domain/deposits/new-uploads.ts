import { sql } from 'kysely'
import type { PictureTransform } from '../../../contract/deposits.ts'
import { AppError } from '../../../contract/kit/errors.ts'
import type { ProcessedRequest } from '../../../contract/requests.ts'
import type { Tx } from '../../db/scope.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { finishWithLogs, type RequestStateToRecord } from '../finish-with-logs.ts'
import { newId, newRandomId } from '../ids.ts'
import { reserveQuota } from '../limits/quotas.ts'
import { historyFactsOf } from './deposit-records.ts'
import { encryptDigest } from './upload-digests.ts'

interface AwaitedFile {
  company_id: CompanyId
  user_id: string
  name: string
  size: number
  media_type: string
  category: string
  transform?: PictureTransform | undefined
  /** Undefined if the service computes them later from the bytes. */
  digests: { original: Buffer; stored: Buffer } | undefined
}

const maxOpenUploads = 2000

export async function openUpload(
  tx: Tx,
  deps: Deps,
  file: AwaitedFile
): Promise<{ request: ProcessedRequest; upload_id: string }> {
  const { company_id, user_id, category, size, media_type, name, digests } = file
  const now = deps.clock()
  // the reservation locks the group's usage, so that parallel calls of a person are counted one
  // after the other
  const need = { category_id: category, requests: 1, bytes: size }
  const held = await reserveQuota(tx, { company_id, user_id, now, ...need })
  await requireFewOpenUploads(tx, user_id)
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
      category_id: category,
      record_id,
      size,
      media_type,
      name,
      original: digests ? encryptDigest(deps.keys, file, digests.original) : null,
      stored: digests ? encryptDigest(deps.keys, file, digests.stored) : null,
      transform: file.transform ? JSON.stringify(file.transform) : null,
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
    facts: historyFactsOf(file, record_id)
  }
  const [request] = await finishWithLogs(tx, deps, { states: [state] })
  return { request, upload_id }
}

async function requireFewOpenUploads(tx: Tx, user_id: string): Promise<void> {
  const { rows } = await sql<{ open: number }>`
    select count(*)::int as open from (
      select from upload
      where company_id = ${tx.companyId}::uuid and user_id = ${user_id}::uuid
        and state = 'uploading'
      limit ${maxOpenUploads}::int
    ) as uploads`.execute(tx)
  const open = rows[0]?.open ?? 0
  if (open < maxOpenUploads) return
  throw new AppError(
    'upload_limit_reached',
    `A person has at most ${maxOpenUploads} open uploads`,
    {
      figures: { used: open, limit: maxOpenUploads, resets_at: null }
    }
  )
}
