import { sql } from 'kysely'
import { AppError } from '../../../contract/kit/errors.ts'
import { maxGroupsPerPerson } from '../../../contract/kit/limits.ts'
import {
  deleteInCompany,
  selectById,
  updateById,
  updateInCompany
} from '../../db/company-queries.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import { type AdminCall, type AuditDeps, addAuditEntry } from '../audit/audit-entries.ts'
import type { Deps } from '../deps.ts'
import { requireWithin } from '../limits/bounds.ts'
import { requireGroup } from './groups.ts'

interface Membership extends AdminCall {
  group_id: string
  user_id: string
}

export async function addGroupUser(deps: AuditDeps, input: Membership): Promise<void> {
  await inCompany(deps.db, input.company_id, async tx => {
    await requireMembership(tx, deps, input)
    const { user_id, group_id } = input
    const used = (await findPeopleInMostGroups(tx, { group_id, user_ids: [user_id] })).get(user_id)
    if (used !== undefined) {
      requireWithin({ code: 'too_many_groups', used, limit: maxGroupsPerPerson })
    }
    const joined = await addPeopleToGroup(tx, deps, { ...input, user_ids: [user_id] })
    if (joined.length > 0) await incrementVersion(tx, user_id)
  })
}

export async function removeGroupUser(deps: AuditDeps, input: Membership): Promise<void> {
  await inCompany(deps.db, input.company_id, async tx => {
    await requireMembership(tx, deps, input)
    const { user_id } = input
    const left = await removePeopleFromGroup(tx, deps, { ...input, user_ids: [user_id] })
    if (left.length > 0) await incrementVersion(tx, user_id)
  })
}

interface Move {
  by: AdminCall['by']
  group_id: string
  user_ids: readonly string[]
}

/**
 * Returns those who were not members before. Members whom an import had added stay when it is
 * undone. The caller has locked the group and the people, and increments their versions.
 */
export async function addPeopleToGroup(
  tx: Tx,
  deps: AuditDeps,
  { by, group_id, user_ids }: Move
): Promise<string[]> {
  const { rows } = await sql<{ user_id: string }>`
    insert into group_user (company_id, group_id, user_id)
    select ${tx.companyId}, ${group_id}, user_id from unnest(${user_ids}::uuid[]) as added (user_id)
    on conflict do nothing returning user_id`.execute(tx)
  await updateInCompany(tx, 'group_user')
    .set({ imported_by: null })
    .where('group_id', '=', group_id)
    .where(sql<boolean>`user_id = any (${user_ids}::uuid[])`)
    .where('imported_by', 'is not', null)
    .execute()
  for (const { user_id } of rows) {
    addAuditEntry(tx, deps, { by, action: 'group.add_user', target: group_id, after: { user_id } })
  }
  return rows.map(({ user_id }) => user_id)
}

/**
 * Returns those who cannot join, with the number of their groups. The caller has locked the people.
 */
export async function findPeopleInMostGroups(
  tx: Tx,
  { group_id, user_ids }: Omit<Move, 'by'>
): Promise<Map<string, number>> {
  const { rows } = await sql<{ user_id: string; count: number }>`
    select user_id, count(*) as count from group_user
     where company_id = ${tx.companyId} and user_id = any (${user_ids}::uuid[])
     group by user_id
    having count(*) >= ${maxGroupsPerPerson} and not bool_or(group_id = ${group_id})`.execute(tx)
  return new Map(rows.map(({ user_id, count }) => [user_id, count]))
}

/**
 * Returns those who were members. The caller has locked the people, and increments their versions.
 */
export async function removePeopleFromGroup(
  tx: Tx,
  deps: AuditDeps,
  { by, group_id, user_ids }: Move
): Promise<string[]> {
  const removed = await deleteInCompany(tx, 'group_user')
    .where('group_id', '=', group_id)
    .where(sql<boolean>`user_id = any (${user_ids}::uuid[])`)
    .returning('user_id')
    .execute()
  for (const { user_id } of removed) {
    addAuditEntry(tx, deps, {
      by,
      action: 'group.remove_user',
      target: group_id,
      before: { user_id }
    })
  }
  return removed.map(({ user_id }) => user_id)
}

// the version of a person covers their groups
async function incrementVersion(tx: Tx, user_id: string): Promise<void> {
  await updateById(tx, 'user', user_id).set({ version: sql<number>`version + 1` }).execute()
}

async function requireMembership(
  tx: Tx,
  { clock }: Pick<Deps, 'clock'>,
  { group_id, user_id }: Membership
): Promise<void> {
  await requireGroup(tx, group_id)
  const user = await selectById(tx, 'user', user_id)
    .where('deleted_at', 'is', null)
    .select('id')
    // parallel calls are counted one after the other
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (user) return
  const signUp = await selectById(tx, 'signup', user_id)
    .where('expires_at', '>', clock())
    .select('id')
    .executeTakeFirst()
  if (signUp) throw new AppError('email_unconfirmed', 'A sign-up that waits is in no group')
  throw new AppError('not_found', 'No such person')
}
