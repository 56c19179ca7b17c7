import { sql } from 'kysely'
import { AppError } from '../../../contract/kit/errors.ts'
import { registerLimits } from '../../../contract/kit/limits.ts'
import type { RegisterColumn } from '../../../contract/registers.ts'
import { fromHex } from '../../../core/bytes.ts'
import { appendLeaf, emptyTree, hashLeaf, rootOf } from '../../../core/evidence/merkle-tree.ts'
import { selectById, selectInCompany, updateById } from '../../db/company-queries.ts'
import { joinInCompany } from '../../db/joins.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import { type AdminCall, addAuditEntry } from '../audit/audit-entries.ts'
import type { CompanyId, Deps } from '../deps.ts'

// A version is a list of segments. To run an import or to undo it only writes the next version, so
// both take milliseconds, however many rows there are.

interface Act {
  /** Of the import. */
  id: string
  by: AdminCall['by']
}

const versionBefore = sql`(
  select version.erased_at is null from register_version as version
   where version.company_id = register_import.company_id
     and version.source_id = register_import.source_id
     and version.number = register_import.number - 1)`

const endedAtOnce = 100

/** For a query on `register_import` and its `data_source`. */
export const isUndoable = sql<boolean>`(
  register_import.state = 'done' and register_import.number is not null and (
    register_import.number = data_source.number
      and (register_import.number = 1 or coalesce(${versionBefore}, false))
    or register_import.mode = 'append'
      and register_import.segment = any (data_source.segments)))`

/** Rows of one register have the same cells, so that a look-up can show them. */
export function haveSameCells(
  one: readonly RegisterColumn[],
  other: readonly RegisterColumn[]
): boolean {
  const cells = (columns: readonly RegisterColumn[]) =>
    JSON.stringify(columns.map(({ header, use, shown }) => [header, use, shown]))
  return cells(one) === cells(other)
}

export async function runImport(
  tx: Tx,
  deps: Pick<Deps, 'clock' | 'random' | 'signals'>,
  { id, by, skip_refused }: Act & { skip_refused: boolean }
): Promise<void> {
  const { source, found } = await lockWithSource(tx, id)
  if (found.state !== 'checked' || found.checked_number !== source.number) {
    throw new AppError('import_state', 'The import is not checked against the newest version')
  }
  const { counts, segment } = found
  if (!counts || segment === null) throw new Error('a checked import has counts and a segment')
  if (counts.refused > 0 && !skip_refused) {
    throw new AppError('import_refused_rows', `${counts.refused} rows are refused`)
  }
  const now = deps.clock()
  const isUnchanged = counts.new + counts.changed + counts.removed === 0
  const segments = found.mode === 'append' ? [...source.segments, segment] : [segment]
  const number = source.number + 1
  // a list to which rows are added keeps its columns, whose labels people may have changed, and its
  // dialect: the next file of the whole list is not written like a few mended rows
  const isAdded = found.mode === 'append' && source.number > 0
  // a list with other columns may have replaced the one to which rows were to be added
  if (isAdded && !haveSameCells(source.columns, found.columns)) {
    throw new AppError('import_state', 'The columns of the list have changed')
  }
  const columns = isAdded ? source.columns : found.columns
  if (!isUnchanged) {
    const version = { number, segments, mode: found.mode, by, now }
    const changes = { added: counts.new, changed: counts.changed, removed: counts.removed }
    await insertVersion(tx, { id: source.id, columns }, { ...version, ...changes })
  }
  await changeSource(tx, source.id, columns, {
    checked_at: now,
    ...(!isUnchanged && { number, segments }),
    ...(!isAdded && { dialect: JSON.stringify(found.dialect) })
  })
  await updateById(tx, 'register_import', id)
    .set({ state: 'done', number: isUnchanged ? null : number, skip_refused })
    .execute()
  addAuditEntry(tx, deps, {
    by,
    action: 'data_source.import',
    target: source.id,
    after: {
      ...namesOf(source, found),
      mode: found.mode,
      ...(isUnchanged ? {} : { number }),
      // an import of people has other words for its counts
      ...Object.fromEntries(
        Object.entries(counts)
          .filter(([, count]) => count > 0)
          .map(([name, count]) => [`${name}_rows`, count])
      )
    }
  })
  // the rows of a file that changes nothing are erased
  if (isUnchanged) tx.afterCommit(() => deps.signals.registers.send(tx.companyId))
}

