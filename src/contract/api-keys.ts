import * as z from 'zod/mini'
import { endpoint, KeyScope } from './kit/endpoint.ts'
import { Id } from './kit/ids.ts'
import { maxApiKeyDays } from './kit/limits.ts'
import { listEndpoint } from './kit/lists.ts'
import { textLineSchema } from './kit/text-checks.ts'

/**
 * An API key, which a program sends instead of signing in. Does not contain the secret part of the
 * key.
 */
export const ApiKey = z.object({
  id: z.uuid(),
  name: z.string(),
  /** The first characters of the key. They help people to tell keys apart. */
  hint: z.string(),
  /** The kinds of calls that the key may make. The key can never do more than its owner. */
  scopes: z.array(KeyScope),
  /** The group that a company's key belongs to. `null` for the key of a person. */
  group: z.nullable(z.object({ id: z.uuid(), name: z.string() })),
  /** Name of the person who created the key. `null` if the person's account was deleted. */
  created_by: z.nullable(z.string()),
  created: z.iso.datetime(),
  expires: z.iso.datetime(),
  /** Time of the key's last call, accurate to five minutes. `null`: never used. */
  last_used: z.nullable(z.iso.datetime())
})
export type ApiKey = z.infer<typeof ApiKey>

/**
 * An API key that was just created, including its secret. No later response contains the secret.
 */
export const ApiKeyWithSecret = z.extend(ApiKey, {
  /** The key itself, which calls send as `Authorization: Bearer vdm_…`. */
  key: z.string()
})
export type ApiKeyWithSecret = z.infer<typeof ApiKeyWithSecret>

/** Lists the caller's own keys that are not revoked, newest first. */
export const listApiKeys = listEndpoint({
  path: '/api_key',
  access: 'user',
  item: ApiKey,
  input: {}
})

/** Lists the keys of a company that are not revoked, newest first. */
export const listCompanyApiKeys = listEndpoint({
  path: '/company/{id}/api_keys',
  access: 'admin',
  item: ApiKey,
  input: { id: Id }
})

const settings = {
  name: textLineSchema(80),
  scopes: z
    .array(KeyScope)
    .check(z.minLength(1, { abort: true }), z.maxLength(KeyScope.options.length)),
  /** Number of days until the key expires. 365 if absent. */
  expires_in_days: z.optional(z.number().check(z.int(), z.gte(1), z.lte(maxApiKeyDays)))
}

/**
 * Creates an API key of the caller. Only this response contains the secret key. A repeated call
 * creates another key.
 */
export const createApiKey = endpoint({
  method: 'POST',
  path: '/api_key',
  access: 'user',
  confirmation: true,
  status: 201,
  input: z.strictObject(settings),
  output: ApiKeyWithSecret,
  errors: ['too_many_keys']
})

/**
 * Creates an API key of a company. The key belongs to a group, and deposits made with the key count
 * towards the limits of that group. The records of these deposits contain the name of the key in
 * place of a person's name. The key stays valid when its creator leaves the company.
 */
export const createCompanyApiKey = endpoint({
  method: 'POST',
  path: '/company/{id}/api_key',
  access: 'admin',
  confirmation: true,
  status: 201,
  input: z.strictObject({ id: Id, ...settings, group_id: Id }),
  output: ApiKeyWithSecret,
  errors: ['too_many_keys']
})

const renewal = { expires_in_days: settings.expires_in_days }

/**
 * Lets an API key of the caller end later: a year from now at most. The key itself stays the same.
 */
export const renewApiKey = endpoint({
  method: 'POST',
  path: '/api_key/{id}/renew',
  access: 'user',
  confirmation: true,
  input: z.strictObject({ id: Id, ...renewal }),
  output: ApiKey
})

/**
 * Lets an API key of a company end later: a year from now at most. The key itself stays the same.
 */
export const renewCompanyApiKey = endpoint({
  method: 'POST',
  path: '/company/{id}/api_key/{keyId}/renew',
  access: 'admin',
  confirmation: true,
  input: z.strictObject({ id: Id, keyId: Id, ...renewal }),
  output: ApiKey
})

/** Lists the API keys of a person of the company, newest first. */
export const listUserApiKeys = listEndpoint({
  path: '/user/{id}/api_keys',
  access: 'admin',
  item: ApiKey,
  input: { id: Id }
})

/**
 * Revokes an API key of a person of the company. Later calls with the key are refused, and its
 * running event streams, downloads and uploads end.
 */
export const deleteUserApiKey = endpoint({
  method: 'DELETE',
  path: '/user/{id}/api_key/{keyId}',
  access: 'admin',
  input: z.strictObject({ id: Id, keyId: Id }),
  output: z.void(),
  errors: ['email_unconfirmed']
})

/**
 * Revokes an API key of the caller. Later calls with the key are refused, and its running event
 * streams, downloads and uploads end.
 */
export const deleteApiKey = endpoint({
  method: 'DELETE',
  path: '/api_key/{id}',
  access: 'user',
  input: z.strictObject({ id: Id }),
  output: z.void()
})

/**
 * Revokes an API key of a company. Later calls with the key are refused, and its running event
 * streams, downloads and uploads end.
 */
export const deleteCompanyApiKey = endpoint({
  method: 'DELETE',
  path: '/company/{id}/api_key/{keyId}',
  access: 'admin',
  input: z.strictObject({ id: Id, keyId: Id }),
  output: z.void()
})

export const apiKeyCalls = {
  listApiKeys,
  createApiKey,
  deleteApiKey,
  renewApiKey,
  listCompanyApiKeys,
  createCompanyApiKey,
  deleteCompanyApiKey,
  renewCompanyApiKey,
  listUserApiKeys,
  deleteUserApiKey
}
