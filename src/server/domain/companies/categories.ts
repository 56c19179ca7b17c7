import type { Selectable } from 'kysely'
import { type Category, KeepOriginals, Visibility } from '../../../contract/categories.ts'
import { AppError } from '../../../contract/errors.ts'
import { maxListedCategories } from '../../../contract/limits.ts'
import { Store } from '../../../contract/requests.ts'
import { allowedCategories, inSameCompany } from '../../db/joins.ts'
import type { Database } from '../../db/schema.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { type Page, type PageInput, readPage, searched } from '../lists.ts'
import { requireGroup } from './groups.ts'

interface Caller {
  company_id: CompanyId
  user_id: string
}

/**
 * Returns the categories that a person may use through their groups. The company's default category
 * comes first.
 */
export async function listCategories(deps: Pick<Deps, 'db'>, input: Caller): Promise<Category[]> {
  return inCompany(deps.db, input.company_id, tx => readCategories(tx, input))
}

interface ListInput extends PageInput {
  company_id: CompanyId
  q?: string | undefined
  group?: string | undefined
}

/**
 * Returns a page of the company's categories, or only of those that the members of `group` may use.
 * Throws `not_found` if the company has no such group.
 */
export async function listCompanyCategories(
  deps: Pick<Deps, 'db'>,
  { company_id, q, group, ...page }: ListInput
): Promise<Page<Category>> {
  const orders = {
    id: 'category.id',
    sorts: { created: ['category.created_at'] },
    usual: 'created'
  } as const
  return inCompany(deps.db, company_id, async tx => {
    if (group !== undefined) await requireGroup(tx, group)
    const all = tx.selectFrom('category').where('category.company_id', '=', company_id)
    const { items, next } = await readPage(all, orders, page, rows => {
      const found = searched(rows, 'category.search', q).select(columns)
      if (group === undefined) return found
      return found
        .innerJoin('group_category', join =>
          inSameCompany(join, 'group_category.category_id', 'category.id')
        )
        .where('group_category.group_id', '=', group)
    })
    return { items: items.map(categoryOf), next }
  })
}

/**
 * Returns the id of the category for a deposit whose caller named none: the only one that the
 * caller may use, else the company's default. Throws `category_required` with the list of
 * categories if several can be meant, and `category_unknown` if the caller may use none.
 */
export async function chooseCategory(tx: Tx, caller: Caller): Promise<string> {
  const categories = await readCategories(tx, caller)
  const [first, second] = categories
  if (!first) throw new AppError('category_unknown', 'The caller may deposit in no category')
  if (!second || first.default) return first.id
  const listed = categories.slice(0, maxListedCategories).map(({ id, names }) => ({ id, names }))
  const rest = categories.length - listed.length
  throw new AppError(
    'category_required',
    `Name one of the caller's ${categories.length} categories${rest > 0 ? `, of which ${maxListedCategories} are listed` : ''}`,
    { categories: listed, fields: { category: { rule: 'required' } } }
  )
}

async function readCategories(tx: Tx, caller: Caller): Promise<Category[]> {
  const rows = await allowedCategories(tx, caller)
    .innerJoin('category', join => inSameCompany(join, 'category.id', 'group_category.category_id'))
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
  'category.created_at'
] as const

type Row = Pick<
  Selectable<Database['category']>,
  'id' | 'names' | 'visibility' | 'originals' | 'is_default' | 'store' | 'media_types'
>

function categoryOf(row: Row): Category {
  return {
    id: row.id,
    names: row.names,
    visibility: Visibility.parse(row.visibility),
    keep_originals: KeepOriginals.parse(row.originals),
    default: row.is_default,
    store: Store.parse(row.store),
    media_types: row.media_types
  }
}
