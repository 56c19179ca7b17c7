import type { CategoryDetails } from '../../contract/company-categories.ts'
import type { DataSource, RegisterVersion } from '../../contract/data-sources.ts'
import { AppError } from '../../contract/kit/errors.ts'
import type { RegisterImport } from '../../contract/register-imports.ts'
import { createListStore } from '../lists/lists.ts'
import { personalAtom } from '../personal-atoms.ts'
import type { CallInput } from '../sessions.ts'
import { callAdminApi, companyIdOfPage, resultOrError } from './admin-api.ts'
import { createShownItem } from './shown-item.ts'

export type DataSourceChanges = Omit<CallInput<'updateDataSource'>, 'id'>

export const dataSourceSortKeys = ['name', '-name', 'created', '-created'] as const

export interface DataSourceListQuery {
  q?: string
  sort?: (typeof dataSourceSortKeys)[number]
}

export const dataSourceList = createListStore<DataSource, DataSourceListQuery>(
  (query, page, company) => callAdminApi('listDataSources', { id: company, ...page, ...query })
)

// each of the shown data source
export const registerVersions = createListStore<RegisterVersion & { id: string }>(
  async (_, page, id) => {
    const versions = await callAdminApi('listRegisterVersions', { id, ...page })
    return versions.map(version => ({ ...version, id: `${version.number}` }))
  }
)
export const registerImports = createListStore<RegisterImport>((_, page, id) =>
  callAdminApi('listRegisterImports', { id, ...page })
)
export const dataSourceCategories = createListStore<CategoryDetails>((_, page, id) =>
  callAdminApi('listCompanyCategories', { id: companyIdOfPage(), data_source: id, ...page })
)
/** Whether a category that everyone can verify names it. Undefined while that is being loaded. */
export const $isAskedByStrangers = personalAtom<boolean | AppError | undefined>(undefined)

const dataSource = createShownItem<DataSource>(id => callAdminApi('getDataSource', { id }))

export const $dataSource = dataSource.$item

/** Without its versions, imports and categories. */
export const showDataSource = dataSource.open

export async function openDataSource(id: string): Promise<void> {
  registerVersions.clear()
  registerImports.clear()
  dataSourceCategories.clear()
  $isAskedByStrangers.set(undefined)
  if (!(await dataSource.open(id))) return
  await Promise.all([
    loadWhetherStrangersAsk(id),
    registerImports.open(id, {}),
    registerVersions.open(id, {}),
    dataSourceCategories.open(id, {})
  ])
}

export async function loadWhetherStrangersAsk(id: string): Promise<void> {
  const isStillShown = dataSource.watch(id)
  const query = { data_source: id, visibility: 'public', limit: 1 } as const
  const found = await resultOrError(() =>
    callAdminApi('listCompanyCategories', { id: companyIdOfPage(), ...query })
  )
  if (isStillShown()) $isAskedByStrangers.set(found instanceof AppError ? found : found.length > 0)
}

export const reloadDataSource = dataSource.reload

/** Shows what imports have changed meanwhile. */
export async function refreshRegister(id: string): Promise<void> {
  await Promise.all([dataSource.reload(id), registerVersions.refresh(), registerImports.refresh()])
}

/** `key` is the idempotency key. */
export function createDataSource(
  input: CallInput<'createDataSource'>,
  key: string
): Promise<DataSource> {
  return callAdminApi('createDataSource', input, { idempotencyKey: key })
}

/** Throws `changed_meanwhile` if the data source does not have this version any more. */
export async function updateDataSource(
  id: string,
  changes: DataSourceChanges,
  version: number
): Promise<void> {
  await dataSource.change(id, () =>
    callAdminApi('updateDataSource', { ...changes, id }, { version })
  )
}

export async function deleteDataSource({ id, version }: DataSource): Promise<void> {
  await callAdminApi('deleteDataSource', { id }, { version })
}

export async function undoRegisterImport({ id, data_source }: RegisterImport): Promise<void> {
  await callAdminApi('undoRegisterImport', { id: data_source, importId: id })
}
