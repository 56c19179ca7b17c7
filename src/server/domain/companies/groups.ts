import { type SelectQueryBuilder, sql } from 'kysely'
import type * as z from 'zod/mini'
import type * as endpoints from '../../../contract/groups.ts'
import { type Group, GroupFeature, LimitInterval } from '../../../contract/groups.ts'
import { AppError } from '../../../contract/kit/errors.ts'
import {
  countRows,
  deleteById,
  deleteInCompany,
  selectById,
  selectInCompany,
  updateById,
  updateInCompany
} from '../../db/company-queries.ts'
import { joinInCompany } from '../../db/joins.ts'
import type { Database } from '../../db/schema.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import { type AdminCall, type AuditDeps, addAuditEntry } from '../audit/audit-entries.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { runOnce } from '../idempotency/idempotency.ts'
import { newId } from '../ids.ts'
import { requireRoom } from '../limits/bounds.ts'
import { readQuotasOfGroups } from '../limits/usage.ts'
import { addSearchCondition, type Page, type PageInput, readPage } from '../lists.ts'
import { type ExpectedVersion, missingVersionNote, requireVersion } from '../versions.ts'

interface ListInput extends PageInput {
  company_id: CompanyId
  q?: string | undefined
  category?: string | undefined
}

export async function listGroups(
  deps: Pick<Deps, 'db' | 'clock'>,
  { company_id, q, category, ...page }: ListInput
): Promise<Page<Group>> {
  const orders = {
    id: 'group.id',
    sorts: { name: ['group.search'], created: ['group.created_at'] },
    usual: 'name'
  } as const
  return inCompany(deps.db, company_id, async tx => {
    if (category !== undefined) await requireCategory(tx, category)
    const { items, next } = await readPage(selectInCompany(tx, 'group'), orders, page, rows => {
      const found = withColumns(addSearchCondition(rows, 'group.search', q))
      if (category === undefined) return found
      return found
        .innerJoin('group_category', join =>
          joinInCompany(join, 'group_category.group_id', 'group.id')
        )
        .where('group_category.category_id', '=', category)
    })
    return { items: await withUsage(tx, deps, items), next }
  })
}

export async function getGroup(
  deps: Pick<Deps, 'db' | 'clock'>,
  { company_id, id }: { company_id: CompanyId; id: string }
): Promise<Group> {
  return inCompany(deps.db, company_id, tx => readGroup(tx, deps, id))
}

interface Creation extends AdminCall, z.output<typeof endpoints.createGroup.input> {
  idempotencyKey: string | undefined
}

export async function createGroup(
  deps: Pick<Deps, 'db' | 'keys' | 'clock' | 'random' | 'settings'>,
  { company_id, by, idempotencyKey: key, ...settings }: Creation
): Promise<{ body: Group; replayed: boolean }> {
  const now = deps.clock()
  return inCompany(deps.db, company_id, async tx => {
    const insert = async () => {
      await requireRoom(tx, deps, 'groups')
      const id = newId(deps)
      await withNameCheck(() =>
        tx
          .insertInto('group')
          .values({ ...settings, company_id, id, created_at: now })
          .execute()
      )
      addAuditEntry(tx, deps, { by, action: 'group.create', target: id, after: settings })
      return readGroup(tx, deps, id)
    }
    return runOnce(tx, deps, { actor: by.id, route: 'POST /group', key, input: settings }, insert)
  })
}

type Change = AdminCall & ExpectedVersion & z.output<typeof endpoints.updateGroup.input>

export async function updateGroup(
  deps: AuditDeps,
  { company_id, by, id, version, ...changes }: Change
): Promise<Group> {
  const change = async (tx: Tx) => {
    const { version: present, ...before } = await lockGroup(tx, id, changes.is_default)
    requireVersion(present, version)
    if (changes.is_default && !before.is_default) await endDefault(tx, deps, by)
    await withNameCheck(() =>
      updateById(tx, 'group', id)
        .set({ ...changes, version: present + 1 })
        .execute()
    )
    const after = { ...before, ...changes, ...missingVersionNote(version) }
    addAuditEntry(tx, deps, { by, action: 'group.update', target: id, before, after })
    return readGroup(tx, deps, id)
  }
  return withDefaultGroupError(() => inCompany(deps.db, company_id, change))
}

