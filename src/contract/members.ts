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
 * State of a person. `invited`: an administrator has invited the person, who has not chosen a
 * password yet. `waiting`: the person has signed up and has not confirmed the e-mail yet. `active`:
 * the person can sign in. `disabled`: every call of the person is refused.
 */
export const MemberState = z.enum(['invited', 'waiting', 'active', 'disabled'])
export type MemberState = z.infer<typeof MemberState>

/** What a person may administer: their own company (`admin`), or all companies (`operator`). */
export const Permission = z.enum(['admin', 'operator'])
export type Permission = z.infer<typeof Permission>

/**
 * A person of a company, as the company's administrators see the person. A person in the state
 * `waiting` has only signed up and has no groups and permissions yet. The person's id does not
 * change when the e-mail is confirmed.
 */
export const Member = z.object({
  id: z.uuid(),
  version: z.number(),
  username: z.string(),
  email: z.string(),
  locale: UserLocale,
  state: MemberState,
  /** Why and since when the person is disabled. `null`: the person is not disabled. */
  disabled: z.nullable(z.object({ reason: z.string(), since: z.iso.datetime() })),
  permissions: z.array(Permission),
  /** The groups of which the person is a member, sorted by name. */
  groups: z.array(z.object({ id: z.uuid(), name: z.string() })),
  created: z.iso.datetime(),
  /** Time of the person's last call, accurate to about twenty minutes. `null`: never. */
  last_seen: z.nullable(z.iso.datetime())
})
export type Member = z.infer<typeof Member>

/** Filter of lists, exports and bulk changes of people. A person must match every given field. */
const memberFilter = {
  /** Words to search for in names and e-mails, or the id of one person. */
  q: SearchText,
  state: z.optional(MemberState),
  group: z.optional(Id),
  permission: z.optional(Permission)
}

/**
 * Lists the people of a company, by name unless `sort` says otherwise. `q` searches names and
 * e-mails; it can also be the id of one person. `email` limits the list to the person who has
 * exactly this e-mail, regardless of case.
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

/**
 * Exports the people of a company who match the filter as one CSV file, ordered by id. The file is
 * UTF-8 with a byte order mark.
 */
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

/**
 * Changes a person. Fields that the input does not contain stay unchanged. `group_ids` replaces all
 * groups of the person. An administrator cannot change the person's e-mail or password.
 */
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

/**
 * Replaces the permissions of a person. Only operators can grant or remove the permission
 * `operator`. They can grant it only to people of their own company. Nobody can remove a permission
 * from themselves.
 */
export const setPermissions = endpoint({
  method: 'PUT',
  path: '/user/{id}/permissions',
  access: 'admin',
  confirmation: true,
  versioned: 'settings',
  input: z.strictObject({
    id: Id,
    permissions: z.array(Permission).check(z.maxLength(Permission.options.length))
  }),
  output: Member,
  errors: ['changed_meanwhile', 'email_unconfirmed', 'not_oneself']
})

/**
 * Deletes a person: erases the personal data of the account. The person's deposits stay in the
 * register. For a person in the state `waiting`, deletes the sign-up.
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

/**
 * Sends a new invitation to a person who has not activated the account yet. Earlier links of the
 * person stay valid until they expire. If no mail server is
 * configured, the response contains the invitation link. To receive the link of a person with
 * permissions, the caller must have confirmed their own password in the last five minutes.
 * Otherwise the call fails with `confirmation_required`.
 */
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
 * Mails the confirmation link again to a person in the state `waiting`. Without a mail server, the
 * response contains the link. In the browser in which the person signed up, opening the link is
 * enough. In another browser, the person must also choose a new password.
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

/**
 * Disables a person. Every later call of the person is refused, and the person's event streams end.
 */
export const disableUser = endpoint({
  method: 'POST',
  path: '/user/{id}/disable',
  access: 'admin',
  input: z.strictObject({ id: Id, reason: DisabledReason }),
  output: z.void(),
  errors: ['not_oneself', 'email_unconfirmed']
})

/** Enables a disabled person. The person must sign in again. */
export const enableUser = endpoint({
  method: 'POST',
  path: '/user/{id}/enable',
  access: 'admin',
  input: z.strictObject({ id: Id }),
  output: z.void(),
  errors: ['email_unconfirmed']
})

