import * as z from 'zod/mini'
import { endpoint } from './kit/endpoint.ts'
import { Id } from './kit/ids.ts'
import { ProcessedRequest } from './requests.ts'
import { Session } from './sessions.ts'
import { OwnAccount } from './users.ts'

/**
 * Exports the caller's account, sessions and history. A call returns at most 200 history entries
 * (`requests`), newest first. While `complete` is false, call again with the id of the last entry
 * as `cursor`.
 */
export const exportOwnData = endpoint({
  method: 'GET',
  path: '/user/export',
  access: 'user',
  input: z.strictObject({ cursor: z.optional(Id) }),
  output: z.object({
    /** The caller's account: the fields that `GET /user` returns, except `access_token`. */
    account: z.omit(OwnAccount, { access_token: true }),
    /** The caller's active sessions, at most 100. */
    sessions: z.array(Session),
    requests: z.array(ProcessedRequest),
    /** Whether `requests` reaches the caller's oldest history entry. */
    complete: z.boolean()
  })
})

export const exportCalls = { exportOwnData }
