import { type SelectQueryBuilder, sql } from 'kysely'
import type * as z from 'zod/mini'
import type { ApiKey, ApiKeyWithSecret, createApiKey as call } from '../../../contract/api-keys.ts'
import { KeyScope } from '../../../contract/kit/endpoint.ts'
import { AppError } from '../../../contract/kit/errors.ts'
import { maxApiKeysPerOwner } from '../../../contract/kit/limits.ts'
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
import { addAuditEntry } from '../audit/audit-entries.ts'
import { requireGroup } from '../companies/groups.ts'
import { readPrimaryOrOldestHost } from '../companies/served-hosts.ts'
import type { CompanyId, Deps, QueuedMailKind, SendingCompany } from '../deps.ts'
import { newId } from '../ids.ts'
import { requireRoom, requireWithin } from '../limits/bounds.ts'
import { type Page, type PageInput, readPage } from '../lists.ts'
import { queueMails } from '../mail/mail-queue.ts'
import { createApiKeySecret } from '../sessions/api-key-secrets.ts'
import { requireStillLive } from '../sessions/authentication.ts'
import { type AuthenticatedCaller, signalSessionChanges } from '../sessions/sessions.ts'
import { lockMemberRow } from './member-row-locks.ts'

const usualDays = 365
const dayMs = 86_400_000

interface Owner {
  company_id: CompanyId
  /** Undefined for keys that belong to the company. */
  user_id: string | undefined
}

export async function listApiKeys(
  deps: Pick<Deps, 'db'>,
  { company_id, user_id, ...page }: Owner & PageInput
): Promise<Page<ApiKey>> {
  const orders = {
    id: 'api_key.id',
    sorts: { created: ['api_key.created_at'] },
    usual: '-created'
  } as const
  return inCompany(deps.db, company_id, async tx => {
    const { items, next } = await readPage(keysOf(tx, user_id), orders, page, withColumns)
    return { items: items.map(toKey), next }
  })
}

interface Creation extends z.output<typeof call.input> {
  company_id: CompanyId
  sender: SendingCompany
  by: AuthenticatedCaller
  group_id?: string
}

/**
 * Without `group_id`, the key belongs to the person `by`. With it, the key belongs to the company
 * and gets an account of its own in that group.
 */
export async function createApiKey(
  deps: Pick<Deps, 'db' | 'clock' | 'random' | 'settings' | 'signals'>,
  { company_id, sender, by, name, scopes: given, group_id, ...rest }: Creation
): Promise<ApiKeyWithSecret> {
  const { expires_in_days: days = usualDays } = rest
  const { key, hint, digest } = createApiKeySecret(deps)
  const id = newId(deps)
  const created_at = deps.clock()
  const expires_at = new Date(created_at.getTime() + days * dayMs)
  const scopes = KeyScope.options.filter(scope => given.includes(scope))
  return inCompany(deps.db, company_id, async tx => {
    if (group_id === undefined) {
      await lockOwner(tx, deps, by)
      const used = await countRows(keysOf(tx, by.id))
      requireWithin({ code: 'too_many_keys', used, limit: maxApiKeysPerOwner })
    } else {
      await requireRoom(tx, deps, 'keys')
      await requireGroup(tx, group_id)
      await createAccount(tx, { id, name, group_id, created_at })
    }
    const person_id = group_id === undefined ? by.id : undefined
    const user_id = person_id ?? id
    await tx
      .insertInto('api_key')
      .values({
        ...{ company_id, id, user_id, group_id: group_id ?? null, created_by: by.id, name, scopes },
        ...{ hash: digest, hint, created_at, expires_at, ending_notice: needlessNotice(days) }
      })
      .execute()
    await tellOfKey(tx, deps, 'key_created', sender, { id, user_id: person_id })
    addAuditEntry(tx, deps, {
      by,
      action: 'api_key.create',
      target: id,
      after: { name, scopes, group_id, expires: expires_at.toISOString() },
      ...(group_id === undefined && { concerns: by.id })
    })
    const made = keysOf(tx, group_id === undefined ? by.id : undefined).where('api_key.id', '=', id)
    return { ...toKey(await withColumns(made).executeTakeFirstOrThrow()), key }
  })
}

interface Renewal extends Owner {
  sender: SendingCompany
  by: AuthenticatedCaller
  id: string
  expires_in_days?: number | undefined
}

