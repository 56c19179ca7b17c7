import * as z from 'zod/mini'
import { DisabledReason } from './disabled.ts'
import { endpoint } from './endpoint.ts'
import { Id } from './ids.ts'
import { list, Search, sortBy } from './lists.ts'
import { Email, InvitedUser } from './users.ts'

/** State of a person's account. `invited`: the person has not chosen a password yet. */
export const MemberState = z.enum(['invited', 'active', 'disabled'])
export type MemberState = z.infer<typeof MemberState>

/** A person of a company as its administrators see the person. */
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
 * names and e-mails. `email` limits the list to the person who has exactly this e-mail, regardless
 * of case.
 */
export const listUsers = list({
  path: '/company/{id}/users',
  access: 'admin',
  item: Member,
  input: {
    id: Id,
    q: Search,
    sort: sortBy('name', 'email', 'created'),
    group: z.optional(Id),
    email: z.optional(Email)
  }
})

/** Sends the invitation of a person who has not activated the account yet again. */
export const resendInvitation = endpoint({
  method: 'POST',
  path: '/user/{id}/invite',
  access: 'admin',
  status: 202,
  input: z.strictObject({ id: Id }),
  output: InvitedUser,
  errors: ['already_active']
})

/** Disables a person. Every later call of the person is refused. */
export const disableUser = endpoint({
  method: 'POST',
  path: '/user/{id}/disable',
  access: 'admin',
  input: z.strictObject({ id: Id, reason: DisabledReason }),
  output: z.void(),
  errors: ['not_oneself']
})

/** Enables a disabled person again. */
export const enableUser = endpoint({
  method: 'POST',
  path: '/user/{id}/enable',
  access: 'admin',
  input: z.strictObject({ id: Id }),
  output: z.void()
})

export const memberCalls = { listUsers, resendInvitation, disableUser, enableUser }
