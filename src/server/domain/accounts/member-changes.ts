import { sql } from 'kysely'
import type { DisabledReason } from '../../../contract/kit/disabled.ts'
import { AppError } from '../../../contract/kit/errors.ts'
import { type Member, Permission } from '../../../contract/members.ts'
import { selectInCompany, updateInCompany } from '../../db/company-queries.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import { addAuditEntry, addPermissionsEntry } from '../audit/audit-entries.ts'
import { addPeopleToGroup, removePeopleFromGroup } from '../companies/group-members.ts'
import { requireGroup } from '../companies/groups.ts'
import type { CompanyId, Deps, SendingCompany } from '../deps.ts'
import {
  type AuthenticatedCaller,
  endSessionsOfPeople,
  signalSessionChanges,
  signOutEverywhere
} from '../sessions/sessions.ts'
import { type ExpectedVersion, missingVersionNote, requireVersion } from '../versions.ts'
import { revokeApiKeysOfPeople } from './api-keys.ts'
import { eraseUsers } from './deletions.ts'
import {
  lockMemberRow,
  lockMemberRows,
  type MembersWithLockedRows,
  type MemberWithLockedRow
} from './member-row-locks.ts'
import { readMember } from './members.ts'
import { deleteSignUps } from './signups.ts'

type ChangeDeps = Pick<Deps, 'db' | 'clock' | 'random' | 'signals'>

interface MemberCall {
  company_id: CompanyId
  by: AuthenticatedCaller
  id: string
}

type Versioned = MemberCall & ExpectedVersion

interface Update extends Versioned {
  username?: string | undefined
  locale?: 'en' | 'fr' | undefined
  group_ids?: string[] | undefined
}

export async function updateMember(
  deps: ChangeDeps,
  { company_id, by, id, version, group_ids, ...given }: Update
): Promise<Member> {
  return inCompany(deps.db, company_id, async tx => {
    const member = await lockMemberRow(tx, deps, { by, id })
    requireVersion(member.version, version)
    const before = { username: member.username, locale: member.locale }
    const after = {
      username: given.username ?? before.username,
      locale: given.locale ?? before.locale
    }
    await updateMemberRowsAndVersions(tx, [id], after)
    if (group_ids) await replaceGroups(tx, deps, by, id, group_ids)
    const noted = { ...after, ...missingVersionNote(version) }
    addAuditEntry(tx, deps, { by, action: 'user.update', target: id, before, after: noted })
    return readMember(tx, deps, id)
  })
}

async function replaceGroups(
  tx: Tx,
  deps: ChangeDeps,
  by: AuthenticatedCaller,
  user_id: string,
  group_ids: readonly string[]
): Promise<void> {
  const wanted = new Set(group_ids)
  const found = await selectInCompany(tx, 'group_user')
    .where('user_id', '=', user_id)
    .select('group_id')
    .execute()
  const present = new Set(found.map(({ group_id }) => group_id))
  // in one order, so that two calls do not wait for each other
  for (const group_id of [...wanted].sort()) {
    await requireGroup(tx, group_id)
    if (!present.has(group_id))
      await addPeopleToGroup(tx, deps, { by, group_id, user_ids: [user_id] })
  }
  for (const group_id of present) {
    if (!wanted.has(group_id))
      await removePeopleFromGroup(tx, deps, { by, group_id, user_ids: [user_id] })
  }
}

export async function setPermissions(
  deps: ChangeDeps,
  { company_id, by, id, version, permissions }: Versioned & { permissions: Permission[] }
): Promise<Member> {
  return inCompany(deps.db, company_id, async tx => {
    const people = await lockMemberRows(tx, deps, { by, ids: [id] })
    const member = people.get(id)
    requireVersion(member.version, version)
    const after = Permission.options.filter(each => permissions.includes(each))
    const isGranted = (each: Permission) =>
      after.includes(each) && !member.permissions.includes(each)
    const isTaken = (each: Permission) => !after.includes(each) && member.permissions.includes(each)
    if ((isGranted('operator') || isTaken('operator')) && !people.isOperator) {
      throw new AppError('forbidden', 'Only operators grant and take the permission operator')
    }
    if (isGranted('operator') && by.company_id !== company_id) {
      throw new AppError('forbidden', 'Operators belong to the company of the installation')
    }
    if (id === by.id && Permission.options.some(isTaken)) {
      throw new AppError('not_oneself', 'Nobody takes a permission from themselves')
    }
    await updateMemberRowsAndVersions(tx, [id], { permissions: after })
    signalSessionChanges(tx, deps, [id])
    addPermissionsEntry(tx, deps, {
      by,
      target: id,
      before: { permissions: member.permissions },
      after: { permissions: after, ...missingVersionNote(version) }
    })
    return readMember(tx, deps, id)
  })
}

export async function deleteMember(
  deps: ChangeDeps,
  { sender, by, id, version }: Omit<Versioned, 'company_id'> & { sender: SendingCompany }
): Promise<void> {
  await inCompany(deps.db, sender.company_id, async tx => {
    const people = await lockMemberRows(tx, deps, { by, ids: [id] })
    if (!people.isWaiting(id)) requireVersion(people.get(id).version, version)
    const erased = await deleteMembers(tx, deps, { sender, by, people, ids: [id] })
    if (erased.length === 0) throw new AppError('not_found', 'No such sign-up')
  })
}

