import { sql } from 'kysely'
import { deleteInCompany, selectInCompany, updateInCompany } from '../../db/company-queries.ts'
import { joinInCompany } from '../../db/joins.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { finishWithLogs, type RequestStateToRecord } from '../finish-with-logs.ts'
import { subtractStorage } from '../limits/quotas.ts'
import { deleteFilesIfUnreferenced } from './kept-files.ts'

const erasedAtOnce = 50

/**
 * Gives the storage back and notes the erasure in the history. The records stay, so the documents
 * can still be verified. If a file cannot be deleted, the job `check-files` does it later. Returns
 * whether there may be more files to erase.
 */
export async function eraseExpiredFiles(deps: Deps, company_id: CompanyId): Promise<boolean> {
  const now = deps.clock()
  const { count, unused } = await inCompany(deps.db, company_id, async tx => {
    const due = await lockDue(tx, now)
    if (due.length === 0) return { count: 0, unused: [] }
    await updateInCompany(tx, 'deposit')
      .set({ blob_tag: null, erased_at: now })
      .where(
        'id',
        'in',
        due.map(({ id }) => id)
      )
      .execute()
    const freed = await releaseBlobs(tx, due)
    await subtractStorage(
      tx,
      due.flatMap(({ group_id, user_id, tag }) => {
        const bytes = freed.sizes.get(tag.toString('hex')) ?? 0
        return group_id === null ? [] : [{ group_id, user_id, bytes }]
      })
    )
    const states = due.map(({ request }) => ({
      ...request,
      facts: { ...request.facts, erased: now.toISOString() }
    }))
    await finishWithLogs(tx, deps, { states })
    return { count: due.length, unused: freed.unused }
  })
  await deleteFilesIfUnreferenced(deps, company_id, unused)
  return count === erasedAtOnce
}

interface DueFile {
  id: string
  user_id: string
  group_id: string | null
  tag: Buffer
  request: RequestStateToRecord
}

async function lockDue(tx: Tx, now: Date): Promise<DueFile[]> {
  const rows = await selectInCompany(tx, 'deposit')
    .innerJoin('request', join => joinInCompany(join, 'request.id', 'deposit.request_id'))
    .innerJoin('log_leaf', join => joinInCompany(join, 'log_leaf.leaf_id', 'deposit.id'))
    .where('deposit.keep_until', '<=', now)
    .where('deposit.blob_tag', 'is not', null)
    .orderBy('deposit.keep_until')
    .limit(erasedAtOnce)
    .select([
      'deposit.id',
      'deposit.user_id',
      'deposit.group_id',
      'deposit.blob_tag',
      'deposit.request_id',
      'request.created_at',
      'request.facts',
      'log_leaf.idx'
    ])
    .forUpdate('deposit')
    .skipLocked()
    .execute()
  return rows.flatMap(({ blob_tag: tag, ...row }) => {
    if (!tag) return []
    const request = {
      id: row.request_id,
      user_id: row.user_id,
      kind: 'deposit' as const,
      state: 'done' as const,
      created: row.created_at,
      // as: written by finishWithLogs. With the index, a reader of the stream sees whether it is sealed.
      facts: { ...(row.facts as RequestStateToRecord['facts']), leaf_index: row.idx }
    }
    return [{ id: row.id, user_id: row.user_id, group_id: row.group_id, tag, request }]
  })
}

// `sizes` is by tag (hex); `unused` are the tags to which no deposit refers any more
async function releaseBlobs(
  tx: Tx,
  due: readonly DueFile[]
): Promise<{ sizes: Map<string, number>; unused: Buffer[] }> {
  const sizes = new Map<string, number>()
  const unused: Buffer[] = []
  // in the order in which deposits lock several files
  const byTag = [...Map.groupBy(due, ({ tag }) => tag.toString('hex'))].toSorted(([a], [b]) =>
    a < b ? -1 : 1
  )
  for (const [hex, same] of byTag) {
    const tag = Buffer.from(hex, 'hex')
    const left = await updateInCompany(tx, 'blob')
      .set({ refs: sql<number>`refs - ${same.length}::int` })
      .where('tag', '=', tag)
      .returning(['refs', 'size'])
      .executeTakeFirstOrThrow()
    sizes.set(hex, left.size)
    if (left.refs > 0) continue
    unused.push(tag)
    await deleteInCompany(tx, 'blob').where('tag', '=', tag).execute()
  }
  return { sizes, unused }
}