export async function renewApiKey(
  deps: Pick<Deps, 'db' | 'clock' | 'random' | 'signals'>,
  { company_id, user_id, sender, by, id, expires_in_days: days = usualDays }: Renewal
): Promise<ApiKey> {
  const expires_at = new Date(deps.clock().getTime() + days * dayMs)
  return inCompany(deps.db, company_id, async tx => {
    if (user_id !== undefined) await lockOwner(tx, deps, by)
    const found = await keysOf(tx, user_id)
      .where('api_key.id', '=', id)
      .select(['name', 'expires_at'])
      .forUpdate()
      .executeTakeFirst()
    if (!found) throw new AppError('not_found', 'No such key')
    await updateById(tx, 'api_key', id)
      .set({ expires_at, ending_notice: needlessNotice(days) })
      .execute()
    await tellOfKey(tx, deps, 'key_renewed', sender, { id, user_id })
    addAuditEntry(tx, deps, {
      by,
      action: 'api_key.renew',
      target: id,
      before: { name: found.name, expires: found.expires_at.toISOString() },
      after: { expires: expires_at.toISOString() },
      ...(user_id !== undefined && { concerns: user_id })
    })
    const renewed = keysOf(tx, user_id).where('api_key.id', '=', id)
    return toKey(await withColumns(renewed).executeTakeFirstOrThrow())
  })
}

// the later notice first
const noticeDays = [7, 30] as const

// a key that ends after `days` days needs no notice earlier than this one
function needlessNotice(days: number): number | null {
  return noticeDays.find(notice => days <= notice) ?? null
}

export async function announceEndingKeys(
  deps: Pick<Deps, 'db' | 'clock' | 'random' | 'signals'>,
  company_id: CompanyId
): Promise<void> {
  const now = deps.clock()
  const [last, first] = noticeDays.map(days => new Date(now.getTime() + days * dayMs))
  const isDue = sql<boolean>`
    expires_at > ${now} and (expires_at <= ${first} and ending_notice is null
      or expires_at <= ${last} and ending_notice = ${noticeDays[1]})`
  const read = (tx: Tx) =>
    selectInCompany(tx, 'api_key').where(isDue).select('id').limit(1).execute()
  if ((await inCompany(deps.db, company_id, read)).length === 0) return
  const sender = { company_id, host: await readPrimaryOrOldestHost(deps, company_id) }
  await inCompany(deps.db, company_id, async tx => {
    const keys = await updateInCompany(tx, 'api_key')
      .set({
        ending_notice: sql<number>`case when expires_at <= ${last} then ${sql.lit(noticeDays[0])}
          else ${sql.lit(noticeDays[1])} end`
      })
      .where(isDue)
      .returning(['id', 'user_id', 'group_id'])
      .execute()
    for (const { id, user_id, group_id } of keys) {
      const owner = group_id === null ? user_id : undefined
      await tellOfKey(tx, deps, 'key_ending', sender, { id, user_id: owner })
    }
  })
}

const maxAdministrators = 20

async function tellOfKey(
  tx: Tx,
  deps: Pick<Deps, 'clock' | 'random' | 'signals'>,
  kind: QueuedMailKind & `key_${string}`,
  sender: SendingCompany,
  { id, user_id }: { id: string; user_id: string | undefined }
): Promise<void> {
  const owners = await selectInCompany(tx, 'user')
    .where('deleted_at', 'is', null)
    .where('disabled', 'is', null)
    .where(
      user_id === undefined
        ? // people who were invited may never accept, and their address may be wrong
          sql<boolean>`state = 'active' and permissions <> '{}' and permissions @> array['admin']`
        : sql<boolean>`id = ${user_id}::uuid`
    )
    .select(['email', 'locale'])
    .orderBy('id')
    .limit(maxAdministrators)
    .execute()
  const mails = owners.map(({ email, locale }) => ({ kind, email, locale, subject: id }))
  await queueMails(tx, deps, sender, mails)
}

export async function revokeApiKeysOfPeople(
  tx: Tx,
  deps: Pick<Deps, 'clock' | 'random' | 'signals'>,
  { by, user_ids }: { by: Pick<AuthenticatedCaller, 'id' | 'company_id'>; user_ids: string[] }
): Promise<void> {
  const keys = await deleteInCompany(tx, 'api_key')
    .where('group_id', 'is', null)
    .where(sql<boolean>`user_id = any (${user_ids}::uuid[])`)
    .returning(['id', 'user_id', 'name', 'scopes'])
    .execute()
  for (const { id: target, user_id: concerns, name, scopes } of keys) {
    addAuditEntry(tx, deps, {
      by,
      action: 'api_key.revoke',
      target,
      before: { name, scopes },
      concerns
    })
  }
  signalSessionChanges(tx, deps, user_ids)
}

export async function listMemberApiKeys(
  deps: Pick<Deps, 'db'>,
  { company_id, user_id, ...page }: { company_id: CompanyId; user_id: string } & PageInput
): Promise<Page<ApiKey>> {
  const read = (tx: Tx) =>
    selectById(tx, 'user', user_id).where('deleted_at', 'is', null).select('id').executeTakeFirst()
  if (!(await inCompany(deps.db, company_id, read))) {
    throw new AppError('not_found', 'No such person')
  }
  return listApiKeys(deps, { company_id, user_id, ...page })
}

