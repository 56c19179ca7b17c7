import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'
import { ProcessedRequest } from './requests.ts'
import { Session } from './sessions.ts'
import { UserInfo } from './users.ts'

/**
 * The caller's own data, to take along. Requests are newest first, at most 200 at once; while
 * `complete` is false, they go on after the `cursor`, which is the id of the last one seen.
 */
export const getExport = endpoint({
  method: 'GET',
  path: '/user/export',
  access: 'user',
  input: z.strictObject({ cursor: z.optional(z.uuid()) }),
  output: z.object({
    /** As `GET /user` answers it, without a token. */
    account: z.omit(UserInfo, { access_token: true }),
    /** Those that live, at most 100. */
    sessions: z.array(Session),
    requests: z.array(ProcessedRequest),
    /** No older request is left out. */
    complete: z.boolean()
  })
})
