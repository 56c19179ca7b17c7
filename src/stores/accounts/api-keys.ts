import type { ApiKey, ApiKeyWithSecret } from '../../contract/api-keys.ts'
import { maxApiKeysPerOwner } from '../../contract/kit/limits.ts'
import { withPasswordConfirmation } from '../confirmation.ts'
import { api, type CallInput } from '../sessions.ts'
import { createUnpagedList } from './unpaged-list.ts'

// API keys belong to a person or, if `company` is given, to a company. Calls for a person's keys
// name no company, because these keys belong to the person's own company, even while the person
// administers another one.

const list = createUnpagedList<ApiKey>(company =>
  company === ''
    ? api('listApiKeys', { limit: maxApiKeysPerOwner })
    : api('listCompanyApiKeys', { id: company, limit: maxApiKeysPerOwner }, { company })
)

/** The API keys that the page shows, with the state of their loading. */
export const $apiKeys = list.$list

/**
 * Loads the API keys of the company with the id `company` into `$apiKeys`. If `company` is
 * undefined, loads those of the signed-in person.
 */
export async function loadApiKeys(company: string | undefined): Promise<void> {
  await list.open(company ?? '')
}

/**
 * Creates an API key of the company with the id `company` or, if `company` is undefined, of the
 * signed-in person. Returns the key with its secret, which the server never returns again.
 */
export async function createApiKey(
  company: string | undefined,
  input: CallInput<'createApiKey'> & { group_id: string | undefined }
): Promise<ApiKeyWithSecret> {
  const { group_id, ...settings } = input
  const made = await withPasswordConfirmation(
    () =>
      company === undefined
        ? api('createApiKey', settings)
        : api(
            'createCompanyApiKey',
            { ...settings, id: company, group_id: group_id ?? '' },
            { company }
          ),
    'createApiKey'
  )
  void loadApiKeys(company)
  return made
}

/**
 * Revokes an API key of the company with the id `company` or, if `company` is undefined, of the
 * signed-in person. Does nothing if the key is revoked already.
 */
export async function revokeApiKey(company: string | undefined, id: string): Promise<void> {
  await list.remove(id, () =>
    company === undefined
      ? api('deleteApiKey', { id })
      : api('deleteCompanyApiKey', { id: company, keyId: id }, { company })
  )
}
