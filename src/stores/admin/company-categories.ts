import type { CategoryDetails } from '../../contract/company-categories.ts'
import type { DataSource } from '../../contract/data-sources.ts'
import type { Group } from '../../contract/groups.ts'
import { AppError } from '../../contract/kit/errors.ts'
import { dropRow, putRow } from '../lists/list-changes.ts'
import { createListStore } from '../lists/lists.ts'
import type { CallInput } from '../sessions.ts'
import { callAdminApi, companyIdOfPage } from './admin-api.ts'
import { createShownItem } from './shown-item.ts'

export type CategoryChanges = Omit<CallInput<'updateCategory'>, 'id'>

export const categorySortKeys = [
  'name_en',
  '-name_en',
  'name_fr',
  '-name_fr',
  'created',
  '-created'
] as const

export interface CategoryQuery {
  q?: string
  visibility?: CategoryDetails['visibility']
  sort?: (typeof categorySortKeys)[number]
}

export const categoryList = createListStore<CategoryDetails, CategoryQuery>(
  (query, page, company) =>
    callAdminApi('listCompanyCategories', { id: company, ...page, ...query })
)

const category = createShownItem<CategoryDetails>(id => callAdminApi('getCategory', { id }))
export const categoryGroups = createListStore<Group>((_, page, id) =>
  callAdminApi('listGroups', { id: companyIdOfPage(), category: id, ...page })
)
// that answer for its documents
export const categoryDataSources = createListStore<DataSource>((_, page, id) =>
  callAdminApi('listDataSources', { id: companyIdOfPage(), category: id, ...page })
)

export const $category = category.$item

export async function openCategory(id: string): Promise<void> {
  categoryGroups.clear()
  categoryDataSources.clear()
  if (await category.open(id))
    await Promise.all([categoryGroups.open(id, {}), categoryDataSources.open(id, {})])
}

export const reloadCategory = category.reload

export function createCategory(
  input: CallInput<'createCategory'>,
  key: string
): Promise<CategoryDetails> {
  return callAdminApi('createCategory', input, { idempotencyKey: key })
}

/** Throws `changed_meanwhile` if the category does not have this version any more. */
export async function updateCategory(
  id: string,
  changes: CategoryChanges,
  version: number
): Promise<void> {
  await category.change(id, () => callAdminApi('updateCategory', { ...changes, id }, { version }))
}

export async function deleteCategory({ id, version }: CategoryDetails): Promise<void> {
  await callAdminApi('deleteCategory', { id }, { version })
}

export async function addGroupToCategory(id: string, group: Group): Promise<void> {
  await callAdminApi('addGroupCategory', { groupId: group.id, category_id: id })
  putRow(categoryGroups, id, group)
}

export async function removeGroupFromCategory(id: string, group: Group): Promise<void> {
  await callAdminApi('removeGroupCategory', { groupId: group.id, categoryId: id })
  dropRow(categoryGroups, id, group)
}

export async function addDataSourceToCategory(id: string, source: DataSource): Promise<void> {
  await changeDataSources(id, ids => [...ids.filter(each => each !== source.id), source.id])
  putRow(categoryDataSources, id, source)
}

export async function removeDataSourceFromCategory(id: string, source: DataSource): Promise<void> {
  await changeDataSources(id, ids => ids.filter(each => each !== source.id))
  dropRow(categoryDataSources, id, source)
}

// the call replaces the whole list, so it starts from what is stored if somebody else has changed it
async function changeDataSources(
  id: string,
  change: (ids: readonly string[]) => string[]
): Promise<void> {
  const now = $category.get()
  const shown = now.status === 'ready' && now.item.id === id ? now.item : await reloadCategory(id)
  const save = ({ data_sources, version }: CategoryDetails) =>
    updateCategory(id, { data_sources: change(data_sources) }, version)
  try {
    await save(shown)
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'changed_meanwhile') throw error
    await save(await reloadCategory(id))
  }
}
