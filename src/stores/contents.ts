import { problemOf } from '../contract/call.ts'
import { getDepositContent } from '../contract/deposits.ts'
import { AppError } from '../contract/errors.ts'
import { environment } from './environment.ts'
import { apiOrigin, heed, sessionToken } from './sessions.ts'

/** The exact bytes on record. Fetched, not linked: a token has no place in an address. */
export async function fetchContent(depositId: string): Promise<Blob> {
  const token = sessionToken()
  const url = `${apiOrigin()}${getDepositContent.path.replace('{id}', depositId)}`
  const headers = { authorization: `Bearer ${token ?? ''}` }
  const response = await environment()
    .fetch(url, { headers })
    .catch((cause: unknown) => {
      throw new AppError('offline', 'The content could not be reached', { cause })
    })
  if (!response.ok) {
    const error = await problemOf(response)
    heed(error, token)
    throw error
  }
  return response.blob().catch((cause: unknown) => {
    throw new AppError('offline', 'The content broke off', { cause })
  })
}
