import { type Selectable, type SelectQueryBuilder, sql } from 'kysely'
import type * as z from 'zod/mini'
import { type Category, KeepOriginalsSetting, Visibility } from '../../../contract/categories.ts'
import type * as endpoints from '../../../contract/company-categories.ts'
import type { CategoryDetails } from '../../../contract/company-categories.ts'
import { AppError } from '../../../contract/kit/errors.ts'
import { maxCategoriesInError } from '../../../contract/kit/limits.ts'
import { StoredContentKind } from '../../../contract/requests.ts'
import {
  countRows,
  deleteById,
  selectById,
  selectInCompany,
  updateById,
  updateInCompany
} from '../../db/company-queries.ts'
import { allowedCategoriesQuery, joinInCompany } from '../../db/joins.ts'
import type { Database } from '../../db/schema.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import { type AdminCall, type AuditDeps, addAuditEntry } from '../audit/audit-entries.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { runOnce } from '../idempotency/idempotency.ts'
import { newId } from '../ids.ts'
import { requireRoom } from '../limits/bounds.ts'
import { addSearchCondition, type Page, type PageInput, readPage } from '../lists.ts'
import { type ExpectedVersion, missingVersionNote, requireVersion } from '../versions.ts'
import { requireGroup, withDefaultGroupError } from './groups.ts'

interface Caller {
  company_id: CompanyId
  user_id: string
}

export async function listAllowedCategories(
  deps: Pick<Deps, 'db'>,
  input: Caller
): Promise<Category[]> {
  return inCompany(deps.db, input.company_id, tx => readCategories(tx, input))
}

interface ListInput extends PageInput {
  company_id: CompanyId
  q?: string | undefined
  group?: string | undefined
  visibility?: string | undefined
  store?: string | undefined
}

export async function listCompanyCategories(
  deps: Pick<Deps, 'db'>,
  { company_id, q, group, visibility, store, ...page }: ListInput
): Promise<Page<CategoryDetails>> {
  const orders = {
    id: 'category.id',
    sorts: {
      name_en: ['category.search_en'],
      name_fr: ['category.search_fr'],
      created: ['category.created_at']
    },
    usual: 'created'
  } as const
  return inCompany(deps.db, company_id, async tx => {
    if (group !== undefined) await requireGroup(tx, group)
    const { items, next } = await readPage(selectInCompany(tx, 'category'), orders, page, rows => {
      let found = withColumns(addSearchCondition(rows, 'category.search', q))
      if (visibility !== undefined) found = found.where('category.visibility', '=', visibility)
      if (store !== undefined) found = found.where('category.store', '=', store)
      if (group === undefined) return found
      return found
        .innerJoin('group_category', join =>
          joinInCompany(join, 'group_category.category_id', 'category.id')
        )
        .where('group_category.group_id', '=', group)
    })
    return { items: items.map(categoryDetailsOf), next }
  })
}

export async function getCategory(
  deps: Pick<Deps, 'db'>,
  { company_id, id }: { company_id: CompanyId; id: string }
): Promise<CategoryDetails> {
  return inCompany(deps.db, company_id, tx => readCategory(tx, id))
}

const defaults = {
  visibility: 'public',
  keep_originals: 'person',
  default: false,
  store: 'file',
  media_types: null,
  retention: null
} as const

interface Creation extends AdminCall, z.output<typeof endpoints.createCategory.input> {
  idempotencyKey: string | undefined
}

export async function createCategory(
  deps: Pick<Deps, 'db' | 'keys' | 'clock' | 'random' | 'settings'>,
  { company_id, by, idempotencyKey: key, ...input }: Creation
): Promise<{ body: CategoryDetails; replayed: boolean }> {
  const now = deps.clock()
  const names = 'en' in input.names ? input.names : { en: input.names.fr, fr: input.names.fr }
  const settings = {
    ...defaults,
    ...given(input),
    names: { en: names.en, fr: names.fr ?? names.en }
  }
  requireVerifiable(settings)
  return inCompany(deps.db, company_id, async tx => {
    const insert = async () => {
      await requireRoom(tx, deps, 'categories')
      const id = newId(deps)
      await withNameCheck(() =>
        tx
          .insertInto('category')
          .values({ ...rowOf(settings), company_id, id, created_at: now })
          .execute()
      )
      addAuditEntry(tx, deps, { by, action: 'category.create', target: id, after: settings })
      return readCategory(tx, id)
    }
    return runOnce(tx, deps, { actor: by.id, route: 'POST /category', key, input }, insert)
  })
}

