import { sql } from 'kysely'
import type { DisabledReason } from '../../../contract/disabled.ts'
import { AppError } from '../../../contract/errors.ts'
import type { Member } from '../../../contract/members.ts'
import { mailTokenHash } from '../../../core/keys/public-key-proof.ts'
import { inSameCompany } from '../../db/joins.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import { originOf } from '../companies/domains.ts'
import { requireGroup } from '../companies/groups.ts'
import type { CompanyId, Deps, Tenant } from '../deps.ts'
import { audit } from '../evidence/audit.ts'
import { runOnce } from '../idempotency.ts'
import { replaceKey, sealKey, spendKeyProof, verifyKeyProof } from '../key-proofs/key-proofs.ts'
import { type Page, type PageInput, readPage, searched } from '../lists.ts'
import { queueMail } from '../mail/mail-queue.ts'
import { createMailToken, mailLink, readMailToken, spendMailToken } from '../mail/mail-tokens.ts'
import { endSessions, type Person } from '../sessions/sessions.ts'
import { scheduleInvitation } from './invitations.ts'
import { addUser } from './new-users.ts'
import { lockPerson, revokeMailedLinks } from './user-keys.ts'

interface ListInput extends PageInput {
  company_id: CompanyId
  q?: string | undefined
  group?: string | undefined
  /** Limits the list to the person with this e-mail, in the form that `canonicalEmail` returns. */
  email?: string | undefined
}

/**
 * Returns a page of the company's people, or only of the members of `group`. Throws `not_found` if
 * the company has no such group.
 */
export async function listUsers(
  deps: Pick<Deps, 'db'>,
  { company_id, q, group, email, ...page }: ListInput
): Promise<Page<Member>> {
  const orders = {
    id: 'user.id',
    sorts: { name: ['user.search'], email: ['user.email'], created: ['user.created_at'] },
    usual: 'name'
  } as const
  return inCompany(deps.db, company_id, async tx => {
    if (group !== undefined) await requireGroup(tx, group)
    const all = tx
      .selectFrom('user')
      .where('user.company_id', '=', company_id)
      .where('user.deleted_at', 'is', null)
    // only what the indexes have, so that a search reads no row of the table that it does not show
    const { items, next } = await readPage(all, orders, page, rows => {
      let found = searched(rows, 'user.search', q).select('user.id')
      if (email !== undefined) found = found.where('user.email', '=', email)
      if (group === undefined) return found
      return found
        .innerJoin('group_user', join => inSameCompany(join, 'group_user.user_id', 'user.id'))
        .where('group_user.group_id', '=', group)
    })
    const members = await readMembers(
      tx,
      items.map(({ id }) => id)
    )
    return { items: members, next }
  })
}

/** Reads the people with these ids, in the order of `ids`. */
async function readMembers(tx: Tx, ids: readonly string[]): Promise<Member[]> {
  const rows = await tx
    .selectFrom('user')
    .where('company_id', '=', tx.companyId)
    .where(sql<boolean>`id = any (${ids}::uuid[])`)
    .select(({ exists, selectFrom }) => [
      'id',
      'username',
      'email',
      'disabled',
      'created_at',
      exists(
        selectFrom('user_key')
          .whereRef('user_key.company_id', '=', 'user.company_id')
          .whereRef('user_key.user_id', '=', 'user.id')
          .select('user_key.key_id')
      ).as('has_key')
    ])
    .execute()
  const found = new Map(rows.map(row => [row.id, row]))
  return ids.flatMap(id => {
    const row = found.get(id)
    if (!row) return []
    const { disabled, has_key, created_at, ...member } = row
    const state = disabled ? 'disabled' : has_key ? 'active' : 'invited'
    return { ...member, state, created: created_at.toISOString() }
  })
}

interface Invitation {
  /** The company that invites. */
  tenant: Tenant
  /** The administrator who invites. */
  by: Person
  /** The invited person's e-mail, in the form that `canonicalEmail` returns. */
  email: string
  username: string | undefined
  locale: 'en' | 'fr' | undefined
  idempotencyKey: string | undefined
}

interface Invited {
  id: string
  /**
   * The invitation link, which the administrator must pass on. Absent if a mail server is
   * configured, because it then mails the link.
   */
  link?: string
  /** When the invitation will be mailed. Present only if a limit of mails delays it. */
  queued_until?: string
}