/** Ends all sessions of a person and closes the person's event streams. */
export const signOutUser = endpoint({
  method: 'POST',
  path: '/user/{id}/sign_out',
  access: 'admin',
  input: z.strictObject({
    id: Id,
    /** `true`: also revokes the person's API keys. */
    revoke_api_keys: z.optional(z.boolean())
  }),
  output: z.void(),
  errors: ['not_oneself', 'email_unconfirmed']
})

/** Returns at most 100 active sessions of a person, most recently used first. */
export const listUserSessions = endpoint({
  method: 'GET',
  path: '/user/{id}/sessions',
  access: 'admin',
  input: z.strictObject({ id: Id }),
  output: z.array(Session)
})

/** What a person's groups have used and may use: all groups together (`total`), and each group. */
export const MemberUsage = z.object({
  /**
   * Usage and limits of all groups of the person, added up. The person gets the same value as
   * `usage` from `GET /user`.
   */
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
      /**
       * What this person alone has used of the group's limits: requests in the current period, and
       * bytes of storage.
       */
      own: z.object({ requests_used: z.number(), storage_used: z.number() })
    })
  )
})
export type MemberUsage = z.infer<typeof MemberUsage>

/**
 * Returns what the groups of a person have used and may still use, and the part that this person
 * has used.
 */
export const getUserUsage = endpoint({
  method: 'GET',
  path: '/user/{id}/usage',
  access: 'admin',
  input: z.strictObject({ id: Id }),
  output: MemberUsage
})

/** A change that `POST /user/bulk` makes to many people. */
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

/** Maximum number of people whom one call of `changeUsers` changes. */
export const maxBulkPeople = 200

/**
 * Input fields of a bulk call. `ids` are the ids of the people, if the call has no `filter`.
 * `cursor` is the value of `next` from the previous response to a call with `filter`.
 */
const people = {
  ids: z.optional(z.array(Id).check(z.minLength(1), z.maxLength(maxBulkPeople))),
  cursor: z.optional(
    z.string().check(patternCheck(/^[0-9a-f-]{36}$/, '`next` of the answer before'))
  )
}

/** What one call of a bulk change did, and how to continue. */
export const BulkResult = z.object({
  /**
   * Number of people whom the whole bulk change would process, over all its calls. Present only in
   * the response to a dry run.
   */
  matching: z.optional(z.number()),
  /** Ids of the changed people. */
  done: z.array(z.uuid()),
  /**
   * Ids of people who needed no change, for example because they are members of the group already.
   */
  unchanged: z.array(z.uuid()),
  /** People who could not be changed, each with the error code that says why. */
  refused: z.array(z.object({ id: z.uuid(), code: z.string() })),
  /**
   * Only for the action `enable`: the reason for which each person in `done` was disabled before.
   * To undo the change, disable the people again with these reasons.
   */
  reasons: z.optional(z.array(z.object({ id: z.uuid(), reason: DisabledReason }))),
  /** The `cursor` of the next call. `null`: all people have been processed. */
  next: z.nullable(z.uuid())
})
export type BulkResult = z.infer<typeof BulkResult>

/**
 * Changes many people: either the people in `ids` or the people who match `filter`. One call
 * processes at most 200 people, in the order of their ids. `next` of the response is the `cursor`
 * of the next call. If one person cannot be changed, the call still changes the others. With
 * `dry_run`, nothing changes, and the response says how many people match. The actions
 * `add_to_group` and `remove_from_group` need a `group_id`, and `disable` needs a `reason`.
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

/** Invitation links from one call. The administrator passes them on to the invited people. */
export const InvitationLinks = z.object({
  links: z.array(
    z.object({ id: z.uuid(), username: z.string(), email: z.string(), link: z.string() })
  ),
  /** Time at which the links of this response expire. */
  until: z.iso.datetime(),
  /** The `cursor` of the next call. `null`: all people have been processed. */
  next: z.nullable(z.uuid())
})
export type InvitationLinks = z.infer<typeof InvitationLinks>

/**
 * Creates invitation links, which the caller passes on. The links are for the people in `ids`, or
 * for the people who match `filter`. People who cannot be invited are skipped, such as those who
 * have activated their account. In `filter`, `import` is the id of an import that created the
 * people. One call processes at most 200 people, in the order of their ids. `next` of the response
 * is the `cursor` of the next call. Earlier links of the same people stay valid until they expire.
 * Fails with `forbidden` if a mail server is configured, because the server then mails the links
 * itself.
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
