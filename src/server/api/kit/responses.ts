import type { ServerResponse } from 'node:http'
import { AppError } from '../../../contract/kit/errors.ts'
import { toProblem } from '../../../contract/kit/problems.ts'
import { commonApiHeaders, hstsHeader } from '../../../core/http-headers/csp.ts'
import { webOriginOf } from '../../domain/companies/served-hosts.ts'
import { isTemporaryDatabaseError } from '../../domain/database-errors.ts'
import type { Deps } from '../../domain/deps.ts'

const exposedHeaders =
  'location, link, etag, retry-after, ratelimit, ratelimit-policy, idempotent-replayed, ' +
  'content-disposition, content-range, accept-ranges, repr-digest, tus-resumable, tus-version, tus-extension, tus-max-size, upload-offset, upload-length, upload-expires'

export function apiHeadersFor({ scheme }: Deps['settings']): Record<string, string> {
  return scheme === 'https'
    ? { ...commonApiHeaders, 'strict-transport-security': hstsHeader }
    : commonApiHeaders
}

/**
 * Only the pages of `host` may read the response. The API uses no cookies, so no credentials are
 * allowed.
 */
export function corsHeaders(
  deps: Pick<Deps, 'settings'>,
  host: string,
  origin: string | undefined
): Record<string, string> {
  const vary = { vary: 'Origin' }
  if (origin !== webOriginOf(deps, host)) return vary
  return {
    ...vary,
    'access-control-allow-origin': origin,
    'access-control-expose-headers': exposedHeaders
  }
}

/** `instance` is the id of the failed HTTP request, or an empty string. */
export function problemResponse(error: AppError, instance: string): Response {
  const headers = new Headers({ 'content-type': 'application/problem+json' })
  if (error.retryAfter !== undefined) headers.set('retry-after', String(error.retryAfter))
  if (error.status === 401) headers.set('www-authenticate', 'Bearer')
  const body = JSON.stringify(toProblem(error, instance))
  return new Response(body, { status: error.status, headers })
}

/** For errors outside the Hono app. Breaks the connection if a response has already begun. */
export async function sendProblem(
  response: ServerResponse,
  error: AppError,
  instance: string,
  headers: Record<string, string> = {}
): Promise<void> {
  const problem = problemResponse(error, instance)
  const text = await problem.text()
  if (response.headersSent) return void response.destroy()
  response
    .writeHead(problem.status, {
      ...headers,
      ...Object.fromEntries(problem.headers),
      'content-length': Buffer.byteLength(text),
      // otherwise an unread body would block the connection
      connection: 'close'
    })
    .end(text)
}

/** Contains neither stack traces nor messages of the database; these are only logged. */
export function errorForCaller(error: unknown): AppError {
  if (error instanceof AppError) return error
  if (isTemporaryDatabaseError(error)) {
    return new AppError('unavailable', 'The database is busy', { cause: error, retryAfter: 2 })
  }
  return new AppError('internal', 'Something failed on our side', { cause: error })
}