export async function undoImport(
  tx: Tx,
  deps: Pick<Deps, 'clock' | 'random'>,
  { id, by }: Act
): Promise<void> {
  const { source, found } = await lockWithSource(tx, id)
  if (!found.undoable) throw new AppError('import_state', 'The import cannot be undone')
  const { counts, segment } = found
  if (!counts) throw new Error('an import that ran has counts')
  const isNewest = found.number === source.number
  const before = isNewest ? await lockVersion(tx, source.id, source.number - 1) : undefined
  if (before?.erased_at) throw new AppError('import_state', 'The earlier list is erased')
  const segments = isNewest
    ? (before?.segments ?? [])
    : source.segments.filter(each => each !== segment)
  const number = source.number + 1
  const reverse = { added: counts.removed, changed: counts.changed, removed: counts.new }
  const columns = isNewest ? (before?.columns ?? source.columns) : source.columns
  const now = deps.clock()
  await insertVersion(
    tx,
    { ...source, columns },
    { number, segments, mode: 'undo', by, now, ...reverse }
  )
  await changeSource(tx, source.id, columns, { number, segments })
  await updateById(tx, 'register_import', id).set({ state: 'undone' }).execute()
  addAuditEntry(tx, deps, {
    by,
    action: 'data_source.undo',
    target: source.id,
    after: { ...namesOf(source, found), number }
  })
}

// the register first, as the check of an import does
async function lockWithSource(tx: Tx, id: string) {
  const { source_id } = await selectById(tx, 'register_import', id)
    .select('source_id')
    .executeTakeFirstOrThrow()
  const source = await selectById(tx, 'data_source', source_id)
    .select(['id', 'name', 'number', 'segments', 'columns'])
    .forUpdate()
    .executeTakeFirstOrThrow()
  const found = await selectById(tx, 'register_import', id)
    .innerJoin('data_source', join =>
      joinInCompany(join, 'data_source.id', 'register_import.source_id')
    )
    .select(['state', 'mode', 'file_name', 'segment', 'counts', 'register_import.columns'])
    .select(['register_import.dialect', 'checked_number', 'register_import.number'])
    .select(isUndoable.as('undoable'))
    .forUpdate('register_import')
    .executeTakeFirst()
  if (!found) throw new AppError('not_found', 'No such import')
  return { source, found }
}

// for the audit log
function namesOf({ name }: { name: string }, { file_name }: { file_name: string | null }) {
  return { name, ...(file_name !== null && { file: file_name }) }
}

interface NewVersion {
  number: number
  segments: number[]
  mode: string
  by: AdminCall['by']
  now: Date
  added: number
  changed: number
  removed: number
}

async function insertVersion(
  tx: Tx,
  { id: source_id, columns }: { id: string; columns: RegisterColumn[] },
  { by, now, ...version }: NewVersion
): Promise<void> {
  const found = await selectInCompany(tx, 'register_segment')
    .where('source_id', '=', source_id)
    .where(sql<boolean>`number = any (${version.segments}::int[])`)
    .select(['number', 'rows', sql<string>`encode(root, 'hex')`.as('root')])
    .execute()
  const ordered = version.segments.map(number => found.find(each => each.number === number))
  const tree = ordered.reduce(
    (edge, segment) => appendLeaf(edge, hashLeaf(fromHex(segment?.root ?? ''))),
    emptyTree
  )
  await tx
    .insertInto('register_version')
    .values({
      ...version,
      company_id: tx.companyId,
      source_id,
      rows: found.reduce((sum, { rows }) => sum + rows, 0),
      root: Buffer.from(rootOf(tree)),
      columns: JSON.stringify(columns),
      actor_id: by.id,
      actor_company: by.company_id,
      created_at: now
    })
    .execute()
}

