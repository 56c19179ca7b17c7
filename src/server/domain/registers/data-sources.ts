import { type Selectable, type SelectQueryBuilder, sql } from 'kysely'
import type * as z from 'zod/mini'
import type * as endpoints from '../../../contract/data-sources.ts'
import type { DataSource, RegisterVersion } from '../../../contract/data-sources.ts'
import { AppError } from '../../../contract/kit/errors.ts'
import type { RegisterColumn } from '../../../contract/registers.ts'
import {
  countRows,
  deleteById,
  selectById,
  selectInCompany,
  updateById
} from '../../db/company-queries.ts'
import { joinInCompany } from '../../db/joins.ts'
import type { Database } from '../../db/schema.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import { type AdminCall, type AuditDeps, addAuditEntry } from '../audit/audit-entries.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { runOnce } from '../idempotency/idempotency.ts'
import { newId, newRandomId } from '../ids.ts'
import { requireRoom } from '../limits/bounds.ts'
import { addSearchCondition, type Page, type PageInput, readPage } from '../lists.ts'
import { type ExpectedVersion, missingVersionNote, requireVersion } from '../versions.ts'
import { settleUploadsOfSource } from './register-uploads.ts'

interface ListInput extends PageInput {
  company_id: CompanyId
  q?: string | undefined
  category?: string | undefined
}

export async function listDataSources(
  deps: Pick<Deps, 'db'>,
  { company_id, q, category, ...page }: ListInput
): Promise<Page<DataSource>> {
  const orders = {
    id: 'data_source.id',
    sorts: { name: ['data_source.search'], created: ['data_source.created_at'] },
    usual: 'name'
  } as const
  return inCompany(deps.db, company_id, async tx => {
    const all = selectInCompany(tx, 'data_source')
    const { items, next } = await readPage(all, orders, page, rows => {
      const found = withColumns(addSearchCondition(rows, 'data_source.search', q))
      if (category === undefined) return found
      return found
        .innerJoin('category_data_source as link', join =>
          joinInCompany(join, 'link.source_id', 'data_source.id')
        )
        .where('link.category_id', '=', category)
    })
    return { items: await withCurrentVersions(tx, items), next }
  })
}

export async function getDataSource(
  deps: Pick<Deps, 'db'>,
  { company_id, id }: { company_id: CompanyId; id: string }
): Promise<DataSource> {
  return inCompany(deps.db, company_id, tx => readDataSource(tx, id))
}

interface Creation extends AdminCall, z.output<typeof endpoints.createDataSource.input> {
  idempotencyKey: string | undefined
}

export async function createDataSource(
  deps: Pick<Deps, 'db' | 'keys' | 'clock' | 'random' | 'settings'>,
  { company_id, by, idempotencyKey: key, ...input }: Creation
): Promise<{ body: DataSource; replayed: boolean }> {
  const created_at = deps.clock()
  const settings = { name: input.name, position: input.position ?? 0 }
  return inCompany(deps.db, company_id, async tx => {
    const insert = async () => {
      await requireRoom(tx, deps, 'data_sources')
      const [id, register_id] = [newId(deps), newRandomId(deps)]
      await withNameCheck(() =>
        tx
          .insertInto('data_source')
          .values({ ...settings, company_id, id, register_id, created_at, columns: '[]' })
          .execute()
      )
      addAuditEntry(tx, deps, { by, action: 'data_source.create', target: id, after: settings })
      return readDataSource(tx, id)
    }
    return runOnce(tx, deps, { actor: by.id, route: 'POST /data_source', key, input }, insert)
  })
}

type Change = AdminCall & ExpectedVersion & z.output<typeof endpoints.updateDataSource.input>

