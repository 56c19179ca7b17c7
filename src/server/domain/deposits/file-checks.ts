import { sql } from 'kysely'
import { selectInCompany } from '../../db/company-queries.ts'
import { inCompany } from '../../db/scope.ts'
import { listCompanyIds } from '../companies/companies.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { keyedHashOf } from '../evidence/keyed-hashes.ts'
import { deleteFilesIfUnreferenced } from './kept-files.ts'

// a younger file without upload and deposit may belong to a transaction that has not committed yet
const orphanHours = 24
const pageRows = 1000
// small, because deposits of the same bytes must wait for the transaction
const discardedAtOnce = 100

export interface StoredFilesCheckReport {
  checked: number
  /** Tags (hex) of deposited files that are missing on disk or have the wrong size. */
  missing: string[]
  /** Tags (hex) of deposited files whose bytes on disk have changed. */
  damaged: string[]
  /** How many files were deleted that belonged to no upload and no deposit. */
  removed: number
}

/** `rehash` is the fraction of the files to read, from 0 to 1, which are a random sample. */
export async function checkFilesAndDeleteOrphans(
  deps: Deps,
  company_id: CompanyId,
  rehash: number
): Promise<StoredFilesCheckReport> {
  const before = new Date(deps.clock().getTime() - orphanHours * 3_600_000)
  const report = await checkKept(deps, company_id, rehash)
  report.removed += await removeStaged(deps, company_id, before)
  report.removed += await removeKept(deps, company_id, before)
  return report
}

/**
 * Only a note on disk counts as proof that a company was removed. Missing database rows are none:
 * after an older backup was restored, the rows of newer companies are missing too.
 */
export async function deleteFilesOfRemovedCompanies(
  deps: Pick<Deps, 'db' | 'blobs' | 'clock' | 'log'>
): Promise<void> {
  const removals = await deps.blobs.listRemovals()
  if (removals.length === 0) return
  const before = new Date(deps.clock().getTime() - orphanHours * 3_600_000)
  const living = new Set(await listCompanyIds(deps))
  for (const { company, at } of removals) {
    try {
      if (!living.has(company)) await deps.blobs.removeCompany(company)
      // after a day no process can still be writing the company's files; or the company exists,
      // because its removal failed
      if (at < before) await deps.blobs.forgetRemoval(company)
    } catch (error) {
      // tried again within the hour
      deps.log.error(
        { company, err: error },
        'the removal of a company’s files could not be finished: it is tried again within the hour'
      )
    }
  }
}

async function checkKept(
  deps: Deps,
  company_id: CompanyId,
  rehash: number
): Promise<StoredFilesCheckReport> {
  const report: StoredFilesCheckReport = { checked: 0, missing: [], damaged: [], removed: 0 }
  const { lookup } = await deps.companyKeys.open(company_id)
  for (let last = Buffer.alloc(0); ; ) {
    const rows = await inCompany(deps.db, company_id, tx =>
      selectInCompany(tx, 'blob')
        .select(['tag', 'size'])
        .where('refs', '>', 0)
        .where('tag', '>', last)
        .orderBy('tag')
        .limit(pageRows)
        .execute()
    )
    for (const { tag, size } of rows) {
      report.checked++
      if ((await deps.blobs.sizeKept(company_id, tag)) !== size) {
        report.missing.push(tag.toString('hex'))
      } else if (isChosen(deps, rehash)) {
        const found = await deps.blobs.digestKept(company_id, tag)
        const isWhole = found && keyedHashOf(lookup, 'blob', found.sha256).equals(tag)
        if (!isWhole) report.damaged.push(tag.toString('hex'))
      }
    }
    const end = rows.at(-1)
    if (!end || rows.length < pageRows) return report
    last = Buffer.from(end.tag)
  }
}

function isChosen(deps: Pick<Deps, 'random'>, share: number): boolean {
  return Buffer.from(deps.random(4)).readUInt32BE() < share * 2 ** 32
}

async function removeStaged(deps: Deps, company_id: CompanyId, before: Date): Promise<number> {
  let removed = 0
  const files = await deps.blobs.listStaged(company_id, before)
  for (let at = 0; at < files.length; at += pageRows) {
    const page = files.slice(at, at + pageRows)
    const live = await inCompany(deps.db, company_id, tx =>
      selectInCompany(tx, 'upload')
        .select(['id', 'generation'])
        .where(sql<boolean>`id = any(${page.map(({ id }) => id)}::text[])`)
        .where('state', '<>', 'settled')
        .execute()
    )
    const spared = new Set(live.map(({ id, generation }) => `${id} ${generation}`))
    for (const file of page) {
      if (spared.has(`${file.id} ${file.generation}`)) continue
      await deps.blobs.discardStaged(file)
      removed++
    }
  }
  return removed
}

async function removeKept(deps: Deps, company_id: CompanyId, before: Date): Promise<number> {
  let removed = 0
  let batch: Buffer[] = []
  const look = async () => {
    const known = await knownTags(deps, company_id, batch)
    const old: Buffer[] = []
    for (const tag of batch) {
      if (known.has(tag.toString('hex'))) continue
      const changed = await deps.blobs.changedKept(company_id, tag)
      if (changed && changed < before) old.push(tag)
    }
    for (let at = 0; at < old.length; at += discardedAtOnce) {
      removed += await deleteFilesIfUnreferenced(
        deps,
        company_id,
        old.slice(at, at + discardedAtOnce)
      )
    }
    batch = []
  }
  for await (const tag of deps.blobs.listKept(company_id)) {
    batch.push(tag)
    if (batch.length === pageRows) await look()
  }
  if (batch.length > 0) await look()
  return removed
}

async function knownTags(
  deps: Pick<Deps, 'db'>,
  company_id: CompanyId,
  tags: Buffer[]
): Promise<Set<string>> {
  const rows = await inCompany(deps.db, company_id, tx =>
    selectInCompany(tx, 'blob')
      .select('tag')
      .where(sql<boolean>`tag = any(${tags}::bytea[])`)
      .execute()
  )
  return new Set(rows.map(({ tag }) => tag.toString('hex')))
}
