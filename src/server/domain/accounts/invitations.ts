import { sql } from 'kysely'
import { AppError } from '../../../contract/kit/errors.ts'
import { deleteInCompany, selectInCompany, updateById } from '../../db/company-queries.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import { addAuditEntry, addPermissionsEntry } from '../audit/audit-entries.ts'
import { requireGroup } from '../companies/groups.ts'
import { findPrimaryDomain, webOriginOf } from '../companies/served-hosts.ts'
import type { CompanyId, Deps, SendingCompany, Tenant } from '../deps.ts'
import { runOnce } from '../idempotency/idempotency.ts'
import { newId } from '../ids.ts'
import { queueMails } from '../mail/mail-queue.ts'
import { buildMailLink, createMailTokens, localizedLinkPath } from '../mail/mail-tokens.ts'
import type { AuthenticatedCaller } from '../sessions/sessions.ts'
import { lockMemberRow, type MemberWithLockedRow } from './member-row-locks.ts'
import { addUser } from './new-users.ts'
import {
  lockPersonRow,
  type PublicKeyWithMailToken,
  setPublicKeyWithMailToken
} from './user-keys.ts'

interface Invitation {
  tenant: Tenant
  by: AuthenticatedCaller
  email: string
  username: string | undefined
  locale: 'en' | 'fr' | undefined
  /** Undefined for the company's default group. */
  group_ids: string[] | undefined
  idempotencyKey: string | undefined
}

export interface InvitationResult {
  id: string
  /**
   * Absent if a mail server is configured, or if the call repeats one with the same idempotency
   * key.
   */
  link?: string
  /** When the link will be mailed, if a limit on mails delays it. */
  queued_until?: string
}

export async function inviteUser(
  deps: Pick<Deps, 'db' | 'keys' | 'clock' | 'random' | 'settings' | 'signals'>,
  { tenant, by, idempotencyKey: key, ...fields }: Invitation
): Promise<{ body: InvitationResult; replayed: boolean }> {
  return inCompany(deps.db, tenant.company_id, async tx => {
    const effect = async () => ({ id: await insertInvitedPerson(tx, deps, { by, ...fields }) })
    const call = { actor: by.id, route: 'POST /user', key, input: fields }
    const { body, replayed } = await runOnce(tx, deps, call, effect)
    if (replayed) return { body, replayed }
    // not stored for repeated calls, because whoever has the link can get in
    return { body: await sendNow(tx, deps, tenant, body.id), replayed }
  })
}

interface InvitedPerson {
  by: Pick<AuthenticatedCaller, 'id' | 'company_id'>
  email: string
  username?: string | undefined
  locale: 'en' | 'fr' | undefined
  group_ids?: string[] | undefined
  permissions?: string[]
}

/** Queues no invitation mail; `queueFirstInvitation` does that after it. */
export async function insertInvitedPerson(
  tx: Tx,
  deps: Pick<Deps, 'keys' | 'clock' | 'random' | 'settings'>,
  { by, permissions, ...person }: InvitedPerson
): Promise<string> {
  const { email, locale, group_ids } = person
  for (const id of group_ids ?? []) await requireGroup(tx, id)
  const username = person.username ?? email.slice(0, email.lastIndexOf('@')).slice(0, 80)
  const user = { email, username, locale, group_ids, ...(permissions && { permissions }) }
  const id = await addUser(tx, deps, { ...user, key: undefined, isInvited: true })
  if (id === undefined) throw new AppError('email_taken', 'The company has this e-mail already')
  const after = { email, username, locale, group_ids }
  addAuditEntry(tx, deps, { by, action: 'user.invite', target: id, after })
  if (permissions?.length) {
    const change = { before: { permissions: [] }, after: { permissions } }
    addPermissionsEntry(tx, deps, { by, target: id, ...change })
  }
  return id
}

export async function queueFirstInvitation(
  deps: Pick<Deps, 'db' | 'keys' | 'clock' | 'random' | 'settings' | 'signals'>,
  { tenant, id }: { tenant: Tenant; id: string }
): Promise<InvitationResult> {
  return inCompany(deps.db, tenant.company_id, tx => sendNow(tx, deps, tenant, id))
}

/**
 * Mails the first invitation to everybody who was invited while the company had no host, with links
 * to `host`. No link can lead to a wildcard, so nothing happens for one.
 */
export async function queueWaitingInvitations(
  tx: Tx,
  deps: Pick<Deps, 'keys' | 'clock' | 'random' | 'signals'>,
  host: string
): Promise<void> {
  if (host.startsWith('*')) return
  const people = await selectInCompany(tx, 'user')
    .where('deleted_at', 'is', null)
    .where('state', '=', 'invited')
    .where('invitation_waits', '=', true)
    .select(['id', 'email', 'locale'])
    .execute()
  if (people.length === 0) return
  await queueInvitations(tx, deps, { company_id: tx.companyId, host }, people)
}

