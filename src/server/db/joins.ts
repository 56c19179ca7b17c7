import type { JoinBuilder, StringReference } from 'kysely'
import type { CompanyId, Tx } from './scope.ts'

/**
 * The condition on the company lets PostgreSQL use the primary keys, which begin with the company.
 */
export function joinInCompany<DB, TB extends keyof DB>(
  join: JoinBuilder<DB, TB>,
  left: StringReference<DB, TB>,
  right: StringReference<DB, TB>
): JoinBuilder<DB, TB> {
  return join
    .onRef(companyColumn<DB, TB>(left), '=', companyColumn<DB, TB>(right))
    .onRef(left, '=', right)
}

// 'session.user_id' → 'session.company_id'
function companyColumn<DB, TB extends keyof DB>(column: string): StringReference<DB, TB> {
  // as: every table that belongs to a company has this column
  return column.replace(/\.\w+$/, '.company_id') as StringReference<DB, TB>
}

/** A category occurs once for each of the person's groups that allows it. */
export function allowedCategoriesQuery(
  tx: Tx,
  { company_id, user_id }: { company_id: CompanyId; user_id: string | null }
) {
  return tx
    .selectFrom('group_category')
    .innerJoin('group_user', join =>
      joinInCompany(join, 'group_user.group_id', 'group_category.group_id')
    )
    .where('group_category.company_id', '=', company_id)
    .where('group_user.user_id', '=', user_id)
}
