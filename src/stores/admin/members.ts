import type { Group } from '../../contract/groups.ts'
import type { DisabledReason } from '../../contract/kit/disabled.ts'
import { AppError } from '../../contract/kit/errors.ts'
import type { Member, MemberUsage } from '../../contract/members.ts'
import type { MailLinkResult } from '../../contract/users.ts'
import { mailLinkMinutes } from '../../core/mail-link-minutes.ts'
import { browserEnvironment } from '../environment.ts'
import type { LoadState } from '../load-state.ts'
import { personalAtom } from '../personal-atoms.ts'
import type { CallInput } from '../sessions.ts'
import { callAdminApi, companyIdOfPage, resultOrError } from './admin-api.ts'
import { createShownItem } from './shown-item.ts'

type Invitation = Exclude<CallInput<'createUser'>, { public_key_jwt: string }>
export type MemberChanges = Pick<CallInput<'updateMember'>, 'username' | 'locale'>
export type NamedGroup = Pick<Group, 'id' | 'name'>

/** Must be passed on by the administrator, because no mail server is configured. */
export interface LinkToPassOn {
  id: string
  link: string
  until: number
}

/** Also works after the page has opened another company. */
export type UndoFunction = () => Promise<void>

const member = createShownItem<Member>(id => callAdminApi('getMember', { id }))

export const $member = member.$item
export const $shownMemberUsage = personalAtom<LoadState<{ usage: MemberUsage }>>({
  status: 'loading'
})
export const $linkToPassOn = personalAtom<LinkToPassOn | undefined>(undefined)

// the most that the server returns in one response
const mostGroups = 200

export async function openMember(id: string): Promise<void> {
  $shownMemberUsage.set({ status: 'loading' })
  if (await member.open(id)) await loadMemberUsage(id)
}

export const reloadMember = member.reload

/** The current figures stay visible meanwhile. */
export async function loadMemberUsage(id: string): Promise<void> {
  const isStillShown = member.watch(id)
  const usage = await resultOrError(() => callAdminApi('getUserUsage', { id }))
  if (!isStillShown()) return
  if (usage instanceof AppError) $shownMemberUsage.set({ status: 'failed', error: usage })
  else $shownMemberUsage.set({ status: 'ready', usage })
}

/** `key` is the idempotency key. A link in the response is stored in `$linkToPassOn`. */
export async function inviteUser(input: Invitation, key: string): Promise<MailLinkResult> {
  const invited = await callAdminApi('createUser', input, { idempotencyKey: key })
  keepLink(invited, 'activate')
  return invited
}

export async function findMemberIdByEmail(email: string): Promise<string | undefined> {
  const [found] = await callAdminApi('listUsers', { id: companyIdOfPage(), email, limit: 1 })
  return found?.id
}

/** Throws `changed_meanwhile` if the person does not have this version any more. */
export async function updateMember(
  id: string,
  changes: MemberChanges,
  version: number
): Promise<void> {
  await member.change(id, () => callAdminApi('updateMember', { ...changes, id }, { version }))
}

export async function setMemberPermissions(
  id: string,
  permissions: Member['permissions'],
  version: number
): Promise<void> {
  await member.change(id, () => callAdminApi('setPermissions', { id, permissions }, { version }))
}

/** Returns the function that enables the person again. */
export async function disableMember(
  id: string,
  reason: DisabledReason,
  company = companyIdOfPage()
): Promise<UndoFunction> {
  await callAdminApi('disableUser', { id, reason }, { company })
  await showAgain(id)
  return async () => void (await enableMember(id, reason, company))
}

/** Returns the function that disables the person again, for the same `reason` as before. */
export async function enableMember(
  id: string,
  reason: DisabledReason,
  company = companyIdOfPage()
): Promise<UndoFunction> {
  await callAdminApi('enableUser', { id }, { company })
  await showAgain(id)
  return async () => void (await disableMember(id, reason, company))
}

export async function signOutMember(id: string, revokesKeys: boolean): Promise<void> {
  await callAdminApi('signOutUser', { id, ...(revokesKeys && { revoke_api_keys: true }) })
}

/** A link in the response is stored in `$linkToPassOn`. */
export async function resendInvitationOrVerifyLink({ id, state }: Member): Promise<MailLinkResult> {
  const isWaiting = state === 'waiting'
  const answer = await callAdminApi(isWaiting ? 'resendVerifyLink' : 'resendInvitation', { id })
  keepLink(answer, isWaiting ? 'verify' : 'activate')
  return answer
}

export async function deleteMember({ id, version }: Member): Promise<void> {
  await callAdminApi('deleteMember', { id }, { version })
}

/** New people join this group. */
export async function findDefaultGroup(): Promise<Group | undefined> {
  const id = companyIdOfPage()
  let cursor: string | undefined
  for (;;) {
    const page = await callAdminApi('listGroups', {
      id,
      sort: 'created',
      limit: mostGroups,
      cursor
    })
    const found = page.find(({ is_default }) => is_default)
    if (found || page.length < mostGroups) return found
    cursor = page.at(-1)?.id
  }
}

export interface AddToGroupResult {
  group: NamedGroup
  error?: AppError | undefined
}

/** One after the other. If one fails, its result has the error, and the others are still made. */
export async function addMemberToGroups(
  id: string,
  groups: readonly NamedGroup[]
): Promise<AddToGroupResult[]> {
  // the page, whose address names the company, may be left meanwhile
  const company = companyIdOfPage()
  const additions: AddToGroupResult[] = []
  for (const group of groups) {
    const input = { groupId: group.id, user_id: id }
    const added = await resultOrError(() => callAdminApi('addGroupUser', input, { company }))
    additions.push({ group, error: added instanceof AppError ? added : undefined })
  }
  await showAgain(id)
  return additions
}

export async function removeMemberFromGroup(
  id: string,
  { id: groupId }: NamedGroup
): Promise<UndoFunction> {
  const company = companyIdOfPage()
  await callAdminApi('removeGroupUser', { groupId, userId: id })
  await showAgain(id)
  return async () => {
    await callAdminApi('addGroupUser', { groupId, user_id: id }, { company })
    await showAgain(id)
  }
}

async function showAgain(id: string): Promise<void> {
  if (!member.watch(id)()) return
  // ignores failures: the page is also correct after the next load
  await Promise.allSettled([member.reload(id), loadMemberUsage(id)])
}

function keepLink({ id, link }: MailLinkResult, purpose: keyof typeof mailLinkMinutes): void {
  const until = browserEnvironment().now() + mailLinkMinutes[purpose] * 60_000
  $linkToPassOn.set(link === undefined ? undefined : { id, link, until })
}
