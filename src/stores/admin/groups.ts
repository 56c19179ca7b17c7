import type { Category } from '../../contract/categories.ts'
import type { Group } from '../../contract/groups.ts'
import { AppError } from '../../contract/kit/errors.ts'
import type { Member } from '../../contract/members.ts'
import { dropRow, putRow } from '../lists/list-changes.ts'
import { createListStore } from '../lists/lists.ts'
import type { CallInput } from '../sessions.ts'
import { callAdminApi, companyIdOfPage, resultOrError } from './admin-api.ts'
import { createShownItem } from './shown-item.ts'

export type GroupChanges = Omit<CallInput<'updateGroup'>, 'id'>

const group = createShownItem<Group>(id => callAdminApi('getGroup', { id }))

export const $group = group.$item
export const groupMembers = createListStore<Member, { q?: string }>((query, page, id) =>
  callAdminApi('listUsers', { id: companyIdOfPage(), group: id, ...page, ...query })
)
export const groupCategories = createListStore<Category>((_, page, id) =>
  callAdminApi('listCompanyCategories', { id: companyIdOfPage(), group: id, ...page })
)

export async function openGroup(id: string): Promise<void> {
  groupMembers.clear()
  groupCategories.clear()
  if (await group.open(id))
    await Promise.all([groupMembers.open(id, {}), groupCategories.open(id, {})])
}

export const reloadGroup = group.reload

/** `key` is the idempotency key. */
export function createGroup(input: CallInput<'createGroup'>, key: string): Promise<Group> {
  return callAdminApi('createGroup', input, { idempotencyKey: key })
}

/** Throws `changed_meanwhile` if the group does not have this version any more. */
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
  if (putRow(groupMembers, id, member)) refreshMemberCount(id)
}

export async function removeGroupMember(id: string, member: Member): Promise<void> {
  await callAdminApi('removeGroupUser', { groupId: id, userId: member.id })
  if (dropRow(groupMembers, id, member)) refreshMemberCount(id)
}

export interface MemberAdditionResult {
  email: string
  error?: AppError | undefined
}

/** One after the other. If one fails, its result has the error, and the others are still added. */
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
  putRow(groupCategories, id, category)
}

export async function removeCategoryFromGroup(id: string, category: Category): Promise<void> {
  await callAdminApi('removeGroupCategory', { groupId: id, categoryId: category.id })
  dropRow(groupCategories, id, category)
}

// the next load corrects the number
function refreshMemberCount(id: string): void {
  reloadGroup(id).catch(() => {})
}
