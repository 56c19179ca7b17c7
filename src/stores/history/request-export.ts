import { problemOf } from '../../contract/call.ts'
import { AppError } from '../../contract/errors.ts'
import { exportRequests } from '../../contract/requests.ts'
import { environment, pageLocale } from '../environment.ts'
import { apiOrigin, handleAuthError, sessionToken } from '../sessions.ts'
import type { RequestFilter } from './request-filter.ts'

/** Returns the requests that match the filter, as CSV. */
export async function fetchExport(filter: RequestFilter): Promise<Blob> {
  const url = new URL(exportRequests.path, apiOrigin())
  for (const [name, value] of Object.entries({ ...filter, locale: pageLocale() })) {
    if (value !== undefined) url.searchParams.set(name, value)
  }
  const token = sessionToken()
  try {
    const headers = { authorization: `Bearer ${token}` }
    const response = await environment().fetch(url, { headers })
    if (!response.ok) throw await problemOf(response)
    return await response.blob()
  } catch (cause) {
    const error =
      cause instanceof AppError ? cause : new AppError('offline', 'The export broke off', { cause })
    handleAuthError(error, token)
    throw error
  }
}