export async function deleteGroup(
  deps: AuditDeps,
  { company_id, by, id, version }: AdminCall & ExpectedVersion & { id: string }
): Promise<void> {
  await inCompany(deps.db, company_id, async tx => {
    // nobody joins it and nothing is charged to it from here on
    const group = await selectById(tx, 'group', id)
      .select(settingColumns)
      .select('version')
      .forUpdate()
      .executeTakeFirst()
    if (!group) throw noGroup()
    const { version: present, ...before } = group
    requireVersion(present, version)
    if (before.is_default) {
      throw new AppError('default_group_needed', 'New people join this group; make another default')
    }
    const uses = await countUses(tx, id)
    if (Object.values(uses).some(count => count > 0)) {
      throw new AppError('in_use', 'People are in the group, or something was charged to it', {
        uses
      })
    }
    for (const table of ['group_category', 'user_usage', 'usage_day', 'usage'] as const) {
      await tx
        .deleteFrom(table)
        .where('company_id', '=', company_id)
        .where('group_id', '=', id)
        .execute()
    }
    await deleteById(tx, 'group', id).execute()
    const after = missingVersionNote(version)
    addAuditEntry(tx, deps, { by, action: 'group.delete', target: id, before, after })
  })
}

interface Allowance extends AdminCall {
  group_id: string
  category_id: string
}

export async function addGroupCategory(deps: AuditDeps, input: Allowance): Promise<void> {
  const { company_id, by, group_id, category_id } = input
  const add = async (tx: Tx) => {
    await requireAllowance(tx, input)
    const added = await tx
      .insertInto('group_category')
      .values({ company_id, group_id, category_id })
      .onConflict(conflict => conflict.doNothing())
      .returning('category_id')
      .execute()
    if (added.length === 0) return
    addAuditEntry(tx, deps, {
      by,
      action: 'group.add_category',
      target: group_id,
      after: { category_id }
    })
  }
  await withDefaultGroupError(() => inCompany(deps.db, company_id, add))
}

export async function removeGroupCategory(deps: AuditDeps, input: Allowance): Promise<void> {
  const { company_id, by, group_id, category_id } = input
  await inCompany(deps.db, company_id, async tx => {
    await requireAllowance(tx, input)
    const removed = await deleteInCompany(tx, 'group_category')
      .where('group_id', '=', group_id)
      .where('category_id', '=', category_id)
      .returning('category_id')
      .execute()
    if (removed.length === 0) return
    const before = { category_id }
    addAuditEntry(tx, deps, { by, action: 'group.remove_category', target: group_id, before })
  })
}

/** Keeps the group from being deleted until the transaction ends. */
export async function requireGroup(tx: Tx, id: string): Promise<void> {
  const found = await selectById(tx, 'group', id).select('id').forKeyShare().executeTakeFirst()
  if (!found) throw noGroup()
}

const settingColumns = [
  'group.name',
  'group.features',
  'group.max_requests',
  'group.max_requests_interval',
  'group.max_storage',
  'group.is_default'
] as const

function withColumns(groups: SelectQueryBuilder<Database, 'group', object>) {
  return groups.select(({ selectFrom, fn }) => [
    'group.id',
    'group.version',
    'group.created_at',
    ...settingColumns,
    selectFrom('group_user')
      .whereRef('group_user.company_id', '=', 'group.company_id')
      .whereRef('group_user.group_id', '=', 'group.id')
      .select(fn.countAll<number>().as('count'))
      .as('member_count'),
    // the accounts of the company's keys are members, but no people
    selectFrom('api_key')
      .whereRef('api_key.company_id', '=', 'group.company_id')
      .whereRef('api_key.group_id', '=', 'group.id')
      .select(fn.countAll<number>().as('count'))
      .as('key_count'),
    selectFrom('group_category')
      .whereRef('group_category.company_id', '=', 'group.company_id')
      .whereRef('group_category.group_id', '=', 'group.id')
      .select(fn.countAll<number>().as('count'))
      .as('category_count')
  ])
}

type Row = Awaited<ReturnType<ReturnType<typeof withColumns>['execute']>>[number]

async function readGroup(tx: Tx, deps: Pick<Deps, 'clock'>, id: string): Promise<Group> {
  const [group] = await readGroupsById(tx, deps, [id])
  if (!group) throw noGroup()
  return group
}

