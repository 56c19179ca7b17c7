import { type Category, Visibility } from '../../contract/categories.ts'
import { Store } from '../../contract/requests.ts'
import { inCompany } from '../db/scope.ts'
import type { CompanyId, Deps } from './deps.ts'

/** The categories that the groups of a person allow. */
export async function listCategories(
  deps: Pick<Deps, 'db'>,
  input: { company_id: CompanyId; user_id: string }
): Promise<Category[]> {
  const rows = await inCompany(deps.db, input.company_id, tx =>
    tx
      .selectFrom('category')
      .innerJoin('group_category', join =>
        join
          .onRef('group_category.company_id', '=', 'category.company_id')
          .onRef('group_category.category_id', '=', 'category.id')
      )
      .innerJoin('group_user', join =>
        join
          .onRef('group_user.company_id', '=', 'group_category.company_id')
          .onRef('group_user.group_id', '=', 'group_category.group_id')
      )
      .where('category.company_id', '=', input.company_id)
      .where('group_user.user_id', '=', input.user_id)
      .select([
        'category.id',
        'category.names',
        'category.visibility',
        'category.keep_originals',
        'category.store',
        'category.media_types'
      ])
      .distinct()
      .execute()
  )
  return rows.map(row => ({
    ...row,
    visibility: Visibility.parse(row.visibility),
    store: Store.parse(row.store)
  }))
}
