import type { DataSource } from '../../contract/data-sources.ts'
import { createListStore } from '../lists/lists.ts'
import { callAdminApi } from './admin-api.ts'
import { createShownItem } from './shown-item.ts'

export const dataSourceSortKeys = ['name', '-name', 'created', '-created'] as const

/** The sort order of the list of data sources. Without `sort`, the list is sorted by name. */
export interface DataSourceListQuery {
  sort?: (typeof dataSourceSortKeys)[number]
}

/** The data sources of a company. `open()` takes the id of the company. */
export const dataSourceList = createListStore<DataSource, DataSourceListQuery>(
  (query, page, company) => callAdminApi('listDataSources', { id: company, ...page, ...query })
)

const dataSource = createShownItem<DataSource>(id => callAdminApi('getDataSource', { id }))

/** The data source that the page shows. */
export const $dataSource = dataSource.$item

/**
 * Loads a data source and shows it. Returns false if loading fails or if the page has opened
 * another data source meanwhile.
 */
export const openDataSource = dataSource.open
