import { type SelectQueryBuilder, sql } from 'kysely'
import { AppError } from '../../../contract/kit/errors.ts'
import { Id } from '../../../contract/kit/ids.ts'
import {
  type Member,
  type MemberState,
  type MemberUsage,
  Permission
} from '../../../contract/members.ts'
import type { Session } from '../../../contract/sessions.ts'
import { UserLocale } from '../../../contract/users.ts'
import { selectInCompany } from '../../db/company-queries.ts'
import { joinInCompany } from '../../db/joins.ts'
import type { Database } from '../../db/schema.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import { readGroupsById, requireGroup } from '../companies/groups.ts'
import { exportCsv } from '../csv-export.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { readUsageOfPersonAndGroups } from '../limits/usage.ts'
import { addSearchCondition, type Page, type PageInput, readMergedPage } from '../lists.ts'
import { type AuthenticatedCaller, readPersonSessions } from '../sessions/sessions.ts'
import { waitingSignUpCondition } from './member-row-locks.ts'

export interface MemberFilter {
  q?: string | undefined
  state?: MemberState | undefined
  group?: string | undefined
  permission?: Permission | undefined
  /** Selects the people whom the import with this id has created. */
  import?: string | undefined
  email?: string | undefined
}

export async function listUsers(
  deps: Pick<Deps, 'db' | 'clock'>,
  {
    company_id,
    limit,
    cursor,
    sort,
    ...filter
  }: PageInput & MemberFilter & { company_id: CompanyId }
): Promise<Page<Member>> {
  return inCompany(deps.db, company_id, async tx => {
    if (filter.group !== undefined) await requireGroup(tx, filter.group)
    const page = { limit, cursor, sort }
    const { items, next } = await readMergedPage(
      tx,
      peopleOf(tx, deps, filter),
      orders,
      page,
      rows => matching(tx, rows, filter)
    )
    return { items: await readMembers(tx, items), next }
  })
}

export async function getMember(
  deps: Pick<Deps, 'db' | 'clock'>,
  { company_id, id }: { company_id: CompanyId; id: string }
): Promise<Member> {
  return inCompany(deps.db, company_id, tx => readMember(tx, deps, id))
}

export async function readMember(tx: Tx, deps: Pick<Deps, 'clock'>, id: string): Promise<Member> {
  const { items } = await readMergedPage(tx, peopleOf(tx, deps, {}), orders, { limit: 1 }, rows =>
    matching(tx, rows, { q: id })
  )
  const [member] = await readMembers(tx, items)
  if (!member) throw new AppError('not_found', 'No such person')
  return member
}

export async function listUserSessions(
  deps: Pick<Deps, 'db' | 'clock'>,
  { company_id, by, id }: { company_id: CompanyId; by: AuthenticatedCaller; id: string }
): Promise<Session[]> {
  return inCompany(deps.db, company_id, async tx => {
    await readMember(tx, deps, id)
    const { session_id } = by
    return (await readPersonSessions(tx, deps, { id, session_id }, { limit: 100 })).items
  })
}

export async function getUserUsage(
  deps: Pick<Deps, 'db' | 'clock'>,
  { company_id, id }: { company_id: CompanyId; id: string }
): Promise<MemberUsage> {
  return inCompany(deps.db, company_id, async tx => {
    const member = await readMember(tx, deps, id)
    const ids = member.groups.map(group => group.id)
    const groups = await readGroupsById(tx, deps, ids)
    const query = { company_id, user_id: id, now: deps.clock() }
    const { total, own } = await readUsageOfPersonAndGroups(tx, query)
    const none = { requests_used: 0, storage_used: 0 }
    return { total, groups: groups.map(group => ({ ...group, own: own.get(group.id) ?? none })) }
  })
}

export function exportMembers(
  deps: Pick<Deps, 'db' | 'clock'>,
  { company_id, ...filter }: MemberFilter & { company_id: CompanyId }
): AsyncGenerator<string, void, void> {
  return exportCsv(deps, {
    company_id,
    columns: exportColumns,
    async readPage(tx, { limit, cursor }) {
      const { people, next } = await readNextMemberIdsAndStates(tx, deps, { filter, cursor }, limit)
      return { items: await readMembers(tx, people), next }
    },
    toRows: members => members
  })
}

