import { computed } from 'nanostores'
import type { ApiKey, NewApiKey } from '../../contract/api-keys.ts'
import { AppError } from '../../contract/kit/errors.ts'
import { maxApiKeys } from '../../contract/kit/limits.ts'
import { withConfirmation } from '../confirmation.ts'
import { createList } from '../lists/lists.ts'
import { api, type CallInput } from '../sessions.ts'

// Of a person or, where `company` is given, of a company. Keys of a person are called for without a
// company, because they belong to the person's own one wherever the person administers.

/** The API keys of a page, with the state of their loading. */
export type ApiKeyList =
  | { status: 'loading' }
  | { status: 'ready'; keys: readonly ApiKey[] }
  | { status: 'failed'; error: AppError }

const list = createList<ApiKey, undefined>({
  query: undefined,
  isSame: () => true,
  load: (_query, _page, company) =>
    company === ''
      ? api('listApiKeys', { limit: maxApiKeys })
      : api('listCompanyApiKeys', { id: company, limit: maxApiKeys }, { company })
})

/** The API keys that the page shows, with the state of their loading. */
export const $apiKeys = computed([list.$rows, list.$status], (keys, status): ApiKeyList => {
  if (status.status === 'failed') return status
  if (status.status !== 'ready') return { status: 'loading' }
  return status.stale ? { status: 'failed', error: status.stale } : { status: 'ready', keys }
})

/** Loads the API keys of the company with this id or, without one, of the person. */
export async function loadApiKeys(company: string | undefined): Promise<void> {
  await list.open(company ?? '', undefined)
}

/** Creates an API key. Returns it with its secret, which no later answer contains. */
export async function createApiKey(
  company: string | undefined,
  input: CallInput<'createApiKey'> & { group_id: string | undefined }
): Promise<NewApiKey> {
  const { group_id, ...settings } = input
  const made = await withConfirmation(() =>
    company === undefined
      ? api('createApiKey', settings)
      : api(
          'createCompanyApiKey',
          { ...settings, id: company, group_id: group_id ?? '' },
          { company }
        )
  )
  void loadApiKeys(company)
  return made
}

/** Revokes an API key. Does nothing if it is revoked already. */
export async function revokeApiKey(company: string | undefined, id: string): Promise<void> {
  await list.change(id, undefined, async () => {
    try {
      if (company === undefined) await api('deleteApiKey', { id })
      else await api('deleteCompanyApiKey', { id: company, keyId: id }, { company })
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'not_found') throw error
    }
  })
}