export async function disableUser(
  deps: ChangeDeps,
  { company_id, by, id, reason }: MemberCall & { reason: DisabledReason }
): Promise<void> {
  await changeOne(deps, { company_id, by, id }, (tx, one) =>
    disableMembers(tx, deps, { ...one, reason })
  )
}

export async function enableUser(deps: ChangeDeps, call: MemberCall): Promise<void> {
  await changeOne(deps, call, (tx, one) => enableMembers(tx, deps, one))
}

export async function signOutUser(
  deps: ChangeDeps,
  { revoke_api_keys, ...call }: MemberCall & { revoke_api_keys?: boolean | undefined }
): Promise<void> {
  await changeOne(deps, call, async (tx, one) => {
    await signOutMembers(tx, deps, one)
    if (revoke_api_keys) await revokeApiKeysOfPeople(tx, deps, { by: call.by, user_ids: [call.id] })
  })
}

async function changeOne(
  deps: ChangeDeps,
  { company_id, by, id }: MemberCall,
  change: (tx: Tx, one: Targets) => Promise<unknown>
): Promise<void> {
  await inCompany(deps.db, company_id, async tx => {
    await change(tx, { by, members: [await lockMemberRow(tx, deps, { by, id })] })
  })
}

interface Targets {
  by: AuthenticatedCaller
  members: readonly MemberWithLockedRow[]
}

// callers must not lock themselves out
export function requireNotOneself(by: AuthenticatedCaller, id: string): void {
  if (id === by.id) throw new AppError('not_oneself', 'Nobody does this to themselves here')
}

interface Erasures {
  sender: SendingCompany
  by: AuthenticatedCaller
  people: MembersWithLockedRows
  ids: readonly string[]
}

// returns the ids of what was deleted, without sign-ups that a parallel call has confirmed or
// deleted
export async function deleteMembers(
  tx: Tx,
  deps: ChangeDeps,
  { sender, by, people, ids }: Erasures
): Promise<string[]> {
  const members = ids.filter(id => !people.isWaiting(id)).map(people.get)
  for (const { id } of members) requireNotOneself(by, id)
  const waiting = ids.filter(people.isWaiting)
  const dropped = waiting.length > 0 ? await deleteSignUps(tx, deps, { ids: waiting }) : []
  for (const id of dropped) addAuditEntry(tx, deps, { by, action: 'user.delete', target: id })
  if (members.length > 0) await eraseUsers(tx, deps, { sender, by, people: members })
  return [...dropped, ...members.map(({ id }) => id)]
}

export async function disableMembers(
  tx: Tx,
  deps: ChangeDeps,
  { by, members, reason }: Targets & { reason: DisabledReason }
): Promise<string[]> {
  for (const { id } of members) requireNotOneself(by, id)
  const others = members.filter(({ disabled }) => disabled?.reason !== reason)
  const ids = others.map(({ id }) => id)
  const mark = { reason, since: deps.clock().toISOString() }
  await updateMemberRowsAndVersions(tx, ids, { disabled: JSON.stringify(mark) })
  for (const { id, disabled } of others) {
    const [before, after] = [{ disabled }, { disabled: mark }]
    addAuditEntry(tx, deps, { by, action: 'user.disable', target: id, before, after })
  }
  signalSessionChanges(tx, deps, ids)
  return ids
}

export async function enableMembers(
  tx: Tx,
  deps: ChangeDeps,
  { by, members }: Targets
): Promise<string[]> {
  const disabled = members.filter(member => member.disabled)
  const ids = disabled.map(({ id }) => id)
  await updateMemberRowsAndVersions(tx, ids, { disabled: null, tokens_valid_after: deps.clock() })
  await endSessionsOfPeople(tx, deps, ids)
  for (const { id, disabled: before } of disabled) {
    const change = { before: { disabled: before }, after: {} }
    addAuditEntry(tx, deps, { by, action: 'user.enable', target: id, ...change })
  }
  return ids
}

export async function signOutMembers(
  tx: Tx,
  deps: ChangeDeps,
  { by, members }: Targets
): Promise<void> {
  for (const { id } of members) requireNotOneself(by, id)
  const ids = members.map(({ id }) => id)
  await signOutEverywhere(tx, deps, ids)
  for (const id of ids) addAuditEntry(tx, deps, { by, action: 'user.sign_out', target: id })
}

interface Columns {
  username?: string
  locale?: string
  permissions?: string[]
  disabled?: string | null
  tokens_valid_after?: Date
}

export async function updateMemberRowsAndVersions(
  tx: Tx,
  ids: readonly string[],
  columns: Columns
): Promise<void> {
  await updateInCompany(tx, 'user')
    .set({ ...columns, version: sql<number>`version + 1` })
    .where(sql<boolean>`id = any (${ids}::uuid[])`)
    .execute()
}