export async function deleteMemberApiKey(
  deps: Pick<Deps, 'db' | 'clock' | 'random' | 'signals'>,
  { company_id, user_id, by, id }: Revocation & { user_id: string }
): Promise<void> {
  await inCompany(deps.db, company_id, async tx => {
    await lockMemberRow(tx, deps, { by, id: user_id })
    await revoke(tx, deps, { user_id, by, id })
  })
}

interface Revocation extends Owner {
  by: AuthenticatedCaller
  id: string
}

/**
 * If the key belongs to the company, its account leaves its group, but the history keeps the
 * account's entries.
 */
export async function deleteApiKey(
  deps: Pick<Deps, 'db' | 'clock' | 'random' | 'signals'>,
  { company_id, user_id: owner, by, id }: Revocation
): Promise<void> {
  await inCompany(deps.db, company_id, tx => revoke(tx, deps, { user_id: owner, by, id }))
}

async function revoke(
  tx: Tx,
  deps: Pick<Deps, 'clock' | 'random' | 'signals'>,
  { user_id: owner, by, id }: Omit<Revocation, 'company_id'>
): Promise<void> {
  const key = await deleteById(tx, 'api_key', id)
    .$if(owner === undefined, keys => keys.where('group_id', 'is not', null))
    .$if(owner !== undefined, keys =>
      keys.where('group_id', 'is', null).where('user_id', '=', owner ?? '')
    )
    .returning(['user_id', 'group_id', 'name', 'scopes'])
    .executeTakeFirst()
  if (!key) throw new AppError('not_found', 'No such key')
  const { user_id, group_id, name, scopes } = key
  if (group_id !== null) {
    await deleteInCompany(tx, 'group_user').where('user_id', '=', user_id).execute()
  }
  addAuditEntry(tx, deps, {
    by,
    action: 'api_key.revoke',
    target: id,
    before: { name, scopes, group_id },
    ...(group_id === null && { concerns: user_id })
  })
  signalSessionChanges(tx, deps, [user_id])
}

function keysOf(tx: Tx, user_id: string | undefined) {
  const all = selectInCompany(tx, 'api_key')
  return user_id === undefined
    ? all.where('api_key.group_id', 'is not', null)
    : all.where('api_key.user_id', '=', user_id).where('api_key.group_id', 'is', null)
}

function withColumns(keys: SelectQueryBuilder<Database, 'api_key', object>) {
  return keys
    .leftJoin('group', join => joinInCompany(join, 'group.id', 'api_key.group_id'))
    .leftJoin('user', join =>
      joinInCompany(join, 'user.id', 'api_key.created_by').on('user.deleted_at', 'is', null)
    )
    .select([
      'api_key.id',
      'api_key.name',
      'api_key.hint',
      'api_key.scopes',
      'api_key.created_at',
      'api_key.expires_at',
      'api_key.last_used_at',
      'api_key.group_id',
      'group.name as group_name',
      'user.username as created_by'
    ])
}

type Row = Awaited<ReturnType<ReturnType<typeof withColumns>['execute']>>[number]

function toKey(row: Row): ApiKey {
  const { id, name, hint, group_id, group_name, created_by } = row
  return {
    ...{ id, name, hint, created_by },
    scopes: KeyScope.options.filter(scope => row.scopes.includes(scope)),
    group: group_id === null ? null : { id: group_id, name: group_name ?? '' },
    created: row.created_at.toISOString(),
    expires: row.expires_at.toISOString(),
    last_used: row.last_used_at?.toISOString() ?? null
  }
}

// Until the transaction ends, the account cannot be deleted, its password cannot be reset, and
// parallel calls about API keys of this person wait.
async function lockOwner(
  tx: Tx,
  deps: Pick<Deps, 'clock'>,
  by: AuthenticatedCaller
): Promise<void> {
  const found = await selectById(tx, 'user', by.id)
    .where('deleted_at', 'is', null)
    .select('id')
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (!found) throw new AppError('unauthenticated', 'The account is deleted')
  // a password reset that held the row revokes only the keys that it finds
  await requireStillLive(tx, deps, by)
}

// this account belongs to no person, and nobody can sign in to it
async function createAccount(
  tx: Tx,
  {
    id,
    name,
    group_id,
    created_at
  }: Pick<ApiKey, 'id' | 'name'> & { group_id: string; created_at: Date }
): Promise<void> {
  const company_id = tx.companyId
  await tx
    .insertInto('user')
    .values({
      ...{ company_id, id, username: name, created_at, tokens_valid_after: created_at },
      // not a usable address
      email: `${id}@key.invalid`,
      deleted_at: created_at
    })
    .execute()
  await tx.insertInto('group_user').values({ company_id, group_id, user_id: id }).execute()
}