// people who change its labels meanwhile notice that they are those of other columns
async function changeSource(
  tx: Tx,
  source: string,
  columns: RegisterColumn[],
  changes: { number?: number; segments?: number[]; checked_at?: Date; dialect?: string }
): Promise<void> {
  const json = JSON.stringify(columns)
  await updateById(tx, 'data_source', source)
    .set({
      ...changes,
      columns: json,
      version: sql`version + (columns <> ${json}::jsonb)::int`
    })
    .execute()
}

// so that its rows are not erased meanwhile
function lockVersion(tx: Tx, source: string, number: number) {
  return selectInCompany(tx, 'register_version')
    .where('source_id', '=', source)
    .where('number', '=', number)
    .select(['segments', 'columns', 'erased_at'])
    .forUpdate()
    .executeTakeFirst()
}

/**
 * Of those that were replaced before a time, the ones that were replaced first. Their rows are then
 * erased, except for those that a newer version has. Returns how many there were.
 */
export async function endVersions(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  company_id: CompanyId,
  { before, limit }: { before: Date; limit: number }
): Promise<number> {
  return inCompany(db, company_id, async tx => {
    const { numAffectedRows = 0n } = await sql`
      update register_version as old set erased_at = ${clock()}
       where company_id = ${company_id} and (source_id, number) in (
         select version.source_id, version.number
           from register_version as version
           join register_version as next on next.company_id = version.company_id
             and next.source_id = version.source_id and next.number = version.number + 1
          where version.company_id = ${company_id} and version.erased_at is null
            and next.created_at < ${before}
          order by next.created_at limit ${limit})`.execute(tx)
    return Number(numAffectedRows)
  })
}

/** After 30 days, older versions keep root and counts alone. */
export async function endOldVersions(
  deps: Pick<Deps, 'db' | 'clock'>,
  company_id: CompanyId
): Promise<boolean> {
  const before = new Date(deps.clock().getTime() - registerLimits.days * 86_400_000)
  return (await endVersions(deps, company_id, { before, limit: endedAtOnce })) === endedAtOnce
}

// of a version whose rows are kept, or of an import that may still run
const isNeeded = sql`(
  exists (select from register_version as version
     where version.company_id = segment.company_id and version.source_id = segment.source_id
       and version.erased_at is null and segment.number = any (version.segments))
  or exists (select from register_import as import
     where import.company_id = segment.company_id and import.source_id = segment.source_id
       and import.segment = segment.number and import.state in ('reading', 'checked')))`

/** Of all segments that are needed. */
export async function countRegisterRows(tx: Tx): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select coalesce(sum(segment.rows), 0)::float8 as count from register_segment as segment
     where segment.company_id = ${tx.companyId} and not segment.erased and ${isNeeded}`.execute(tx)
  return rows[0]?.count ?? 0
}

const erasedAtOnce = 10_000

/** Erases some rows of segments that nothing needs. Returns whether there may be more. */
export async function eraseUnneededRows(
  { db }: Pick<Deps, 'db'>,
  company_id: CompanyId
): Promise<boolean> {
  return inCompany(db, company_id, async tx => {
    const { rows } = await sql<{ source_id: string; number: number }>`
      select source_id, number from register_segment as segment
       where company_id = ${company_id} and not erased and not ${isNeeded} limit 1`.execute(tx)
    const [segment] = rows
    if (!segment) return false
    const { numAffectedRows = 0n } = await sql`
      delete from register_row where company_id = ${company_id} and ctid = any (array(
        select ctid from register_row
         where company_id = ${company_id} and source_id = ${segment.source_id}
           and segment = ${segment.number} limit ${erasedAtOnce}))`.execute(tx)
    if (numAffectedRows < erasedAtOnce) {
      await sql`
        update register_segment set erased = true where company_id = ${company_id}
          and source_id = ${segment.source_id} and number = ${segment.number}`.execute(tx)
    }
    return true
  })
}
