import * as z from 'zod/mini'
import { DisabledReason } from './disabled.ts'
import { endpoint } from './endpoint.ts'
import { InvitedUser } from './users.ts'

/** Sends an invitation again. */
export const resendInvitation = endpoint({
  method: 'POST',
  path: '/user/{id}/invite',
  access: 'admin',
  status: 202,
  input: z.strictObject({ id: z.uuid() }),
  output: InvitedUser,
  errors: ['already_active']
})

/** Disables a person, from their next call on. */
export const disableUser = endpoint({
  method: 'POST',
  path: '/user/{id}/disable',
  access: 'admin',
  input: z.strictObject({ id: z.uuid(), reason: DisabledReason }),
  output: z.void(),
  errors: ['not_oneself']
})

/** Enables a disabled person. */
export const enableUser = endpoint({
  method: 'POST',
  path: '/user/{id}/enable',
  access: 'admin',
  input: z.strictObject({ id: z.uuid() }),
  output: z.void()
})

export const memberCalls = { resendInvitation, disableUser, enableUser }
