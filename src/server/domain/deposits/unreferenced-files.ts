import { sql } from 'kysely'
import { deleteInCompany, selectInCompany } from '../../db/company-queries.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { keyedHashOf } from '../evidence/company-keys.ts'
import { decryptDigest } from './upload-digests.ts'

/**
 * Deletes each stored file that `tags` names, unless a deposit or an upload refers to it. A tag is
 * the keyed hash of a file's bytes. Returns the number of deleted files. While a file is being
 * deleted, a row in the table `blob` marks it. A deposit of the same bytes waits for that row and
 * then stores a file of its own. All code that deletes single stored files must call this function.
 */
export async function deleteFilesIfUnreferenced(
  deps: Pick<Deps, 'db' | 'blobs' | 'keys' | 'clock' | 'companyKeys'>,
  company_id: CompanyId,
  tags: Buffer[]
): Promise<number> {
  return inCompany(deps.db, company_id, async tx => {
    // the insert skips tags that have a row already
    const { rows: claimed } = await sql<{ tag: Buffer }>`
      insert into blob (company_id, tag, size, refs, created_at)
      select ${company_id}::uuid, tag, 0, 0, ${deps.clock()}::timestamptz from unnest(${tags}::bytea[]) as tag
      order by tag
      on conflict (company_id, tag) do nothing returning tag`.execute(tx)
    if (claimed.length === 0) return 0
    const awaited = await tagsOfUploads(tx, deps, company_id)
    const discarded = claimed.filter(({ tag }) => !awaited.has(tag.toString('hex')))
    for (const { tag } of discarded) await deps.blobs.discardKept(company_id, tag)
    await deleteInCompany(tx, 'blob')
      .where(sql<boolean>`tag = any(${claimed.map(({ tag }) => tag)}::bytea[])`)
      .execute()
    return discarded.length
  })
}

/**
 * Returns the tags (keyed hashes in hex) of files whose bytes have arrived but whose deposit does
 * not exist yet. Such a file must not be deleted. It may already be at its final path, although the
 * transaction that moved it did not commit.
 */
async function tagsOfUploads(
  tx: Tx,
  deps: Pick<Deps, 'keys' | 'companyKeys'>,
  company_id: CompanyId
): Promise<Set<string>> {
  const { lookup } = await deps.companyKeys.read(tx)
  const uploads = await selectInCompany(tx, 'upload')
    .select(['user_id', 'stored'])
    .where('state', 'in', ['received', 'held'])
    .where('stored', 'is not', null)
    .execute()
  return new Set(
    uploads.flatMap(({ user_id, stored }) => {
      if (!stored) return []
      const digest = decryptDigest(deps.keys, { company_id, user_id }, stored)
      return [keyedHashOf(lookup, 'blob', digest).toString('hex')]
    })
  )
}