/** Sorted by name. */
export async function readGroupsById(
  tx: Tx,
  deps: Pick<Deps, 'clock'>,
  ids: readonly string[]
): Promise<Group[]> {
  const named = selectInCompany(tx, 'group').where(sql<boolean>`"group".id = any (${ids}::uuid[])`)
  return withUsage(tx, deps, await withColumns(named).orderBy('group.search').execute())
}

async function withUsage(tx: Tx, deps: Pick<Deps, 'clock'>, rows: Row[]): Promise<Group[]> {
  const quotas = await readQuotasOfGroups(tx, {
    company_id: tx.companyId,
    group_ids: rows.map(row => row.id),
    now: deps.clock()
  })
  return rows.flatMap(({ created_at, member_count, key_count, category_count, ...row }) => {
    const quota = quotas.get(row.id)
    if (!quota) return []
    return {
      ...row,
      features: GroupFeature.options.filter(feature => row.features.includes(feature)),
      max_requests_interval:
        row.max_requests_interval === null ? null : LimitInterval.parse(row.max_requests_interval),
      created: created_at.toISOString(),
      user_count: (member_count ?? 0) - (key_count ?? 0),
      category_count: category_count ?? 0,
      usage: {
        requests_used: quota.requestsTaken,
        requests_remaining: quota.requestsLeft,
        storage_used: quota.bytesTaken,
        storage_remaining: quota.bytesLeft,
        resets_at: quota.resets_at?.toISOString() ?? null
      }
    }
  })
}

// all groups before the default changes, so that no other call can change it at the same time
async function lockGroup(tx: Tx, id: string, withDefault: boolean | undefined) {
  const locked = await selectInCompany(tx, 'group')
    .$if(!withDefault, groups => groups.where('id', '=', id))
    .select(settingColumns)
    .select(['id', 'version'])
    .orderBy('id')
    .forNoKeyUpdate()
    .execute()
  const found = locked.find(group => group.id === id)
  if (!found) throw noGroup()
  const { id: _, ...group } = found
  return group
}

async function endDefault(tx: Tx, deps: AuditDeps, by: AdminCall['by']): Promise<void> {
  const { id: target } = await updateInCompany(tx, 'group')
    .set({ is_default: false, version: sql<number>`version + 1` })
    .where('is_default', '=', true)
    .returning('id')
    .executeTakeFirstOrThrow()
  const [before, after] = [{ is_default: true }, { is_default: false }]
  addAuditEntry(tx, deps, { by, action: 'group.update', target, before, after })
}

async function countUses(
  tx: Tx,
  id: string
): Promise<{ users: number; keys: number; deposits: number; requests: number }> {
  const countOf = (table: 'group_user' | 'api_key' | 'upload') =>
    countRows(selectInCompany(tx, table).where('group_id', '=', id))
  const members = await countOf('group_user')
  const keys = await countOf('api_key')
  const deposits = await countOf('upload')
  const requests = await selectInCompany(tx, 'usage')
    .where('group_id', '=', id)
    .where('kind', '=', 'requests')
    .select(sql<number>`coalesce(sum(used + reserved), 0)::bigint`.as('count'))
    .executeTakeFirstOrThrow()
  return {
    // the accounts of the company's keys are members, but no people
    users: members - keys,
    keys,
    deposits,
    requests: requests.count
  }
}

async function requireAllowance(tx: Tx, { group_id, category_id }: Allowance): Promise<void> {
  await requireGroup(tx, group_id)
  await requireCategory(tx, category_id)
}

async function requireCategory(tx: Tx, id: string): Promise<void> {
  const found = await selectById(tx, 'category', id).select('id').forKeyShare().executeTakeFirst()
  if (!found) throw new AppError('not_found', 'No such category')
}

/**
 * Throws `default_group_private` if the database refuses that `write` gives a private category to
 * everybody who signs up.
 */
export async function withDefaultGroupError<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (cause) {
    const { code, constraint } = Object(cause)
    if (code !== '23514' || constraint !== 'default_group_public') throw cause
    const detail =
      'The default group of a company with public sign-up allows public categories only'
    throw new AppError('default_group_private', detail, { cause })
  }
}

async function withNameCheck<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (cause) {
    const { code, constraint } = Object(cause)
    if (code !== '23505' || constraint !== 'group_name') throw cause
    throw new AppError('name_taken', 'Another group of the company has this name', { cause })
  }
}

function noGroup(): AppError {
  return new AppError('not_found', 'No such group')
}
