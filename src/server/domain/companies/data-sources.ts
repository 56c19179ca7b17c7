import type { DataSource } from '../../../contract/data-sources.ts'
import { AppError } from '../../../contract/kit/errors.ts'
import { selectById, selectInCompany } from '../../db/company-queries.ts'
import { inCompany } from '../../db/scope.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { type Page, type PageInput, readPage } from '../lists.ts'

interface ListInput extends PageInput {
  company_id: CompanyId
}

const columns = ['id', 'version', 'name', 'created_at'] as const

const orders = {
  id: 'id',
  sorts: { name: ['search'], created: ['created_at'] },
  usual: 'name'
} as const

export async function listDataSources(
  deps: Pick<Deps, 'db'>,
  { company_id, ...page }: ListInput
): Promise<Page<DataSource>> {
  return inCompany(deps.db, company_id, async tx => {
    const all = selectInCompany(tx, 'data_source')
    const { items, next } = await readPage(all, orders, page, rows => rows.select(columns))
    return { items: items.map(dataSourceOf), next }
  })
}

export async function getDataSource(
  deps: Pick<Deps, 'db'>,
  { company_id, id }: { company_id: CompanyId; id: string }
): Promise<DataSource> {
  return inCompany(deps.db, company_id, async tx => {
    const row = await selectById(tx, 'data_source', id).select(columns).executeTakeFirst()
    if (!row) throw new AppError('not_found', 'The company has no such data source')
    return dataSourceOf(row)
  })
}

function dataSourceOf({
  created_at,
  ...row
}: Omit<DataSource, 'created'> & { created_at: Date }): DataSource {
  return { ...row, created: created_at.toISOString() }
}