export async function countMembers(
  tx: Tx,
  deps: Pick<Deps, 'clock'>,
  wanted: { ids: readonly string[] } | { filter: MemberFilter }
): Promise<number> {
  const filter = 'filter' in wanted ? wanted.filter : {}
  if (filter.group !== undefined) await requireGroup(tx, filter.group)
  const named = 'ids' in wanted ? sql<boolean>`person.id = any (${wanted.ids}::uuid[])` : undefined
  let sum = 0
  for (const people of peopleOf(tx, deps, filter)) {
    const { count } = await matching(tx, named ? people.where(named) : people, filter)
      .clearSelect()
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    sum += count
  }
  return sum
}

// `next` is the cursor for the following people, or null if there are none
export async function readNextMemberIdsAndStates(
  tx: Tx,
  deps: Pick<Deps, 'clock'>,
  { filter, cursor }: { filter: MemberFilter; cursor?: string | undefined },
  limit: number
): Promise<{ people: Found[]; next: string | null }> {
  if (filter.group !== undefined) await requireGroup(tx, filter.group)
  // not the cursor of a list, because the person whom it names may have been deleted
  const from = (people: People) =>
    cursor === undefined ? people : people.where('person.id', '>', cursor)
  const page = { limit, sort: 'id' }
  const { items, next } = await readMergedPage(tx, peopleOf(tx, deps, filter), orders, page, rows =>
    matching(tx, from(rows), filter)
  )
  return { people: items, next: next ?? null }
}

const orders = {
  id: 'person.id',
  sorts: {
    name: ['person.search'],
    email: ['person.email'],
    created: ['person.created_at'],
    last_seen: ['person.last_seen_at'],
    id: []
  },
  usual: 'name'
} as const

// rows are accounts, or sign-ups that wait for confirmation
type People = SelectQueryBuilder<Database & { person: PersonRow }, 'person', object>

interface PersonRow {
  company_id: string
  id: string
  search: string
  email: string
  created_at: Date
  last_seen_at: Date | number
  state: MemberState
}

// a filter by group or permission needs only accounts, because sign-ups have neither
function peopleOf(tx: Tx, deps: Pick<Deps, 'clock'>, filter: MemberFilter): People[] {
  const { state, group, permission } = filter
  const accounts = tx.selectFrom(({ selectFrom }) =>
    selectFrom('user')
      .where('company_id', '=', tx.companyId)
      .where('deleted_at', 'is', null)
      .select(['company_id', 'id', 'search', 'email', 'created_at', 'last_seen_at'])
      .select(({ ref }) => ref('state').$castTo<MemberState>().as('state'))
      .as('person')
  )
  const signUps = tx.selectFrom(({ selectFrom }) =>
    selectFrom('signup')
      .where('company_id', '=', tx.companyId)
      .where(waitingSignUpCondition(deps))
      .select(['company_id', 'id', 'search', 'email', 'created_at'])
      .select([
        sql<Date>`'-infinity'::timestamptz`.as('last_seen_at'),
        sql<MemberState>`'waiting'`.as('state')
      ])
      .as('person')
  )
  if (state === 'waiting') return [signUps]
  if (state !== undefined || group !== undefined || permission !== undefined) return [accounts]
  return [accounts, signUps]
}

// The subquery makes PostgreSQL first look up the few people with permissions in an index.
// Otherwise it would read everybody, because under row-level security it has no statistics about
// permissions.
function permissionCondition(tx: Tx, permission: Permission) {
  return sql<boolean>`person.id in (
    select id from "user" where company_id = ${tx.companyId} and deleted_at is null
      and permissions <> '{}' and permissions @> array[${permission}] offset 0
  )`
}

// A subquery that runs once. A join would be slow right after an import: PostgreSQL has no
// statistics on the new rows yet and would scan the whole import for each person.
function createdByImportCondition(tx: Tx, importId: string) {
  return sql<boolean>`person.id = any (array(
    select user_id from import_row
     where company_id = ${tx.companyId} and import_id = ${importId} and verdict = 'new'
  ))`
}