export async function updateDataSource(
  deps: AuditDeps,
  { company_id, by, id, version, name, position, labels }: Change
): Promise<DataSource> {
  return inCompany(deps.db, company_id, async tx => {
    const before = await selectById(tx, 'data_source', id)
      .select(['version', 'name', 'position', 'columns'])
      .forNoKeyUpdate()
      .executeTakeFirst()
    if (!before) throw noDataSource()
    requireVersion(before.version, version)
    const after = {
      name: name ?? before.name,
      position: position ?? before.position,
      columns: relabeled(before.columns, labels ?? [])
    }
    await withNameCheck(() =>
      updateById(tx, 'data_source', id)
        .set({ ...after, columns: JSON.stringify(after.columns), version: before.version + 1 })
        .execute()
    )
    addAuditEntry(tx, deps, {
      by,
      action: 'data_source.update',
      target: id,
      before: auditedFieldsOf(before),
      after: { ...auditedFieldsOf(after), ...missingVersionNote(version) }
    })
    return readDataSource(tx, id)
  })
}

/** Its rows are no longer found from then on; `eraseRowsOfDeletedSources` erases them. */
export async function deleteDataSource(
  deps: AuditDeps & Pick<Deps, 'blobs'>,
  { company_id, by, id, version }: AdminCall & ExpectedVersion & { id: string }
): Promise<void> {
  const staged = await inCompany(deps.db, company_id, async tx => {
    // no category names it from here on
    const before = await selectById(tx, 'data_source', id)
      .select(['version', 'name', 'position', 'columns'])
      .forUpdate()
      .executeTakeFirst()
    if (!before) throw noDataSource()
    requireVersion(before.version, version)
    const categories = await countRows(
      selectInCompany(tx, 'category_data_source').where('source_id', '=', id)
    )
    if (categories > 0) {
      throw new AppError('in_use', 'Categories name the data source', { uses: { categories } })
    }
    const files = await settleUploadsOfSource(tx, id)
    await deleteById(tx, 'data_source', id).execute()
    addAuditEntry(tx, deps, {
      by,
      action: 'data_source.delete',
      target: id,
      before: auditedFieldsOf(before),
      after: missingVersionNote(version)
    })
    return files
  })
  for (const file of staged) await deps.blobs.discardStaged(file)
}

export async function listRegisterVersions(
  deps: Pick<Deps, 'db'>,
  { company_id, id, ...page }: PageInput & { company_id: CompanyId; id: string }
): Promise<Page<RegisterVersion>> {
  return inCompany(deps.db, company_id, async tx => {
    await readDataSource(tx, id)
    const all = selectInCompany(tx, 'register_version').where('source_id', '=', id)
    const orders = {
      id: 'register_version.number',
      sorts: { number: ['register_version.number'] },
      usual: '-number'
    } as const
    const { items, next } = await readPage(all, orders, page, withVersionColumns)
    return { items: items.map(versionOf), next }
  })
}

const sliceRows = 10_000

/**
 * Erases some rows of registers that are deleted. Returns whether there may be more. A register can
 * have millions, so its deletion leaves them behind.
 */
export async function eraseRowsOfDeletedSources(
  { db }: Pick<Deps, 'db'>,
  company_id: CompanyId
): Promise<boolean> {
  // The ids are read one by one from the primary key, because there are few of them and many rows.
  const text = `
    with recursive source as (
      (select source_id as id from register_row where company_id = $1 order by source_id limit 1)
      union all
      select (
        select source_id from register_row where company_id = $1 and source_id > source.id
        order by source_id limit 1
      ) from source where source.id is not null
    ), gone as (
      select id from source where id is not null and not exists (
        select from data_source where company_id = $1 and data_source.id = source.id
      ) limit 1
    ), erased as (
      delete from register_row where company_id = $1 and ctid = any (array(
        select ctid from register_row
        where company_id = $1 and source_id = (select id from gone) limit $2
      )) returning 1
    )
    select count(*)::integer as erased from erased`
  const values = [company_id, sliceRows]
  const [found] = await inCompany(db, company_id, tx =>
    tx.raw<{ erased: number }>({ text, values })
  )
  return found?.erased === sliceRows
}

