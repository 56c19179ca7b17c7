import type { DataSource } from '../../contract/data-sources.ts'
import { createListStore } from '../lists/lists.ts'
import { callAdminApi } from './admin-api.ts'
import { createShownItem } from './shown-item.ts'

export const dataSourceSortKeys = ['name', '-name', 'created', '-created'] as const

export interface DataSourceListQuery {
  sort?: (typeof dataSourceSortKeys)[number]
}

export const dataSourceList = createListStore<DataSource, DataSourceListQuery>(
  (query, page, company) => callAdminApi('listDataSources', { id: company, ...page, ...query })
)

const dataSource = createShownItem<DataSource>(id => callAdminApi('getDataSource', { id }))

export const $dataSource = dataSource.$item

export const openDataSource = dataSource.open