interface Found {
  id: string
  state: MemberState
}

// Most conditions use only columns of the indexes on people, so that PostgreSQL can filter without
// reading the rows.
function matching(tx: Tx, people: People, filter: MemberFilter) {
  const { q, state, group, permission, email } = filter
  const id = Id.safeParse(q?.trim()).data
  let found = addSearchCondition(people, 'person.search', id === undefined ? q : undefined)
  if (id !== undefined) found = found.where('person.id', '=', id)
  if (email !== undefined) found = found.where('person.email', '=', email)
  if (state !== undefined) found = found.where('person.state', '=', state)
  if (permission !== undefined) found = found.where(permissionCondition(tx, permission))
  if (filter.import !== undefined) found = found.where(createdByImportCondition(tx, filter.import))
  const rows = found.select(['person.id', 'person.state'])
  if (group === undefined) return rows
  return rows
    .innerJoin('group_user', join => joinInCompany(join, 'group_user.user_id', 'person.id'))
    .where('group_user.group_id', '=', group)
}

async function readMembers(tx: Tx, found: readonly Found[]): Promise<Member[]> {
  const idsOf = (isWaiting: boolean) =>
    found.flatMap(({ id, state }) => ((state === 'waiting') === isWaiting ? [id] : []))
  const accounts = await readAccounts(tx, idsOf(false))
  const signUps = await readSignUps(tx, idsOf(true))
  const members = new Map([...accounts, ...signUps].map(member => [member.id, member]))
  return found.flatMap(({ id }) => members.get(id) ?? [])
}

async function readAccounts(tx: Tx, ids: readonly string[]): Promise<Member[]> {
  if (ids.length === 0) return []
  const rows = await selectInCompany(tx, 'user')
    .where(sql<boolean>`id = any (${ids}::uuid[])`)
    .where('deleted_at', 'is', null)
    .select(['id', 'version', 'username', 'email', 'locale', 'state', 'disabled', 'permissions'])
    .select(['created_at', 'last_seen_at'])
    .execute()
  const memberships = await selectInCompany(tx, 'group_user')
    .innerJoin('group', join => joinInCompany(join, 'group.id', 'group_user.group_id'))
    .where(sql<boolean>`group_user.user_id = any (${ids}::uuid[])`)
    .orderBy('group.search')
    .select(['group_user.user_id', 'group.id', 'group.name'])
    .execute()
  const groups = Map.groupBy(memberships, ({ user_id }) => user_id)
  return rows.map(({ created_at, last_seen_at, permissions, ...row }) => ({
    ...row,
    locale: UserLocale.parse(row.locale),
    permissions: Permission.options.filter(each => permissions.includes(each)),
    groups: (groups.get(row.id) ?? []).map(({ id, name }) => ({ id, name })),
    created: created_at.toISOString(),
    last_seen: last_seen_at instanceof Date ? last_seen_at.toISOString() : null
  }))
}

async function readSignUps(tx: Tx, ids: readonly string[]): Promise<Member[]> {
  if (ids.length === 0) return []
  const rows = await selectInCompany(tx, 'signup')
    .where(sql<boolean>`id = any (${ids}::uuid[])`)
    .select(['id', 'username', 'email', 'locale', 'created_at'])
    .execute()
  return rows.map(({ created_at, ...row }) => ({
    ...row,
    version: 1,
    locale: UserLocale.parse(row.locale),
    state: 'waiting',
    disabled: null,
    permissions: [],
    groups: [],
    created: created_at.toISOString(),
    last_seen: null
  }))
}

const exportColumns: Record<string, (member: Member) => string | undefined> = {
  id: ({ id }) => id,
  email: ({ email }) => email,
  username: ({ username }) => username,
  locale: ({ locale }) => locale,
  groups: ({ groups }) => groups.map(({ name }) => name).join('; '),
  state: ({ state }) => state,
  disabled_reason: ({ disabled }) => disabled?.reason,
  disabled_since: ({ disabled }) => disabled?.since,
  permissions: ({ permissions }) => permissions.join('; '),
  created: ({ created }) => created,
  last_seen: ({ last_seen }) => last_seen ?? undefined
}