/**
 * Creates a person without a password and mails them a link to choose one. Throws `email_taken` if
 * the e-mail has an account.
 */
export async function inviteUser(
  deps: Pick<Deps, 'db' | 'keys' | 'clock' | 'random' | 'settings' | 'signals'>,
  { tenant, by, idempotencyKey, ...fields }: Invitation
): Promise<{ body: Invited; replayed: boolean }> {
  const { company_id } = tenant
  const { email, locale } = fields
  const username = fields.username ?? email.slice(0, email.lastIndexOf('@')).slice(0, 80)
  return inCompany(deps.db, company_id, async tx => {
    const effect = async () => {
      const user = { company_id, email, username, locale, key: undefined, isInvited: true }
      const id = await addUser(tx, deps, user)
      if (id === undefined) throw new AppError('email_taken', 'The company has this e-mail already')
      const after = { email, username, locale }
      audit(tx, deps, { by, action: 'user.invite', target: id, after })
      return { id }
    }
    const act = { actor: by.id, route: 'POST /user', key: idempotencyKey ?? '', input: fields }
    const { body, replayed } =
      idempotencyKey === undefined
        ? { body: await effect(), replayed: false }
        : await runOnce(tx, deps, { company_id, now: deps.clock(), act }, effect)
    if (replayed) return { body, replayed }
    // not stored for repeated calls, because whoever has the link can get in
    return { body: { ...body, ...(await mailInvitation(tx, deps, tenant, body.id)) }, replayed }
  })
}

/**
 * Mails a new invitation link to an invited person. Throws `already_active` if the person has a
 * password already.
 */
export async function resendInvitation(
  deps: Pick<Deps, 'db' | 'keys' | 'clock' | 'random' | 'settings' | 'signals'>,
  { tenant, by, id }: { tenant: Tenant; by: Person; id: string }
): Promise<Invited> {
  const { company_id } = tenant
  return inCompany(deps.db, company_id, async tx => {
    await lockMember(tx, by, id)
    if (await hasKey(tx, company_id, id)) throw alreadyActive()
    audit(tx, deps, { by, action: 'user.invite_again', target: id })
    return { id, ...(await mailInvitation(tx, deps, tenant, id)) }
  })
}

interface Activation {
  tenant: Tenant
  token: string
  username: string
  locale?: 'en' | 'fr' | undefined
  public_key_jwt: string
}

/**
 * Activates the account of an invited person: stores their first key and the name that they chose.
 * From then on they can sign in.
 */
export async function activateUser(
  deps: Pick<Deps, 'db' | 'keys' | 'clock' | 'random' | 'log' | 'signals'>,
  { tenant, token, username, locale, public_key_jwt }: Activation
): Promise<void> {
  const { company_id } = tenant
  const purpose = 'activate'
  const user = await inCompany(deps.db, company_id, async tx => {
    const given = { company_id, purpose, token } as const
    const { subject: user_id, email } = await readMailToken(tx, deps, given)
    const invited = await lockPerson(tx, company_id, user_id)
    const th = mailTokenHash(token)
    const proof = verifyKeyProof({ tenant, email, purpose, public_key_jwt, th })
    await spendKeyProof(tx, deps, tenant, proof)
    await spendMailToken(tx, deps, { ...given, subject: user_id })
    if (invited.email !== email) throw new AppError('mail_token_invalid', 'The e-mail has changed')
    const now = deps.clock()
    await replaceKey(
      tx,
      { company_id, user_id, now },
      sealKey(deps, { company_id, user_id }, proof)
    )
    await revokeMailedLinks(tx, company_id, user_id)
    await tx
      .updateTable('user')
      .set({ username, ...(locale === undefined ? {} : { locale }) })
      .where('company_id', '=', company_id)
      .where('id', '=', user_id)
      .execute()
    return user_id
  })
  deps.log.info({ audit: 'user_activated', company: company_id, user }, 'account activated')
}

interface Act {
  company_id: CompanyId
  by: Person
  id: string
}

interface Disabling extends Act {
  reason: DisabledReason
}

/**
 * Disables a person. Their calls then fail with `account_disabled` and `reason`, and their event
 * streams end.
 */
