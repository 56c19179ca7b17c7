import * as z from 'zod/mini'
import { Group } from './groups.ts'
import { DisabledReason } from './kit/disabled.ts'
import { endpoint, nonJsonEndpoint } from './kit/endpoint.ts'
import { Id } from './kit/ids.ts'
import { listEndpoint, SearchText, sortParameter } from './kit/lists.ts'
import { patternCheck } from './kit/text-checks.ts'
import { Session } from './sessions.ts'
import { Email, GroupIds, MailLinkResult, UsageOfAllGroups, UserLocale, Username } from './users.ts'

/**
 * `invited`: has not chosen a password yet. `waiting`: has signed up and not confirmed the e-mail.
 */
export const MemberState = z.enum(['invited', 'waiting', 'active', 'disabled'])
export type MemberState = z.infer<typeof MemberState>

/** Their own company, or all companies. */
export const Permission = z.enum(['admin', 'operator'])
export type Permission = z.infer<typeof Permission>

/** A person keeps the id when the e-mail is confirmed. */
export const Member = z.object({
  id: z.uuid(),
  version: z.number(),
  username: z.string(),
  email: z.string(),
  locale: UserLocale,
  state: MemberState,
  disabled: z.nullable(z.object({ reason: z.string(), since: z.iso.datetime() })),
  permissions: z.array(Permission),
  // by name
  groups: z.array(z.object({ id: z.uuid(), name: z.string() })),
  created: z.iso.datetime(),
  // accurate to about twenty minutes
  last_seen: z.nullable(z.iso.datetime())
})
export type Member = z.infer<typeof Member>

const memberFilter = {
  // or the id of one person
  q: SearchText,
  state: z.optional(MemberState),
  group: z.optional(Id),
  permission: z.optional(Permission)
}

/**
 * Lists the people of a company, or the members of one `group`. `q` holds words from names and
 * emails, or an id; `email` one whole address.
 */
export const listUsers = listEndpoint({
  path: '/company/{id}/users',
  access: 'admin',
  item: Member,
  input: {
    id: Id,
    ...memberFilter,
    sort: sortParameter('name', 'email', 'created', 'last_seen'),
    email: z.optional(Email)
  }
})

/** Returns the people who match the filter as a CSV file. */
export const exportUsers = nonJsonEndpoint({
  method: 'GET',
  path: '/company/{id}/users/export',
  access: 'admin',
  input: z.strictObject({ id: Id, ...memberFilter }),
  message: z.void()
})

/** Returns a person of the company. */
export const getMember = endpoint({
  method: 'GET',
  path: '/user/{id}',
  access: 'admin',
  versioned: 'settings',
  input: z.strictObject({ id: Id }),
  output: Member
})

/** Changes a person's name, language or groups. `group_ids` names all their groups. */
export const updateMember = endpoint({
  method: 'PUT',
  path: '/user/{id}',
  access: 'admin',
  versioned: 'settings',
  input: z.strictObject({
    id: Id,
    username: z.optional(Username),
    locale: z.optional(z.enum(['en', 'fr'])),
    group_ids: z.optional(GroupIds)
  }),
  output: Member,
  errors: ['changed_meanwhile', 'email_unconfirmed']
})

/** Sets what a person may administer. Only operators grant or take `operator`. */
export const setPermissions = endpoint({
  method: 'PUT',
  path: '/user/{id}/permissions',
  access: 'admin',
  confirmation: true,
  versioned: 'settings',
  input: z.strictObject({
    id: Id,
    // only in the operators' own company, and nobody can take one from themselves
    permissions: z.array(Permission).check(z.maxLength(Permission.options.length))
  }),
  output: Member,
  errors: ['changed_meanwhile', 'email_unconfirmed', 'not_oneself']
})

/**
 * Erases a person's account as their own deletion does. Their deposits stay. Deletes the sign-up of
 * a person who is waiting.
 */
export const deleteMember = endpoint({
  method: 'DELETE',
  path: '/user/{id}',
  access: 'admin',
  confirmation: true,
  versioned: 'settings',
  input: z.strictObject({ id: Id }),
  output: z.void(),
  errors: ['changed_meanwhile', 'not_oneself']
})

/** Sends an invited person another link. Without a mail server, returns it. */
export const resendInvitation = endpoint({
  method: 'POST',
  path: '/user/{id}/invite',
  access: 'admin',
  status: 202,
  input: z.strictObject({ id: Id }),
  output: MailLinkResult,
  errors: [
    'already_active',
    'confirmation_required',
    'email_unconfirmed',
    'host_needed',
    'person_disabled'
  ]
})

/**
 * Sends a waiting person the link that confirms their email again. Without a mail server, returns
 * it.
 */
export const resendVerifyLink = endpoint({
  method: 'POST',
  path: '/user/{id}/verify_link',
  access: 'admin',
  status: 202,
  input: z.strictObject({ id: Id }),
  output: MailLinkResult,
  errors: ['host_needed', 'not_waiting']
})