/** Does nothing while the company has no primary host. */
export async function sendWaitingInvitations(
  deps: Pick<Deps, 'db' | 'keys' | 'clock' | 'random' | 'signals'>,
  company_id: CompanyId
): Promise<void> {
  await inCompany(deps.db, company_id, async tx => {
    const primary = await findPrimaryDomain(tx)
    if (primary) await queueWaitingInvitations(tx, deps, primary.host)
  })
}

async function sendNow(
  tx: Tx,
  deps: Pick<Deps, 'keys' | 'clock' | 'random' | 'settings' | 'signals'>,
  tenant: Tenant,
  id: string
): Promise<InvitationResult> {
  const invited = { id, ...(await lockPersonRow(tx, id)) }
  const [queued] = await queueInvitations(tx, deps, tenant, [invited])
  return { id, ...queued, ...(await linkWithoutMail(tx, deps, tenant, invited)) }
}

export async function resendInvitation(
  deps: Pick<Deps, 'db' | 'keys' | 'clock' | 'random' | 'settings' | 'signals'>,
  { tenant, by, id }: { tenant: Tenant; by: AuthenticatedCaller; id: string }
): Promise<InvitationResult> {
  return inCompany(deps.db, tenant.company_id, async tx => {
    const member = await lockMemberRow(tx, deps, { by, id })
    requireInvitable(member)
    // whoever has the link becomes an administrator
    if (!deps.settings.mailServer && member.permissions.length > 0 && !by.confirmed) {
      throw new AppError('confirmation_required', 'Confirm the password first: POST /user/confirm')
    }
    const action = deps.settings.mailServer ? 'user.invite_again' : 'user.invitation_link'
    const members = [member]
    const [queued] = await queueInvitationsAgain(tx, deps, { sender: tenant, by, members, action })
    return { id, ...queued, ...(await linkWithoutMail(tx, deps, tenant, member)) }
  })
}

export function requireInvitable({ state }: Pick<MemberWithLockedRow, 'state'>): void {
  if (state === 'disabled') throw new AppError('person_disabled', 'Enable the person first')
  if (state === 'active') {
    throw new AppError('already_active', 'The person has activated their account')
  }
}

// the caller must have checked each member with `requireInvitable`
export async function queueInvitationsAgain(
  tx: Tx,
  deps: Pick<Deps, 'keys' | 'clock' | 'random' | 'signals'>,
  {
    sender,
    by,
    members,
    action
  }: {
    sender: SendingCompany
    by: AuthenticatedCaller
    members: readonly MemberWithLockedRow[]
    action: 'user.invite_again' | 'user.invitation_link'
  }
): Promise<Queued[]> {
  for (const { id } of members) addAuditEntry(tx, deps, { by, action, target: id })
  return queueInvitations(tx, deps, sender, members)
}

interface Activation extends PublicKeyWithMailToken {
  username: string
  locale?: 'en' | 'fr' | undefined
}

export async function activateUser(
  deps: Pick<Deps, 'db' | 'keys' | 'clock' | 'random' | 'signals'>,
  { tenant, token, username, locale, public_key_jwt }: Activation
): Promise<void> {
  const { company_id } = tenant
  await inCompany(deps.db, company_id, async tx => {
    const given = { tenant, purpose: 'activate', token, public_key_jwt } as const
    const { user_id } = await setPublicKeyWithMailToken(tx, deps, given)
    await updateById(tx, 'user', user_id)
      .set({
        username,
        ...(locale === undefined ? {} : { locale }),
        activated_at: deps.clock(),
        version: sql<number>`version + 1`
      })
      .execute()
    addAuditEntry(tx, deps, {
      by: { id: user_id, company_id },
      action: 'user.activate',
      target: user_id,
      after: { username }
    })
  })
}

type Invitee = Pick<MemberWithLockedRow, 'id' | 'email' | 'locale'>

type Queued = Pick<InvitationResult, 'queued_until'>

// returns an item for each of `invitees`; people whose invitation is scheduled already get no mail
async function queueInvitations(
  tx: Tx,
  deps: Pick<Deps, 'keys' | 'clock' | 'random' | 'signals'>,
  sender: SendingCompany,
  invitees: readonly Invitee[]
): Promise<Queued[]> {
  await sql`
    update "user" set invitation_waits = false
     where company_id = ${tx.companyId} and id = any (${invitees.map(({ id }) => id)}::uuid[])
       and invitation_waits`.execute(tx)
  const emails = invitees.map(({ email }) => email)
  const reservations = await reserveInvitationTimes(tx, deps, emails)
  const mails = invitees.flatMap(({ id, email, locale }, at) => {
    const { due, isNew } = reservations[at] ?? {}
    return isNew ? [{ kind: 'activate' as const, email, locale, subject: id, due }] : []
  })
  await queueMails(tx, deps, sender, mails)
  return reservations.map(({ due }) =>
    due > deps.clock() ? { queued_until: due.toISOString() } : {}
  )
}