type Change = AdminCall & ExpectedVersion & z.output<typeof endpoints.updateCategory.input>

export async function updateCategory(
  deps: AuditDeps,
  { company_id, by, id, version, names, ...changes }: Change
): Promise<CategoryDetails> {
  const change = async (tx: Tx) => {
    const { version: present, ...before } = await lockCategory(tx, id, changes.default)
    requireVersion(present, version)
    if (changes.default && !before.default) await endDefault(tx, deps, by)
    const after = {
      ...before,
      ...given(changes),
      names: { ...before.names, ...given(names ?? {}) }
    }
    if (after.visibility !== before.visibility) requireVerifiable(after)
    await withNameCheck(() =>
      updateById(tx, 'category', id)
        .set({ ...rowOf(after), version: present + 1 })
        .execute()
    )
    addAuditEntry(tx, deps, {
      by,
      action: 'category.update',
      target: id,
      before,
      after: { ...after, ...missingVersionNote(version) }
    })
    return readCategory(tx, id)
  }
  return withDefaultGroupError(() => inCompany(deps.db, company_id, change))
}

export async function deleteCategory(
  deps: AuditDeps,
  { company_id, by, id, version }: AdminCall & ExpectedVersion & { id: string }
): Promise<void> {
  await inCompany(deps.db, company_id, async tx => {
    // no deposit is begun in it and no group may use it from here on
    const row = await selectById(tx, 'category', id)
      .select(columns)
      .select('version')
      .forUpdate()
      .executeTakeFirst()
    if (!row) throw noCategory()
    requireVersion(row.version, version)
    const { id: _, ...before } = categoryOf(row)
    const uses = { ...(await countUses(tx, id)), default: before.default ? 1 : 0 }
    if (Object.values(uses).some(count => count > 0)) {
      throw new AppError('in_use', 'Deposits or groups use the category, or it is the default', {
        uses
      })
    }
    await deleteById(tx, 'category', id).execute()
    const after = missingVersionNote(version)
    addAuditEntry(tx, deps, { by, action: 'category.delete', target: id, before, after })
  })
}

/**
 * Returns the caller's only category, otherwise the company's default one. Throws
 * `category_unknown` if the caller may use none, and `category_required` if several without the
 * default.
 */
export async function chooseCategoryIfNoneNamed(tx: Tx, caller: Caller): Promise<string> {
  const categories = await readCategories(tx, caller)
  const [first, second] = categories
  if (!first) throw new AppError('category_unknown', 'The caller may deposit in no category')
  if (!second || first.default) return first.id
  const listed = categories.slice(0, maxCategoriesInError).map(({ id, names }) => ({ id, names }))
  const rest = categories.length - listed.length
  throw new AppError(
    'category_required',
    `Name one of the caller's ${categories.length} categories${rest > 0 ? `, of which ${maxCategoriesInError} are listed` : ''}`,
    { categories: listed, fields: { category: { rule: 'required' } } }
  )
}

async function readCategories(tx: Tx, caller: Caller): Promise<Category[]> {
  const rows = await allowedCategoriesQuery(tx, caller)
    .innerJoin('category', join => joinInCompany(join, 'category.id', 'group_category.category_id'))
    .select(columns)
    .distinct()
    .orderBy('category.is_default', 'desc')
    .orderBy('category.created_at')
    .orderBy('category.id')
    .execute()
  return rows.map(categoryOf)
}

const columns = [
  'category.id',
  'category.names',
  'category.visibility',
  'category.originals',
  'category.is_default',
  'category.store',
  'category.media_types',
  'category.retention',
  'category.created_at'
] as const

type Row = Pick<
  Selectable<Database['category']>,
  'id' | 'names' | 'visibility' | 'originals' | 'is_default' | 'store' | 'media_types' | 'retention'
>

function categoryOf(row: Row): Category {
  return {
    id: row.id,
    names: row.names,
    visibility: Visibility.parse(row.visibility),
    keep_originals: KeepOriginalsSetting.parse(row.originals),
    default: row.is_default,
    store: StoredContentKind.parse(row.store),
    media_types: row.media_types,
    retention: row.retention
  }
}

