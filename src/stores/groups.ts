import type * as z from 'zod/mini'
import type { Category } from '../contract/categories.ts'
import { AppError } from '../contract/errors.ts'
import type { createGroup as create, Group, updateGroup as update } from '../contract/groups.ts'
import type { Member } from '../contract/members.ts'
import { actingCompany, adminApi } from './admin-api.ts'
import { isMissingError } from './companies.ts'
import { personalAtom } from './personal-atoms.ts'
import { sessionNumber } from './sessions.ts'

export type GroupState =
  | { status: 'loading' | 'missing' }
  | { status: 'failed'; error: AppError }
  | { status: 'ready'; group: Group }

/** A list that belongs to the group. `hasMore`: further items follow the last one. */
export type Part<Item> =
  | { status: 'loading' }
  | { status: 'failed'; error: AppError }
  | { status: 'ready'; items: readonly Item[]; hasMore: boolean }

type Input<Call extends { input: z.ZodMiniType }> = z.input<Call['input']>
export type GroupChanges = Omit<Input<typeof update>, 'id'>

/** The group that the page shows. */
export const $group = personalAtom<GroupState>({ status: 'loading' })
export const $groupMembers = personalAtom<Part<Member>>({ status: 'loading' })
export const $groupCategories = personalAtom<Part<Category>>({ status: 'loading' })

/** The most items of a page of a list. */
const pageSize = 50
const mostFound = 8

/** The id of the group that the page shows, so that answers about another one are dropped. */
let shown: string | undefined

/** Numbers the calls that return a group, in the order in which they were sent. */
let calls = 0
/** Number of the call whose group is shown. */
let shownCall = 0

/** Loads a group with its first members and its categories. */
export async function openGroup(id: string): Promise<void> {
  shown = id
  const isStillShown = watch(id)
  $group.set({ status: 'loading' })
  $groupMembers.set({ status: 'loading' })
  $groupCategories.set({ status: 'loading' })
  try {
    await reloadGroup(id)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    if (isStillShown() && $group.get().status !== 'missing') $group.set({ status: 'failed', error })
    return
  }
  if (isStillShown()) await Promise.all([loadMembers(id), loadCategories(id)])
}

/** Loads what is stored of a group now, and shows it, or that the group is missing. */
export function reloadGroup(id: string): Promise<Group> {
  // an id that is no UUID is refused as such
  return showAnswer(id, isMissingError, () => adminApi('getGroup', { id }))
}

/** Creates a group and returns it. */
export function createGroup(input: Input<typeof create>, key: string): Promise<Group> {
  return adminApi('createGroup', input, { idempotencyKey: key })
}

/**
 * Changes the version of a group that the person has seen. Throws `changed_meanwhile` for another.
 */
export async function changeGroup(
  id: string,
  changes: GroupChanges,
  version: number
): Promise<void> {
  const isMissing = ({ code }: AppError) => code === 'not_found'
  await showAnswer(id, isMissing, () => adminApi('updateGroup', { ...changes, id }, { version }))
}

/** Shows the group that a call returns, unless a newer state of it is shown already. */
async function showAnswer(
  id: string,
  isMissing: (error: AppError) => boolean,
  call: () => Promise<Group>
): Promise<Group> {
  const isStillShown = watch(id)
  calls += 1
  const number = calls
  try {
    const group = await call()
    const before = $group.get()
    const isOlder =
      before.status === 'ready' &&
      (group.version < before.group.version ||
        (group.version === before.group.version && number < shownCall))
    if (isStillShown() && !isOlder) {
      shownCall = number
      $group.set({ status: 'ready', group })
    }
    return group
  } catch (error) {
    if (error instanceof AppError && isMissing(error) && isStillShown())
      $group.set({ status: 'missing' })
    throw error
  }
}

export async function deleteGroup({ id, version }: Group): Promise<void> {
  await adminApi('deleteGroup', { id }, { version })
}

/**
 * Loads the first members, or with `after` those that follow this one. Throws if those that follow
 * could not be loaded; the others stay.
 */
export async function loadMembers(id: string, after?: string): Promise<void> {
  await loadPart($groupMembers, id, after, cursor =>
    adminApi('listUsers', { id: actingCompany(), group: id, limit: pageSize, cursor })
  )
}

/** Loads the categories as `loadMembers()` loads the members. */
export async function loadCategories(id: string, after?: string): Promise<void> {
  await loadPart($groupCategories, id, after, cursor =>
    adminApi('listCompanyCategories', { id: actingCompany(), group: id, limit: pageSize, cursor })
  )
}