export async function disableUser(
  deps: Pick<Deps, 'db' | 'clock' | 'random' | 'signals'>,
  { company_id, by, id, reason }: Disabling
): Promise<void> {
  if (id === by.id) throw new AppError('not_oneself', 'Nobody disables themselves')
  await inCompany(deps.db, company_id, async tx => {
    const { disabled } = await lockMember(tx, by, id)
    const mark = { reason, since: deps.clock().toISOString() }
    await tx
      .updateTable('user')
      .set({ disabled: JSON.stringify(mark) })
      .where('company_id', '=', company_id)
      .where('id', '=', id)
      .execute()
    const [before, after] = [{ disabled }, { disabled: mark }]
    audit(tx, deps, { by, action: 'user.disable', target: id, before, after })
    tx.afterCommit(() => deps.signals.sessions.send({ company: company_id, user: id }))
  })
}

/** Enables a disabled person. Sessions from before stay ended, so the person must sign in again. */
export async function enableUser(
  deps: Pick<Deps, 'db' | 'clock' | 'random' | 'signals'>,
  { company_id, by, id }: Act
): Promise<void> {
  await inCompany(deps.db, company_id, async tx => {
    const { disabled } = await lockMember(tx, by, id)
    if (!disabled) return
    await tx
      .updateTable('user')
      .set({ disabled: null, tokens_valid_after: deps.clock() })
      .where('company_id', '=', company_id)
      .where('id', '=', id)
      .execute()
    await endSessions(tx, deps, { company_id, user_id: id })
    audit(tx, deps, { by, action: 'user.enable', target: id, before: { disabled }, after: {} })
  })
}

/**
 * Locks the row of a person of the company in which the caller acts, and returns whether they are
 * disabled. Throws `not_found` if there is no such person, and `forbidden` if the person is an
 * operator and the caller is not.
 */
async function lockMember(tx: Tx, by: Person, id: string): Promise<{ disabled: unknown }> {
  const member = await lockRights(tx, id)
  if (!member) throw new AppError('not_found', 'No such person')
  // who acts in another company is an operator
  if (member.permissions.includes('operator') && by.company_id === tx.companyId) {
    // read again under the lock, so that two operators cannot both succeed in disabling each other
    // at the same time
    const caller = await lockRights(tx, by.id)
    if (!caller?.permissions.includes('operator') || caller.disabled) {
      throw new AppError('forbidden', 'Only operators change operators')
    }
  }
  return member
}

async function lockRights(
  tx: Tx,
  id: string
): Promise<{ permissions: string[]; disabled: unknown } | undefined> {
  return tx
    .selectFrom('user')
    .where('company_id', '=', tx.companyId)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .select(['permissions', 'disabled'])
    .forNoKeyUpdate()
    .executeTakeFirst()
}

async function hasKey(tx: Tx, company_id: CompanyId, user_id: string): Promise<boolean> {
  const key = await tx
    .selectFrom('user_key')
    .where('company_id', '=', company_id)
    .where('user_id', '=', user_id)
    .select('key_id')
    .limit(1)
    .executeTakeFirst()
  return key !== undefined
}

/**
 * Queues the mail of an invitation. If no mail server is configured, also returns the invitation
 * link, for the administrator to pass on.
 */
async function mailInvitation(
  tx: Tx,
  deps: Pick<Deps, 'keys' | 'clock' | 'random' | 'settings' | 'signals'>,
  tenant: Tenant,
  id: string
): Promise<Omit<Invited, 'id'>> {
  const { company_id, host, config } = tenant
  const { email, locale } = await lockPerson(tx, company_id, id)
  const { due, isNew } = await scheduleInvitation(tx, deps, email)
  if (isNew)
    await queueMail(tx, deps, { tenant, kind: 'activate', email, locale, subject: id, due })
  const queued = due > deps.clock() ? { queued_until: due.toISOString() } : {}
  if (deps.settings.mailServer) return queued
  const token = await createMailToken(tx, deps, {
    company_id,
    purpose: 'activate',
    subject: id,
    email
  })
  const language = locale === 'und' ? config.locale : locale
  const link = mailLink(originOf(deps, host), `/${language}/activate-account`, { token, email })
  return { ...queued, link }
}

function alreadyActive(): AppError {
  return new AppError('already_active', 'The person has activated their account')
}
