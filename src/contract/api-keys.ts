import * as z from 'zod/mini'
import { endpoint, KeyScope } from './kit/endpoint.ts'
import { Id } from './kit/ids.ts'
import { maxApiKeyDays } from './kit/limits.ts'
import { listEndpoint } from './kit/lists.ts'
import { textLineSchema } from './kit/text-checks.ts'

export const ApiKey = z.object({
  id: z.uuid(),
  name: z.string(),
  // the first characters, to tell keys apart
  hint: z.string(),
  scopes: z.array(KeyScope),
  // `null` for the key of a person
  group: z.nullable(z.object({ id: z.uuid(), name: z.string() })),
  // `null` if that account was deleted
  created_by: z.nullable(z.string()),
  created: z.iso.datetime(),
  expires: z.iso.datetime(),
  // accurate to five minutes
  last_used: z.nullable(z.iso.datetime())
})
export type ApiKey = z.infer<typeof ApiKey>

export const ApiKeyWithSecret = z.extend(ApiKey, {
  // sent as `Authorization: Bearer vdm_…`
  key: z.string()
})
export type ApiKeyWithSecret = z.infer<typeof ApiKeyWithSecret>

/** Lists the signed-in person's API keys that are not revoked, newest first. */
export const listApiKeys = listEndpoint({
  path: '/api_key',
  access: 'user',
  item: ApiKey,
  input: {}
})

/** Lists the API keys of a company that are not revoked, newest first. */
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
  // 365 if absent
  expires_in_days: z.optional(z.number().check(z.int(), z.gte(1), z.lte(maxApiKeyDays)))
}

/**
 * Creates an API key and returns it this one time. `scopes` say what it may do, and never more than
 * its owner may.
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
 * Creates an API key of a company. It belongs to a group, whose limits count its deposits. It
 * deposits in its own name and stays when its creator leaves.
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
 * Gives one of the signed-in person's API keys a later end, at most a year from now. A mail tells
 * of it.
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
 * Gives an API key of the company a later end, at most a year from now. A mail tells the
 * administrators.
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

/** Revokes an API key of a person of the company. Calls with it are refused at once. */
export const deleteUserApiKey = endpoint({
  method: 'DELETE',
  path: '/user/{id}/api_key/{keyId}',
  access: 'admin',
  input: z.strictObject({ id: Id, keyId: Id }),
  output: z.void(),
  errors: ['email_unconfirmed']
})

/**
 * Revokes one of the signed-in person's API keys. Calls with it are refused at once, and what it
 * has under way ends.
 */
export const deleteApiKey = endpoint({
  method: 'DELETE',
  path: '/api_key/{id}',
  access: 'user',
  input: z.strictObject({ id: Id }),
  output: z.void()
})

/**
 * Revokes an API key of a company. Calls with it are refused at once, and what it has under way
 * ends.
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
