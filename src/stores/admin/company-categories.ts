import type { CategoryDetails } from '../../contract/company-categories.ts'
import type { Group } from '../../contract/groups.ts'
import { createListStore } from '../lists/lists.ts'
import type { CallInput } from '../sessions.ts'
import { callAdminApi, companyIdOfPage } from './admin-api.ts'
import { createItemEntriesStore } from './item-entries.ts'
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

/** The categories of a company. `open()` takes the id of the company. */
export const categoryList = createListStore<CategoryDetails, CategoryQuery>(
  (query, page, company) =>
    callAdminApi('listCompanyCategories', { id: company, ...page, ...query })
)

const category = createShownItem<CategoryDetails>(id => callAdminApi('getCategory', { id }))
const groups = createItemEntriesStore<Group>(category.watch, (id, page) =>
  callAdminApi('listGroups', { id: companyIdOfPage(), category: id, ...page })
)

/** The category that the page shows. */
export const $category = category.$item
/** The groups whose members may use the category. */
export const $categoryGroups = groups.$entries

/** Loads a category and the first groups whose members may use it, and shows them. */
export async function openCategory(id: string): Promise<void> {
  groups.restart()
  if (await category.open(id)) await groups.load(id)
}

/** Loads a category again and shows its present state, or that it no longer exists. */
export const reloadCategory = category.reload

/**
 * Loads the first page of the groups whose members may use the category. With `after`, the id of a
 * group in the list, loads the page that follows that group.
 */
export const loadCategoryGroups = groups.load

/** Creates a category and returns it. `key` is the idempotency key. */
export function createCategory(
  input: CallInput<'createCategory'>,
  key: string
): Promise<CategoryDetails> {
  return callAdminApi('createCategory', input, { idempotencyKey: key })
}

/**
 * Changes a category if it still has the version that the person has seen. Otherwise throws
 * `changed_meanwhile`.
 */
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

/** Lets the members of a group use the category. */
export async function addGroupToCategory(id: string, group: Group): Promise<void> {
  const call = () => callAdminApi('addGroupCategory', { groupId: group.id, category_id: id })
  await groups.add(id, group, call)
}

/** Removes a group from the groups whose members may use the category. */
export async function removeGroupFromCategory(id: string, group: Group): Promise<void> {
  const call = () => callAdminApi('removeGroupCategory', { groupId: group.id, categoryId: id })
  await groups.remove(id, group, call)
}
