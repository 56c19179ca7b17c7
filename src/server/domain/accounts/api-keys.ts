import type { SelectQueryBuilder } from 'kysely'
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
  selectInCompany
} from '../../db/company-queries.ts'
import { joinInCompany } from '../../db/joins.ts'
import type { Database } from '../../db/schema.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import { addAuditEntry } from '../audit/audit-entries.ts'
import { requireGroup } from '../companies/groups.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { newId } from '../ids.ts'
import { requireRoom, requireWithin } from '../limits/bounds.ts'
import { type Page, type PageInput, readPage } from '../lists.ts'
import { createApiKeySecret } from '../sessions/api-key-secrets.ts'
import { type AuthenticatedCaller, signalSessionChanges } from '../sessions/sessions.ts'

const usualDays = 365
const dayMs = 86_400_000

interface Owner {
  company_id: CompanyId
  /** Id of the person who owns the keys. Undefined for keys that belong to the company. */
  user_id: string | undefined
}

/** Returns a page of the owner's API keys, newest first. */
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
  by: AuthenticatedCaller
  group_id?: string
}

/**
 * Creates an API key and returns it with its secret. Without `group_id`, the key belongs to the
 * person `by`. With `group_id`, the key belongs to the company and gets an account of its own in
 * that group. Deposits that a program makes with this key belong to the key's account. Throws
 * `too_many_keys` if the owner has 100 keys, and `not_found` if the company has no such group.
 */
export async function createApiKey(
  deps: Pick<Deps, 'db' | 'clock' | 'random' | 'settings'>,
  { company_id, by, name, scopes: given, group_id, expires_in_days: days = usualDays }: Creation
): Promise<ApiKeyWithSecret> {
  const { key, hint, digest } = createApiKeySecret(deps)
  const id = newId(deps)
  const created_at = deps.clock()
  const expires_at = new Date(created_at.getTime() + days * dayMs)
  const scopes = KeyScope.options.filter(scope => given.includes(scope))
  return inCompany(deps.db, company_id, async tx => {
    if (group_id === undefined) {
      await lockOwner(tx, by)
      const used = await countRows(keysOf(tx, by.id))
      requireWithin({ code: 'too_many_keys', used, limit: maxApiKeysPerOwner })
    } else {
      await requireRoom(tx, deps, 'keys')
      await requireGroup(tx, group_id)
      await createAccount(tx, { id, name, group_id, created_at })
    }
    const user_id = group_id === undefined ? by.id : id
    await tx
      .insertInto('api_key')
      .values({
        ...{ company_id, id, user_id, group_id: group_id ?? null, created_by: by.id, name, scopes },
        ...{ hash: digest, hint, created_at, expires_at }
      })
      .execute()
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

interface Revocation extends Owner {
  by: AuthenticatedCaller
  id: string
}

/**
 * Revokes an API key of a person or of the company. After the commit, calls with the key are
 * refused, and its streams, downloads and uploads end. If the key belongs to the company, the key's
 * account is removed from its group, but the history keeps the account's entries. Throws
 * `not_found` if there is no such key.
 */
export async function deleteApiKey(
  deps: Pick<Deps, 'db' | 'clock' | 'random' | 'signals'>,
  { company_id, user_id: owner, by, id }: Revocation
): Promise<void> {
  await inCompany(deps.db, company_id, async tx => {
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
  })
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

/**
 * Locks the row of the person who creates an API key. Until the transaction ends, the account
 * cannot be deleted, and parallel calls that create API keys for this person wait. Throws
 * `unauthenticated` if the account is already deleted.
 */
async function lockOwner(tx: Tx, { id }: AuthenticatedCaller): Promise<void> {
  const found = await selectById(tx, 'user', id)
    .where('deleted_at', 'is', null)
    .select('id')
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (!found) throw new AppError('unauthenticated', 'The account is deleted')
}

/**
 * Creates the account of a company's API key. The account belongs to no person, and nobody can sign
 * in to it.
 */
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
