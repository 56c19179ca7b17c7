import * as z from 'zod/mini'
import { DisabledReason } from './disabled.ts'
import { endpoint } from './endpoint.ts'
import { list, Search, sortBy } from './lists.ts'
import { InvitedUser } from './users.ts'

/** `invited`: the person has no password yet. */
export const MemberState = z.enum(['invited', 'active', 'disabled'])
export type MemberState = z.infer<typeof MemberState>

/** A person of a company, as its administrators see them. */
export const Member = z.object({
  id: z.uuid(),
  username: z.string(),
  email: z.string(),
  state: MemberState,
  created: z.iso.datetime()
})
export type Member = z.infer<typeof Member>

/**
 * Lists the people of a company or of one group, by name unless `sort` says otherwise. `q` searches
 * names and e-mails.
 */
export const listUsers = list({
  path: '/company/{id}/users',
  access: 'admin',
  item: Member,
  input: {
    id: z.uuid(),
    q: Search,
    sort: sortBy('name', 'email', 'created'),
    group: z.optional(z.uuid())
  }
})

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

export const memberCalls = { listUsers, resendInvitation, disableUser, enableUser }
