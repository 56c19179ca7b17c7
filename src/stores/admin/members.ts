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

/** A link that the administrator must pass on to a person, because no mail server is configured. */
export interface LinkToPassOn {
  /** Id of the person who needs the link. */
  id: string
  link: string
  /** Time until which `link` works, in milliseconds since the epoch. */
  until: number
}

/** A function that undoes a change. It also works after the page has opened another company. */
export type UndoFunction = () => Promise<void>

const member = createShownItem<Member>(id => callAdminApi('getMember', { id }))

/** The person whom the page shows. */
export const $member = member.$item
export const $shownMemberUsage = personalAtom<LoadState<{ usage: MemberUsage }>>({
  status: 'loading'
})
/**
 * The most recent link that the administrator must pass on to a person. The administrator sees it
 * only on the page about this person.
 */
export const $linkToPassOn = personalAtom<LinkToPassOn | undefined>(undefined)

/** Maximum number of groups that the server returns in one response. */
const mostGroups = 200

/** Loads a person and their usage, and shows them. */
export async function openMember(id: string): Promise<void> {
  $shownMemberUsage.set({ status: 'loading' })
  if (await member.open(id)) await loadMemberUsage(id)
}

/** Loads a person again and shows their present state, or that the person no longer exists. */
export const reloadMember = member.reload

/**
 * Loads the usage of the person whom the page shows. The current figures stay visible meanwhile.
 */
export async function loadMemberUsage(id: string): Promise<void> {
  const isStillShown = member.watch(id)
  const usage = await resultOrError(() => callAdminApi('getUserUsage', { id }))
  if (!isStillShown()) return
  if (usage instanceof AppError) $shownMemberUsage.set({ status: 'failed', error: usage })
  else $shownMemberUsage.set({ status: 'ready', usage })
}

/**
 * Invites a person and returns the server's response. If the response contains a link, stores the
 * link in `$linkToPassOn`. `key` is the idempotency key.
 */
export async function inviteUser(input: Invitation, key: string): Promise<MailLinkResult> {
  const invited = await callAdminApi('createUser', input, { idempotencyKey: key })
  keepLink(invited, 'activate')
  return invited
}

/**
 * Returns the id of the person of the company who has this e-mail, or undefined if there is none.
 */
export async function findMemberIdByEmail(email: string): Promise<string | undefined> {
  const [found] = await callAdminApi('listUsers', { id: companyIdOfPage(), email, limit: 1 })
  return found?.id
}

/**
 * Changes a person if the person still has the version that the administrator has seen. Otherwise
 * throws `changed_meanwhile`.
 */
export async function updateMember(
  id: string,
  changes: MemberChanges,
  version: number
): Promise<void> {
  await member.change(id, () => callAdminApi('updateMember', { ...changes, id }, { version }))
}

/**
 * Replaces the permissions of a person. If the server requires it, first asks the signed-in
 * administrator for the administrator's own password.
 */
export async function setMemberPermissions(
  id: string,
  permissions: Member['permissions'],
  version: number
): Promise<void> {
  await member.change(id, () => callAdminApi('setPermissions', { id, permissions }, { version }))
}

/** Disables a person. Returns the function that enables the person again. */
export async function disableMember(
  id: string,
  reason: DisabledReason,
  company = companyIdOfPage()
): Promise<UndoFunction> {
  await callAdminApi('disableUser', { id, reason }, { company })
  await showAgain(id)
  return async () => void (await enableMember(id, reason, company))
}

/**
 * Enables a person. Returns the function that disables the person again, for the same `reason` as
 * before.
 */
export async function enableMember(
  id: string,
  reason: DisabledReason,
  company = companyIdOfPage()
): Promise<UndoFunction> {
  await callAdminApi('enableUser', { id }, { company })
  await showAgain(id)
  return async () => void (await disableMember(id, reason, company))
}

/** Ends all sessions of a person. With `revokesKeys`, also revokes the person's API keys. */
export async function signOutMember(id: string, revokesKeys: boolean): Promise<void> {
  await callAdminApi('signOutUser', { id, ...(revokesKeys && { revoke_api_keys: true }) })
}

/**
 * Mails a person the invitation again or, if the person has signed up, the link that confirms the
 * e-mail. If the response contains the link instead, stores it in `$linkToPassOn`.
 */
export async function resendInvitationOrVerifyLink({ id, state }: Member): Promise<MailLinkResult> {
  const isWaiting = state === 'waiting'
  const answer = await callAdminApi(isWaiting ? 'resendVerifyLink' : 'resendInvitation', { id })
  keepLink(answer, isWaiting ? 'verify' : 'activate')
  return answer
}

export async function deleteMember({ id, version }: Member): Promise<void> {
  await callAdminApi('deleteMember', { id }, { version })
}

/** Returns the company's default group, which new people join. Undefined if there is none. */
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

/** The result of adding a person to a group. */
export interface AddToGroupResult {
  group: NamedGroup
  error?: AppError | undefined
}

/**
 * Adds a person to groups, one call after the other. Returns one result per group: if a call fails,
 * its result has the error, and the calls for the other groups are still made.
 */
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

/** Removes a person from a group. Returns the function that adds the person again. */
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

/** Loads a changed person again if the page still shows this person. Never throws. */
async function showAgain(id: string): Promise<void> {
  if (!member.watch(id)()) return
  // ignores failures: the page is also correct after the next load
  await Promise.allSettled([member.reload(id), loadMemberUsage(id)])
}

function keepLink({ id, link }: MailLinkResult, purpose: keyof typeof mailLinkMinutes): void {
  const until = browserEnvironment().now() + mailLinkMinutes[purpose] * 60_000
  $linkToPassOn.set(link === undefined ? undefined : { id, link, until })
}
