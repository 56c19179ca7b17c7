import {
  type DeleteQueryBuilder,
  type DeleteResult,
  type SelectQueryBuilder,
  sql,
  type UpdateQueryBuilder,
  type UpdateResult
} from 'kysely'
import type { Database } from './schema.ts'
import type { Tx } from './scope.ts'

type CompanyTable = TableWith<{ company_id: string }>
type TableWithId = TableWith<{ company_id: string; id: string }>
type TableWith<Columns> = {
  [Table in keyof Database]: Database[Table] extends Columns ? Table : never
}[keyof Database]

/**
 * Row-level security hides other companies anyway; the condition on the company lets PostgreSQL use
 * the primary keys.
 */
export function selectInCompany<Table extends CompanyTable>(
  tx: Tx,
  table: Table
): SelectQueryBuilder<Database, Table, object> {
  const rows = tx
    .selectFrom<CompanyTable>(table)
    .where(column(table, 'company_id'), '=', tx.companyId)
  // as: Kysely does not infer the columns of a table that is a type parameter
  return rows as unknown as SelectQueryBuilder<Database, Table, object>
}

export function selectById<Table extends TableWithId>(tx: Tx, table: Table, id: string) {
  return selectInCompany(tx, table).where(column(table, 'id'), '=', id)
}

export function updateInCompany<Table extends CompanyTable>(
  tx: Tx,
  table: Table
): UpdateQueryBuilder<Database, Table, Table, UpdateResult> {
  const rows = tx
    .updateTable<CompanyTable>(table)
    .where(column(table, 'company_id'), '=', tx.companyId)
  // as: Kysely does not infer the columns of a table that is a type parameter
  return rows as unknown as UpdateQueryBuilder<Database, Table, Table, UpdateResult>
}

export function updateById<Table extends TableWithId>(tx: Tx, table: Table, id: string) {
  return updateInCompany(tx, table).where(column(table, 'id'), '=', id)
}

export function deleteInCompany<Table extends CompanyTable>(
  tx: Tx,
  table: Table
): DeleteQueryBuilder<Database, Table, DeleteResult> {
  const rows = tx
    .deleteFrom<CompanyTable>(table)
    .where(column(table, 'company_id'), '=', tx.companyId)
  // as: Kysely does not infer the columns of a table that is a type parameter
  return rows as unknown as DeleteQueryBuilder<Database, Table, DeleteResult>
}

export function deleteById<Table extends TableWithId>(tx: Tx, table: Table, id: string) {
  return deleteInCompany(tx, table).where(column(table, 'id'), '=', id)
}

/** Must be called before rows of the company's objects, such as a domain, are locked. */
export async function lockCompanyRow(tx: Tx): Promise<void> {
  await tx
    .selectFrom('company')
    .where('id', '=', tx.companyId)
    .select('id')
    .forNoKeyUpdate()
    .execute()
}

export async function countRows<DB, Table extends keyof DB>(
  rows: SelectQueryBuilder<DB, Table, object>
): Promise<number> {
  const counted = rows.select(sql`count(*)`.as('count')).$castTo<{ count: number }>()
  return (await counted.executeTakeFirstOrThrow()).count
}

function column(table: CompanyTable, name: string) {
  return sql.ref<string>(`${table}.${name}`)
}