/**
 * Returns people of the company whose name or e-mail contains the text. Returns the first people of
 * the list for an empty text.
 */
export function findPeople(text: string): Promise<Member[]> {
  return adminApi('listUsers', { id: actingCompany(), q: text || undefined, limit: mostFound })
}

/**
 * Returns categories of the company whose name contains the text. Returns the first categories of
 * the list for an empty text.
 */
export function findCategories(text: string): Promise<Category[]> {
  return adminApi('listCompanyCategories', {
    id: actingCompany(),
    q: text || undefined,
    limit: mostFound
  })
}

export async function addMember(id: string, member: Member): Promise<void> {
  const isStillShown = watch(id)
  await adminApi('addGroupUser', { groupId: id, user_id: member.id })
  if (!isStillShown()) return
  change($groupMembers, items => [member, ...items.filter(each => each.id !== member.id)])
  countMembers(id)
}

export async function removeMember(id: string, { id: userId }: Member): Promise<void> {
  const isStillShown = watch(id)
  await adminApi('removeGroupUser', { groupId: id, userId })
  if (!isStillShown()) return
  change($groupMembers, items => items.filter(each => each.id !== userId))
  countMembers(id)
}

export interface MemberAddition {
  email: string
  /** Why the person could not be added. */
  error?: AppError | undefined
}

/**
 * Adds people of the company by their e-mails, one after the other. An error is kept with its
 * e-mail, and the others are still added. `onProgress` gets the number of e-mails that are done.
 */
export async function addMembers(
  id: string,
  emails: readonly string[],
  onProgress: (done: number) => void
): Promise<MemberAddition[]> {
  const isStillShown = watch(id)
  // the page, whose address names the company, may be left meanwhile
  const company = actingCompany()
  const additions: MemberAddition[] = []
  for (const email of emails) {
    additions.push({ email, error: await addByEmail(id, email, company) })
    onProgress(additions.length)
  }
  if (!isStillShown()) return additions
  await loadMembers(id)
  countMembers(id)
  return additions
}

async function addByEmail(
  id: string,
  email: string,
  company: string
): Promise<AppError | undefined> {
  try {
    const [member] = await adminApi('listUsers', { id: company, email, limit: 1 }, { company })
    if (!member) return new AppError('not_found', 'Nobody of the company has this e-mail')
    await adminApi('addGroupUser', { groupId: id, user_id: member.id }, { company })
    return undefined
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}

export async function addCategory(id: string, category: Category): Promise<void> {
  const isStillShown = watch(id)
  await adminApi('addGroupCategory', { groupId: id, category_id: category.id })
  if (!isStillShown()) return
  // first, because further pages follow the last one
  change($groupCategories, items => [category, ...items.filter(each => each.id !== category.id)])
}

export async function removeCategory(id: string, { id: categoryId }: Category): Promise<void> {
  const isStillShown = watch(id)
  await adminApi('removeGroupCategory', { groupId: id, categoryId })
  if (!isStillShown()) return
  change($groupCategories, items => items.filter(each => each.id !== categoryId))
}

type PartStore<Item> = ReturnType<typeof personalAtom<Part<Item>>>

async function loadPart<Item extends { id: string }>(
  store: PartStore<Item>,
  id: string,
  after: string | undefined,
  load: (cursor: string | undefined) => Promise<Item[]>
): Promise<void> {
  const isStillShown = watch(id)
  try {
    const items = await load(after)
    if (!isStillShown()) return
    const before = store.get()
    const known = after !== undefined && before.status === 'ready' ? before.items : []
    const ids = new Set(items.map(each => each.id))
    const kept = known.filter(each => !ids.has(each.id))
    store.set({
      status: 'ready',
      items: [...kept, ...items],
      hasMore: items.length === pageSize
    })
  } catch (error) {
    if (!(error instanceof AppError) || after !== undefined) throw error
    if (isStillShown()) store.set({ status: 'failed', error })
  }
}

function change<Item>(
  store: PartStore<Item>,
  next: (items: readonly Item[]) => readonly Item[]
): void {
  const before = store.get()
  if (before.status === 'ready') store.set({ ...before, items: next(before.items) })
}

/**
 * Returns a function that says whether the page still shows the group, in the same session. Call
 * it before the call of the API whose answer is shown.
 */
function watch(id: string): () => boolean {
  const [session, company] = [sessionNumber(), actingCompany()]
  return () => id === shown && session === sessionNumber() && company === actingCompany()
}

/** Shows the new number of members. Where that fails, the next load will. */
function countMembers(id: string): void {
  reloadGroup(id).catch(() => {})
}
