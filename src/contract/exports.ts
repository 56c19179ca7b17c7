import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'
import { ProcessedRequest } from './requests.ts'
import { Session } from './sessions.ts'
import { UserInfo } from './users.ts'

/**
 * Exports the caller's own data. Requests are newest first, at most 200 per call. While `complete` is
 * false, call again with the id of the last request as `cursor`.
 */
export const getExport = endpoint({
  method: 'GET',
  path: '/user/export',
  access: 'user',
  input: z.strictObject({ cursor: z.optional(z.uuid()) }),
  output: z.object({
    /** The same fields as `GET /user` returns, without a token. */
    account: z.omit(UserInfo, { access_token: true }),
    /** The active sessions, at most 100. */
    sessions: z.array(Session),
    requests: z.array(ProcessedRequest),
    /** Whether the list reaches the oldest request. */
    complete: z.boolean()
  })
})

export const exportCalls = { getExport }
