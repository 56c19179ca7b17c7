import * as z from 'zod/mini'
import { endpoint } from './kit/endpoint.ts'
import { Id } from './kit/ids.ts'
import { ProcessedRequest } from './requests.ts'
import { Session } from './sessions.ts'
import { OwnAccount } from './users.ts'

/**
 * Returns the person's own data to take along: account, sessions and history, at most 200 entries.
 * While `complete` is false, pass the `id` of the last request as `cursor` to continue.
 */
export const exportOwnData = endpoint({
  method: 'GET',
  path: '/user/export',
  access: 'user',
  input: z.strictObject({ cursor: z.optional(Id) }),
  output: z.object({
    account: z.omit(OwnAccount, { access_token: true }),
    sessions: z.array(Session),
    requests: z.array(ProcessedRequest),
    complete: z.boolean()
  })
})

export const exportCalls = { exportOwnData }
