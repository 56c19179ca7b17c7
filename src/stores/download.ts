import { errorFromResponse } from '../contract/kit/call.ts'
import { AppError } from '../contract/kit/errors.ts'
import { attachmentName } from '../core/http-headers/content-disposition.ts'
import { browserEnvironment } from './environment.ts'
import { apiOrigin, handleAuthError, sessionToken } from './sessions.ts'

/**
 * Under the name that the API gives it. Leaves out parameters that are undefined. `company` is that of
 * the header `Company`.
 */
export async function fetchFile(
  path: string,
  params: Readonly<Record<string, string | undefined>>,
  company?: string
): Promise<File> {
  const url = new URL(path, apiOrigin())
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined) url.searchParams.set(name, value)
  }
  const token = sessionToken()
  try {
    const headers = { authorization: `Bearer ${token}`, ...(company && { company }) }
    const response = await browserEnvironment().fetch(url, { headers })
    if (!response.ok) throw await errorFromResponse(response)
    const content = await response.blob()
    const name = attachmentName(response.headers.get('content-disposition') ?? '')
    return new File([content], name ?? 'download', { type: content.type })
  } catch (cause) {
    const error =
      cause instanceof AppError
        ? cause
        : new AppError('offline', 'The download broke off', { cause })
    handleAuthError(error, token)
    throw error
  }
}
