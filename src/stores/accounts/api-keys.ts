import type { ApiKey, ApiKeyWithSecret } from '../../contract/api-keys.ts'
import { maxApiKeysPerOwner } from '../../contract/kit/limits.ts'
import { withPasswordConfirmation } from '../confirmation.ts'
import { removeRow } from '../lists/list-changes.ts'
import { createListStore } from '../lists/lists.ts'
import { api, type CallInput } from '../sessions.ts'

// calls for the own keys name no company: it may not be the one that the person administers
export interface KeyOwner {
  company?: string | undefined
  person?: string | undefined
}

export const apiKeyList = createListStore<ApiKey>((_query, _page, owner) => {
  const [company = '', person = ''] = owner.split(' ')
  const limit = maxApiKeysPerOwner
  if (person !== '') return api('listUserApiKeys', { id: person, limit }, { company })
  return company === ''
    ? api('listApiKeys', { limit })
    : api('listCompanyApiKeys', { id: company, limit }, { company })
})

export async function loadApiKeys({ company = '', person = '' }: KeyOwner): Promise<void> {
  await apiKeyList.open(`${company} ${person}`.trim(), {})
}

export async function createApiKey(
  company: string | undefined,
  input: CallInput<'createApiKey'> & { group_id: string | undefined }
): Promise<ApiKeyWithSecret> {
  const { group_id, ...settings } = input
  const made = await withPasswordConfirmation('createApiKey', () =>
    company === undefined
      ? api('createApiKey', settings)
      : api(
          'createCompanyApiKey',
          { ...settings, id: company, group_id: group_id ?? '' },
          { company }
        )
  )
  void loadApiKeys({ company })
  return made
}

export async function renewApiKey(company: string | undefined, id: string): Promise<void> {
  await withPasswordConfirmation('renewApiKey', () =>
    company === undefined
      ? api('renewApiKey', { id })
      : api('renewCompanyApiKey', { id: company, keyId: id }, { company })
  )
  await loadApiKeys({ company })
}

/** Does nothing if the key is revoked already. */
export async function revokeApiKey({ company = '', person }: KeyOwner, id: string): Promise<void> {
  await removeRow(apiKeyList, id, () => {
    if (person !== undefined) return api('deleteUserApiKey', { id: person, keyId: id }, { company })
    return company === ''
      ? api('deleteApiKey', { id })
      : api('deleteCompanyApiKey', { id: company, keyId: id }, { company })
  })
}
