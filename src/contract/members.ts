import * as z from 'zod/mini'
import { DisabledReason } from './disabled.ts'
import { endpoint } from './endpoint.ts'
import { Invited } from './users.ts'

/** Mails an invited person their link again. */
export const resendInvitation = endpoint({
  method: 'POST',
  path: '/user/{id}/invite',
  access: 'admin',
  status: 202,
  input: z.strictObject({ id: z.uuid() }),
  output: Invited,
  errors: ['already_active']
})

/** Keeps a person out from their next call on. */
export const disableUser = endpoint({
  method: 'POST',
  path: '/user/{id}/disable',
  access: 'admin',
  input: z.strictObject({ id: z.uuid(), reason: DisabledReason }),
  output: z.void(),
  errors: ['not_oneself']
})

/** Lets a person sign in again. */
export const enableUser = endpoint({
  method: 'POST',
  path: '/user/{id}/enable',
  access: 'admin',
  input: z.strictObject({ id: z.uuid() }),
  output: z.void()
})
