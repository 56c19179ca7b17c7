import type { Category } from '../../contract/categories.ts'
import type { Group } from '../../contract/groups.ts'
import { AppError } from '../../contract/kit/errors.ts'
import type { Member } from '../../contract/members.ts'
import { createListStore } from '../lists/lists.ts'
import type { CallInput } from '../sessions.ts'
import { callAdminApi, companyIdOfPage, resultOrError } from './admin-api.ts'
import { createShownItem } from './shown-item.ts'

export type GroupChanges = Omit<CallInput<'updateGroup'>, 'id'>

const group = createShownItem<Group>(id => callAdminApi('getGroup', { id }))

/** The group that the page shows. */
export const $group = group.$item
/** The members of that group. `q`: words of the name or e-mail. */
export const groupMembers = createListStore<Member, { q?: string }>((query, page, id) =>
  callAdminApi('listUsers', { id: companyIdOfPage(), group: id, ...page, ...query })
)
/** The categories that the members of that group may use. */
export const groupCategories = createListStore<Category>((_, page, id) =>
  callAdminApi('listCompanyCategories', { id: companyIdOfPage(), group: id, ...page })
)

/** Loads a group with its first members and its categories. */
export async function openGroup(id: string): Promise<void> {
  groupMembers.clear()
  groupCategories.clear()
  if (await group.open(id))
    await Promise.all([groupMembers.open(id, {}), groupCategories.open(id, {})])
}

/** Loads a group again and shows its present state, or that it no longer exists. */
export const reloadGroup = group.reload

/** Creates a group and returns it. `key` is the idempotency key. */
export function createGroup(input: CallInput<'createGroup'>, key: string): Promise<Group> {
  return callAdminApi('createGroup', input, { idempotencyKey: key })
}

/**
 * Changes a group if it still has the version that the person has seen. Otherwise throws
 * `changed_meanwhile`.
 */
export async function updateGroup(
  id: string,
  changes: GroupChanges,
  version: number
): Promise<void> {
  await group.change(id, () => callAdminApi('updateGroup', { ...changes, id }, { version }))
}

export async function deleteGroup({ id, version }: Group): Promise<void> {
  await callAdminApi('deleteGroup', { id }, { version })
}

export async function addGroupMember(id: string, member: Member): Promise<void> {
  await callAdminApi('addGroupUser', { groupId: id, user_id: member.id })
  if (groupMembers.put(id, member)) refreshMemberCount(id)
}

export async function removeGroupMember(id: string, member: Member): Promise<void> {
  await callAdminApi('removeGroupUser', { groupId: id, userId: member.id })
  if (groupMembers.drop(id, member)) refreshMemberCount(id)
}

/** The result of adding one person to a group by e-mail. */
export interface MemberAdditionResult {
  email: string
  error?: AppError | undefined
}

/**
 * Adds people of the company by their e-mails, one after the other. Returns one result per e-mail:
 * if adding the person fails, the result has the error, and the others are still added.
 * `onProgress` gets the number of e-mails processed so far.
 */
export async function addGroupMembers(
  id: string,
  emails: readonly string[],
  onProgress: (done: number) => void
): Promise<MemberAdditionResult[]> {
  const isStillShown = group.watch(id)
  // the page, whose address names the company, may be left meanwhile
  const company = companyIdOfPage()
  const additions: MemberAdditionResult[] = []
  for (const email of emails) {
    const added = await resultOrError(() => addByEmail(id, email, company))
    additions.push({ email, error: added instanceof AppError ? added : undefined })
    onProgress(additions.length)
  }
  if (!isStillShown()) return additions
  await groupMembers.refresh()
  refreshMemberCount(id)
  return additions
}

async function addByEmail(id: string, email: string, company: string): Promise<void> {
  const [member] = await callAdminApi('listUsers', { id: company, email, limit: 1 }, { company })
  if (!member) throw new AppError('not_found', 'Nobody of the company has this e-mail')
  await callAdminApi('addGroupUser', { groupId: id, user_id: member.id }, { company })
}

export async function addCategoryToGroup(id: string, category: Category): Promise<void> {
  await callAdminApi('addGroupCategory', { groupId: id, category_id: category.id })
  groupCategories.put(id, category)
}

export async function removeCategoryFromGroup(id: string, category: Category): Promise<void> {
  await callAdminApi('removeGroupCategory', { groupId: id, categoryId: category.id })
  groupCategories.drop(id, category)
}

/**
 * Loads the group again, because its number of members has changed. Ignores a failure, because the
 * next load corrects the number.
 */
function refreshMemberCount(id: string): void {
  reloadGroup(id).catch(() => {})
}
