import { sql } from 'kysely'
import { deleteInCompany, selectInCompany, updateInCompany } from '../../db/company-queries.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import type { CompanyId, Deps, FileDigest, StagedFileId } from '../deps.ts'
import { keyedHashOf } from '../evidence/keyed-hashes.ts'
import { decryptDigest } from './upload-digests.ts'

export interface KeptPlace {
  /** The keyed hash of the bytes, which names the kept file. */
  tag: Buffer
  /** The digest of the file that is there, if any. */
  found: FileDigest | undefined
  /**
   * The inode number of the file that is there, if its bytes have changed: a new file must replace
   * it.
   */
  damaged: number | undefined
}

export async function findKeptPlace(
  deps: Pick<Deps, 'blobs' | 'companyKeys'>,
  company_id: CompanyId,
  sha256: Buffer
): Promise<KeptPlace> {
  const { lookup } = await deps.companyKeys.open(company_id)
  const tag = keyedHashOf(lookup, 'blob', sha256)
  const size = await deps.blobs.sizeKept(company_id, tag)
  const found = size === undefined ? undefined : await deps.blobs.digestKept(company_id, tag)
  return { tag, found, damaged: found && !found.sha256.equals(sha256) ? found.inode : undefined }
}

export interface FileToKeep extends Pick<KeptPlace, 'tag' | 'damaged'> {
  staged: StagedFileId
  size: number
}

const movesAtOnce = 4

// also locks the rows in `blob`, for which a deletion of the same bytes waits
export async function keepFiles(
  tx: Tx,
  { blobs, clock }: Pick<Deps, 'blobs' | 'clock'>,
  files: readonly FileToKeep[]
): Promise<void> {
  if (files.length === 0) return
  await sql`
    insert into blob (company_id, tag, size, refs, created_at)
    select ${tx.companyId}::uuid, tag, min(size), count(*), ${clock()}::timestamptz
    from unnest(
      ${files.map(({ tag }) => tag)}::bytea[], ${files.map(({ size }) => size)}::bigint[]
    ) as file (tag, size)
    group by tag order by tag
    on conflict (company_id, tag) do update set refs = blob.refs + excluded.refs`.execute(tx)
  const queue = files.values()
  const moveNext = async () => {
    for (const { staged, tag, damaged } of queue) await blobs.keep(staged, tag, damaged)
  }
  await Promise.all(Array.from({ length: movesAtOnce }, moveNext))
}

// does not delete the files: call `deleteFilesIfUnreferenced` after the transaction
export async function giveUpFiles(tx: Tx, files: readonly FileToKeep[]): Promise<void> {
  for (const { tag } of files) {
    await updateInCompany(tx, 'blob').set({ refs: sql`refs - 1` }).where('tag', '=', tag).execute()
    await deleteInCompany(tx, 'blob').where('tag', '=', tag).where('refs', '=', 0).execute()
  }
}

// While a file is being deleted, a row in the table `blob` marks it. A deposit of the same bytes
// waits for that row and then stores a file of its own. All code that deletes single stored files
// must call this function.
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

// Files whose bytes have arrived but whose deposit does not exist yet. Such a file may already be
// at its final path, although the transaction that moved it did not commit.
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