// the verify page takes no receipts yet
function requireVerifiable({ visibility }: Pick<Category, 'visibility'>): void {
  if (visibility !== 'receipt_only') return
  throw new AppError('invalid_input', 'Nobody could verify the documents of the category', {
    fields: { visibility: { rule: 'format', detail: 'public or private' } }
  })
}

function rowOf({ names, keep_originals, default: is_default, ...others }: Omit<Category, 'id'>) {
  return { ...others, originals: keep_originals, is_default, names: JSON.stringify(names) }
}

function withColumns(categories: SelectQueryBuilder<Database, 'category', object>) {
  return categories.select(({ selectFrom, fn }) => [
    ...columns,
    'category.version',
    // under another name, because the query may join the table itself
    selectFrom('group_category as allowance')
      .whereRef('allowance.company_id', '=', 'category.company_id')
      .whereRef('allowance.category_id', '=', 'category.id')
      .select(fn.countAll<number>().as('count'))
      .as('group_count')
  ])
}

function categoryDetailsOf(
  row: Awaited<ReturnType<ReturnType<typeof withColumns>['execute']>>[number]
): CategoryDetails {
  const { version, created_at, group_count } = row
  const created = created_at.toISOString()
  return { ...categoryOf(row), version, created, group_count: group_count ?? 0 }
}

async function readCategory(tx: Tx, id: string): Promise<CategoryDetails> {
  const row = await withColumns(selectById(tx, 'category', id)).executeTakeFirst()
  if (!row) throw noCategory()
  return categoryDetailsOf(row)
}

// all categories before the default changes, so that no other call can change it at the same time
async function lockCategory(tx: Tx, id: string, withDefault: boolean | undefined) {
  const locked = await selectInCompany(tx, 'category')
    .$if(!withDefault, categories => categories.where('id', '=', id))
    .select(columns)
    .select('version')
    .orderBy('id')
    .forNoKeyUpdate()
    .execute()
  const found = locked.find(category => category.id === id)
  if (!found) throw noCategory()
  const { id: _, ...settings } = categoryOf(found)
  return { ...settings, version: found.version }
}

async function endDefault(tx: Tx, deps: AuditDeps, by: AdminCall['by']): Promise<void> {
  const ended = await updateInCompany(tx, 'category')
    .set({ is_default: false, version: sql<number>`version + 1` })
    .where('is_default', '=', true)
    .returning('id')
    .executeTakeFirst()
  if (!ended) return
  const [before, after] = [{ default: true }, { default: false }]
  addAuditEntry(tx, deps, { by, action: 'category.update', target: ended.id, before, after })
}

async function countUses(tx: Tx, id: string): Promise<{ deposits: number; groups: number }> {
  // deposits of small files and of fingerprints have no upload
  const deposits = await sql<{ count: number }>`
    select (
      select count(*) from deposit where company_id = ${tx.companyId} and category_id = ${id}
    ) + (
      select count(*) from upload
      where company_id = ${tx.companyId} and category_id = ${id} and not exists (
        select from deposit
        where deposit.company_id = upload.company_id and deposit.request_id = upload.request_id
      )
    ) as count`.execute(tx)
  const groups = await countRows(
    selectInCompany(tx, 'group_category').where('category_id', '=', id)
  )
  return { deposits: deposits.rows[0]?.count ?? 0, groups }
}

const nameIndexes: Record<string, 'en' | 'fr'> = { category_name_en: 'en', category_name_fr: 'fr' }

async function withNameCheck<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (cause) {
    const { code, constraint } = Object(cause)
    const language = nameIndexes[constraint]
    if (code !== '23505' || !language) throw cause
    throw new AppError('name_taken', 'Another category of the company has this name', {
      cause,
      fields: { [`names.${language}`]: { rule: 'taken' } }
    })
  }
}

function given<Fields extends object>(
  fields: Fields
): { [Name in keyof Fields]: Exclude<Fields[Name], undefined> } {
  // as: the undefined values are left out
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Fields]: Exclude<Fields[Name], undefined>
  }
}

function noCategory(): AppError {
  return new AppError('not_found', 'No such category')
}