function withColumns(sources: SelectQueryBuilder<Database, 'data_source', object>) {
  return sources.select(({ selectFrom, fn }) => [
    'data_source.id',
    'data_source.version',
    'data_source.name',
    'data_source.position',
    'data_source.created_at',
    'data_source.columns',
    'data_source.checked_at',
    selectFrom('category_data_source')
      .whereRef('category_data_source.company_id', '=', 'data_source.company_id')
      .whereRef('category_data_source.source_id', '=', 'data_source.id')
      .select(fn.countAll<number>().as('count'))
      .as('category_count')
  ])
}

type Row = Awaited<ReturnType<ReturnType<typeof withColumns>['execute']>>[number]

async function readDataSource(tx: Tx, id: string): Promise<DataSource> {
  const row = await withColumns(selectById(tx, 'data_source', id)).executeTakeFirst()
  const [source] = await withCurrentVersions(tx, row ? [row] : [])
  if (!source) throw noDataSource()
  return source
}

async function withCurrentVersions(tx: Tx, rows: readonly Row[]): Promise<DataSource[]> {
  const ids = rows.map(({ id }) => id)
  const current = await withVersionColumns(
    selectInCompany(tx, 'register_version').where(
      sql<boolean>`exists (
        select from data_source
        where data_source.company_id = register_version.company_id
          and data_source.id = register_version.source_id
          and data_source.number = register_version.number
          and data_source.id = any (${ids}::uuid[]))`
    )
  ).execute()
  return rows.map(({ created_at, checked_at, category_count, ...row }) => {
    const version = current.find(({ source_id }) => source_id === row.id)
    return {
      ...row,
      kind: 'csv',
      created: created_at.toISOString(),
      current: version ? versionOf(version) : null,
      checked: checked_at?.toISOString() ?? null,
      category_count: category_count ?? 0
    }
  })
}

function withVersionColumns(versions: SelectQueryBuilder<Database, 'register_version', object>) {
  return versions
    .leftJoin('user', join =>
      joinInCompany(join, 'user.id', 'register_version.actor_id')
        .onRef('register_version.actor_company', '=', 'register_version.company_id')
        .on('user.deleted_at', 'is', null)
    )
    .select([
      sql<string>`register_version.number::text`.as('id'),
      'register_version.source_id',
      'register_version.number',
      'register_version.created_at',
      'register_version.mode',
      'register_version.rows',
      'register_version.added',
      'register_version.changed',
      'register_version.removed',
      'register_version.erased_at',
      'user.username'
    ])
}

type VersionRow = Awaited<ReturnType<ReturnType<typeof withVersionColumns>['execute']>>[number]

function versionOf(row: VersionRow): RegisterVersion {
  const { number, created_at, username, mode, rows, added, changed, removed, erased_at } = row
  return {
    number,
    created: created_at.toISOString(),
    created_by: username,
    mode: mode as RegisterVersion['mode'], // as: the column is checked by the table
    rows,
    added,
    changed,
    removed,
    erased: erased_at !== null
  }
}

function relabeled(
  columns: readonly RegisterColumn[],
  given: readonly Pick<RegisterColumn, 'index' | 'labels'>[]
): RegisterColumn[] {
  const byIndex = new Map(given.map(({ index, labels }) => [index, labels]))
  const unknown = given.find(({ index }) => columns.every(column => column.index !== index))
  if (unknown) {
    throw new AppError('invalid_input', `No column has the index ${unknown.index}`, {
      fields: { labels: { rule: 'format', detail: 'indexes of columns' } }
    })
  }
  return columns.map(column => ({
    ...column,
    labels: byIndex.get(column.index) ?? column.labels
  }))
}

function auditedFieldsOf({
  name,
  position,
  columns
}: Pick<Selectable<Database['data_source']>, 'name' | 'position' | 'columns'>) {
  const labels = Object.fromEntries(columns.map(({ header, labels: words }) => [header, words]))
  return { name, position, labels }
}

async function withNameCheck<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (cause) {
    if (Object(cause).constraint !== 'data_source_name') throw cause
    throw new AppError('name_taken', 'Another data source of the company has this name', {
      cause,
      fields: { name: { rule: 'taken' } }
    })
  }
}

function noDataSource(): AppError {
  return new AppError('not_found', 'The company has no such data source')
}