async function linkWithoutMail(
  tx: Tx,
  deps: Pick<Deps, 'clock' | 'random' | 'settings'>,
  tenant: Tenant,
  invitee: Invitee
): Promise<Pick<InvitationResult, 'link'>> {
  if (deps.settings.mailServer) return {}
  const { links } = await createLinksToPassOn(tx, deps, tenant, [invitee])
  return links[0] === undefined ? {} : { link: links[0] }
}

// The links lead to the tenant's host, or to the primary host if the tenant's host belongs to a
// wildcard domain: anybody can invent a host below one.
export async function createLinksToPassOn(
  tx: Tx,
  deps: Pick<Deps, 'clock' | 'random' | 'settings'>,
  { host, isWildcard }: Tenant,
  invitees: readonly Invitee[]
): Promise<{ links: string[]; until: Date }> {
  const asked = { purpose: 'activate', people: invitees, isHandedOut: true } as const
  const { tokens, until } = await createMailTokens(tx, deps, asked)
  const primary = isWildcard ? await findPrimaryDomain(tx) : undefined
  const origin = webOriginOf(deps, primary?.host ?? host)
  const links = invitees.map(({ email, locale }, at) =>
    buildMailLink(origin, localizedLinkPath(locale, 'activate-account'), {
      token: tokens[at] ?? '',
      email
    })
  )
  return { links, until }
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs

const maxPerRecipientHour = 3
const maxPerCompanyDay = 5000

interface Reservation {
  due: Date
  /** False if an earlier call has already reserved the time `due` for this e-mail. */
  isNew: boolean
}

// Returns, in the order of `emails` (each once), now or the first time that the limits for each
// e-mail and for the company allow.
export async function reserveInvitationTimes(
  tx: Tx,
  deps: Pick<Deps, 'keys' | 'clock' | 'random'>,
  emails: readonly string[]
): Promise<Reservation[]> {
  const company_id = tx.companyId
  const now = deps.clock()
  const recipients = emails.map(email => recipientOf(tx, deps, email))
  // this row lock lets parallel invitations of a company be counted one after the other
  await sql`select from company where id = ${company_id} for no key update`.execute(tx)
  await deleteInCompany(tx, 'invitation')
    .where('due_at', '<', new Date(now.getTime() - dayMs))
    .execute()
  const all = selectInCompany(tx, 'invitation')
  const latest = await all
    .select('due_at')
    .orderBy('due_at', 'desc')
    .limit(maxPerCompanyDay)
    .execute()
  const times = latest.map(({ due_at }) => due_at.getTime()).reverse()
  const own = await ownTimes(tx, recipients)
  const added: { id: string; recipient: Buffer; due_at: Date }[] = []
  const reservations = recipients.map(recipient => {
    const [queued, ...others] = own.get(recipient.toString('hex')) ?? []
    if (queued !== undefined && queued > now.getTime()) {
      return { due: new Date(queued), isNew: false }
    }
    const time = Math.max(
      now.getTime(),
      endOf(others[maxPerRecipientHour - 2], hourMs),
      endOf(times.at(-maxPerCompanyDay), dayMs)
    )
    times.splice(times.findLastIndex(other => other <= time) + 1, 0, time)
    const due = new Date(time)
    added.push({ id: newId(deps), recipient, due_at: due })
    return { due, isNew: true }
  })
  await sql`
    insert into invitation (company_id, id, recipient, due_at)
    select ${company_id}, id, recipient, due_at from unnest(
      ${added.map(({ id }) => id)}::uuid[], ${added.map(({ recipient }) => recipient)}::bytea[],
      ${added.map(({ due_at }) => due_at)}::timestamptz[]
    ) as added (id, recipient, due_at)`.execute(tx)
  return reservations
}

// past times stay, because they count toward the limits
export async function releaseInvitationTimes(
  tx: Tx,
  deps: Pick<Deps, 'keys' | 'clock'>,
  emails: readonly string[]
): Promise<void> {
  const recipients = emails.map(email => recipientOf(tx, deps, email))
  await sql`
    delete from invitation where company_id = ${tx.companyId}
      and recipient = any (${recipients}::bytea[]) and due_at > ${deps.clock()}`.execute(tx)
}

// latest first, by the recipient in hex
async function ownTimes(tx: Tx, recipients: Buffer[]): Promise<Map<string, number[]>> {
  const { rows } = await sql<{ recipient: Buffer; due_at: Date }>`
    select recipient, due_at from invitation
     where company_id = ${tx.companyId} and recipient = any (${recipients}::bytea[])
     order by due_at desc`.execute(tx)
  const times = new Map<string, number[]>()
  for (const { recipient, due_at } of rows) {
    const key = recipient.toString('hex')
    times.set(key, [...(times.get(key) ?? []), due_at.getTime()])
  }
  return times
}

function recipientOf(tx: Tx, deps: Pick<Deps, 'keys'>, email: string): Buffer {
  return deps.keys.mac('pseudonym', JSON.stringify(['invitation', tx.companyId, email]))
}

function endOf(start: number | undefined, ms: number): number {
  return start === undefined ? 0 : start + ms
}
