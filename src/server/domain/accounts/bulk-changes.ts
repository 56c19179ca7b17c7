import { DisabledReason } from '../../../contract/kit/disabled.ts'
import { AppError, type ErrorCode } from '../../../contract/kit/errors.ts'
import { type BulkAction, type BulkResult, maxBulkPeople } from '../../../contract/members.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import {
  addPeopleToGroup,
  findPeopleInMostGroups,
  removePeopleFromGroup
} from '../companies/group-members.ts'
import { requireGroup } from '../companies/groups.ts'
import type { Deps, SendingCompany } from '../deps.ts'
import { runOnce } from '../idempotency/idempotency.ts'
import type { AuthenticatedCaller } from '../sessions/sessions.ts'
import { queueInvitationsAgain, requireInvitable } from './invitations.ts'
import {
  deleteMembers,
  disableMembers,
  enableMembers,
  requireNotOneself,
  signOutMembers,
  updateMemberRowsAndVersions
} from './member-changes.ts'
import { lockMemberRows, type MembersWithLockedRows } from './member-row-locks.ts'
import { countMembers, type MemberFilter, readNextMemberIdsAndStates } from './members.ts'

type BulkDeps = Pick<Deps, 'db' | 'keys' | 'clock' | 'random' | 'signals'>

export type BulkChange =
  | { action: 'add_to_group' | 'remove_from_group'; group_id: string }
  | { action: 'disable'; reason: DisabledReason }
  | { action: Exclude<BulkAction, 'add_to_group' | 'remove_from_group' | 'disable'> }

/** With `cursor`, only people whose ids come after it. */
export type BulkSelection =
  | { ids: string[] }
  | { filter: MemberFilter; cursor?: string | undefined }

interface Bulk {
  sender: SendingCompany
  by: AuthenticatedCaller
  change: BulkChange
  people: BulkSelection
  idempotencyKey: string | undefined
}

export async function countSelectedPeople(
  deps: Pick<Deps, 'db' | 'clock'>,
  { sender, people }: Pick<Bulk, 'sender' | 'people'>
): Promise<BulkResult> {
  const matching = await inCompany(deps.db, sender.company_id, tx => countMembers(tx, deps, people))
  return { matching, done: [], unchanged: [], refused: [], next: null }
}

/**
 * With a filter, changes only the first 200 people after the cursor; `next` is the cursor for the
 * following call.
 */
export async function changeUsers(
  deps: BulkDeps,
  { sender, by, change, people, idempotencyKey: key }: Bulk
): Promise<{ body: BulkResult; replayed: boolean }> {
  return inCompany(deps.db, sender.company_id, async tx => {
    const effect = () => treatNext(tx, deps, { sender, by, change, people })
    const call = { actor: by.id, route: 'POST /user/bulk', key, input: { change, people } }
    return runOnce(tx, deps, call, effect)
  })
}

type Treatment = Omit<Bulk, 'idempotencyKey'>

async function treatNext(tx: Tx, deps: BulkDeps, treatment: Treatment): Promise<BulkResult> {
  const { by, change, people: wanted } = treatment
  if ('group_id' in change) await requireGroup(tx, change.group_id)
  const { ids, next } = await readNextPeopleIds(tx, deps, wanted)
  const people = await lockMemberRows(tx, deps, { by, ids })
  const codes = new Map(ids.map(id => [id, refusalOf(treatment, people, id)]))
  if (change.action === 'add_to_group') {
    const full = await findPeopleInMostGroups(tx, { group_id: change.group_id, user_ids: ids })
    for (const id of full.keys()) codes.set(id, codes.get(id) ?? 'too_many_groups')
  }
  const allowed = ids.filter(id => codes.get(id) === undefined)
  const changed = new Set(await apply(tx, deps, treatment, people, allowed))
  const result: BulkResult = { done: [], unchanged: [], refused: [], next }
  if (change.action === 'enable') {
    result.reasons = [...changed].flatMap(id => {
      const reason = DisabledReason.safeParse(people.get(id).disabled?.reason).data
      return reason === undefined ? [] : [{ id, reason }]
    })
  }
  for (const id of ids) {
    const code = codes.get(id)
    if (code !== undefined) result.refused.push({ id, code })
    else result[changed.has(id) ? 'done' : 'unchanged'].push(id)
  }
  return result
}

// with a filter, the first 200 ids after the cursor
export async function readNextPeopleIds(
  tx: Tx,
  deps: Pick<Deps, 'clock'>,
  wanted: BulkSelection
): Promise<{ ids: string[]; next: string | null }> {
  if ('ids' in wanted) return { ids: [...new Set(wanted.ids)].sort(), next: null }
  const { people, next } = await readNextMemberIdsAndStates(tx, deps, wanted, maxBulkPeople)
  return { ids: people.map(({ id }) => id), next }
}

function refusalOf(
  { by, change: { action } }: Treatment,
  people: MembersWithLockedRows,
  id: string
): ErrorCode | undefined {
  try {
    if (action === 'delete' && people.isWaiting(id)) return undefined
    const member = people.get(id)
    if (['delete', 'disable', 'sign_out'].includes(action)) requireNotOneself(by, id)
    if (action === 'invite') requireInvitable(member)
    return undefined
  } catch (error) {
    if (error instanceof AppError) return error.code
    throw error
  }
}

// `ids` are people for whom `refusalOf` returns nothing; returns those who were changed
async function apply(
  tx: Tx,
  deps: BulkDeps,
  { sender, by, change }: Treatment,
  people: MembersWithLockedRows,
  ids: string[]
): Promise<string[]> {
  if (ids.length === 0) return []
  if (change.action === 'delete') return deleteMembers(tx, deps, { sender, by, people, ids })
  const members = ids.map(people.get)
  switch (change.action) {
    case 'add_to_group':
    case 'remove_from_group': {
      const move = change.action === 'add_to_group' ? addPeopleToGroup : removePeopleFromGroup
      const moved = await move(tx, deps, { by, group_id: change.group_id, user_ids: ids })
      await updateMemberRowsAndVersions(tx, moved, {})
      return moved
    }
    case 'disable': {
      // whoever is disabled keeps the reason, so that enabling undoes what this call has done
      const enabled = members.filter(({ disabled }) => !disabled)
      return disableMembers(tx, deps, { by, members: enabled, reason: change.reason })
    }
    case 'enable':
      return enableMembers(tx, deps, { by, members })
    case 'sign_out':
      await signOutMembers(tx, deps, { by, members })
      return ids
    case 'invite':
      await queueInvitationsAgain(tx, deps, { sender, by, members, action: 'user.invite_again' })
      return ids
  }
}