/** Locks a person out, for one of the listed reasons. */
export const disableUser = endpoint({
  method: 'POST',
  path: '/user/{id}/disable',
  access: 'admin',
  input: z.strictObject({ id: Id, reason: DisabledReason }),
  output: z.void(),
  errors: ['not_oneself', 'email_unconfirmed']
})

/** Lets a person sign in again; earlier sessions stay ended. */
export const enableUser = endpoint({
  method: 'POST',
  path: '/user/{id}/enable',
  access: 'admin',
  input: z.strictObject({ id: Id }),
  output: z.void(),
  errors: ['email_unconfirmed']
})

/** Ends all sessions of a person and closes their streams. */
export const signOutUser = endpoint({
  method: 'POST',
  path: '/user/{id}/sign_out',
  access: 'admin',
  input: z.strictObject({
    id: Id,
    revoke_api_keys: z.optional(z.boolean())
  }),
  output: z.void(),
  errors: ['not_oneself', 'email_unconfirmed']
})

/** Lists the browsers in which a person is signed in, most recently used first. */
export const listUserSessions = endpoint({
  method: 'GET',
  path: '/user/{id}/sessions',
  access: 'admin',
  input: z.strictObject({ id: Id }),
  output: z.array(Session)
})

export const MemberUsage = z.object({
  // what the person gets as `usage` from `GET /user`
  total: UsageOfAllGroups,
  groups: z.array(
    z.object({
      ...z.pick(Group, {
        id: true,
        name: true,
        max_requests: true,
        max_requests_interval: true,
        max_storage: true,
        usage: true
      }).shape,
      // of the group's limits by this person alone
      own: z.object({ requests_used: z.number(), storage_used: z.number() })
    })
  )
})
export type MemberUsage = z.infer<typeof MemberUsage>

/** Returns what a person has used and may still use, in total and for each group. */
export const getUserUsage = endpoint({
  method: 'GET',
  path: '/user/{id}/usage',
  access: 'admin',
  input: z.strictObject({ id: Id }),
  output: MemberUsage
})

export const BulkAction = z.enum([
  'add_to_group',
  'remove_from_group',
  'disable',
  'enable',
  'invite',
  'sign_out',
  'delete'
])
export type BulkAction = z.infer<typeof BulkAction>

export const maxBulkPeople = 200

// `cursor` is `next` of the answer before
const people = {
  ids: z.optional(z.array(Id).check(z.minLength(1), z.maxLength(maxBulkPeople))),
  cursor: z.optional(
    z.string().check(patternCheck(/^[0-9a-f-]{36}$/, '`next` of the answer before'))
  )
}

export const BulkResult = z.object({
  // over all calls of the change, in a dry run
  matching: z.optional(z.number()),
  done: z.array(z.uuid()),
  // for example members of the group already
  unchanged: z.array(z.uuid()),
  refused: z.array(z.object({ id: z.uuid(), code: z.string() })),
  // of `enable`, to undo it
  reasons: z.optional(z.array(z.object({ id: z.uuid(), reason: DisabledReason }))),
  // `null`: all people have been processed
  next: z.nullable(z.uuid())
})
export type BulkResult = z.infer<typeof BulkResult>

/**
 * Changes many people, at most 200 a call; `next` is the `cursor` of the call that goes on. With
 * `dry_run`, only counts them.
 */
export const changeUsers = endpoint({
  method: 'POST',
  path: '/user/bulk',
  access: 'admin',
  idempotency: 'honoured',
  input: z.strictObject({
    action: BulkAction,
    group_id: z.optional(Id),
    reason: z.optional(DisabledReason),
    ...people,
    filter: z.optional(z.strictObject(memberFilter)),
    dry_run: z.optional(z.boolean())
  }),
  output: BulkResult,
  errors: [
    'confirmation_required',
    'host_needed',
    'idempotency_in_flight',
    'idempotency_key_reused'
  ]
})

export const InvitationLinks = z.object({
  links: z.array(
    z.object({ id: z.uuid(), username: z.string(), email: z.string(), link: z.string() })
  ),
  until: z.iso.datetime(),
  next: z.nullable(z.uuid())
})
export type InvitationLinks = z.infer<typeof InvitationLinks>

/**
 * Creates a link for each of many invited people, at most 200 a call, where no mail server sends
 * it. Needs the password again.
 */
export const createInvitationLinks = endpoint({
  method: 'POST',
  path: '/user/links',
  access: 'admin',
  confirmation: true,
  input: z.strictObject({
    ...people,
    filter: z.optional(z.strictObject({ ...memberFilter, import: z.optional(Id) }))
  }),
  output: InvitationLinks,
  errors: ['host_needed']
})

export const memberCalls = {
  listUsers,
  getMember,
  updateMember,
  setPermissions,
  deleteMember,
  resendInvitation,
  resendVerifyLink,
  disableUser,
  enableUser,
  signOutUser,
  listUserSessions,
  getUserUsage,
  changeUsers,
  createInvitationLinks
}

export const nonJsonMemberEndpoints = { exportUsers }
