import * as z from 'zod/mini'
import { canonicalEmail } from '../core/input/email.ts'
import { maxUsernameLength } from '../core/input/username.ts'
import { endpoint } from './kit/endpoint.ts'
import { Id } from './kit/ids.ts'
import { maxGroupsPerPerson } from './kit/limits.ts'
import { customCheck, maxCodeUnitsCheck, textLineSchema } from './kit/text-checks.ts'

/** An e-mail as a person types it. The server and the key derivation use its canonical form. */
export const Email = z
  .string()
  .check(
    customCheck(
      { rule: 'email' },
      'a plain e-mail address such as ada@example.com',
      text => canonicalEmail(text) !== undefined
    )
  )

/** A person's name: one line of 1 to 80 characters, at least one of them visible. */
export const Username = textLineSchema(maxUsernameLength)

/**
 * The language in which a person sees the interface. `und`: no language is chosen yet. The
 * account then gets the language of the first page that the person opens while signed in.
 */
export const UserLocale = z.enum(['en', 'fr', 'und'])

/**
 * What is left of the limits of all groups of the person, added up. `requests` counts deposits and
 * verifications in the current period of each group. `storage` is in bytes. `null`: at least one of
 * the groups has no limit.
 */
const UsageRemaining = z.object({
  requests: z.nullable(z.number()),
  storage: z.nullable(z.number())
})

/**
 * Usage and limits of all groups of the person, added up. The usage includes that of other members
 * of the groups. `requests…` counts deposits and verifications in the current period of each group.
 * `storage…` is in bytes. `null`: at least one of the groups has no limit.
 */
export const UsageOfAllGroups = z.object({
  requests_used: z.number(),
  requests_limit: z.nullable(z.number()),
  requests_remaining: z.nullable(z.number()),
  storage_used: z.number(),
  storage_limit: z.nullable(z.number()),
  storage_remaining: z.nullable(z.number()),
  /**
   * The next time at which one of the person's groups begins to count requests from 0 again.
   * `null`: never.
   */
  resets_at: z.nullable(z.iso.datetime()),
  /**
   * What the person has used in all of their groups together, without the usage of other members.
   * `requests_used` counts requests in the current period of each group. `storage_used` is in
   * bytes. Absent from the responses of servers with an older API version.
   */
  own: z.optional(z.object({ requests_used: z.number(), storage_used: z.number() }))
})
export type UsageOfAllGroups = z.infer<typeof UsageOfAllGroups>

/**
 * How a link reaches a person: by mail, as a file in a folder of a developer's machine (`outbox`),
 * or through an administrator if no mail server is configured.
 */
export const LinkDelivery = z.enum(['mail', 'outbox', 'administrator'])
export type LinkDelivery = z.infer<typeof LinkDelivery>

/** The caller's own account with its permissions and usage. */
export const OwnAccount = z.object({
  id: z.uuid(),
  email: z.string(),
  username: z.string(),
  initials: z.string(),
  locale: UserLocale,
  features: z.array(z.string()),
  permissions: z.array(z.string()),
  company: z.object({ id: z.uuid(), name: z.string() }),
  usage_remaining: UsageRemaining,
  /** Usage of the person's groups. Servers with an older API version omit it. */
  usage: z.optional(UsageOfAllGroups),
  /** Whether the person's e-mail is not confirmed yet. Such a person may make only few calls. */
  pending: z.optional(z.boolean()),
  /** How the link to confirm the e-mail reaches the person. Present only if `pending` is true. */
  delivery: z.optional(LinkDelivery),
  /**
   * Whether the caller has entered the password again in this session within the last five minutes.
   * Absent if not.
   */
  confirmed: z.optional(z.literal(true)),
  /** A new session token. Present when the token of this call expires soon. */
  access_token: z.optional(z.string())
})
export type OwnAccount = z.infer<typeof OwnAccount>

/** Returns the caller's own account. */
export const getOwnAccount = endpoint({
  method: 'GET',
  path: '/user',
  access: 'user',
  pending: true,
  input: z.strictObject({}),
  output: OwnAccount
})

/** Changes the caller's name or language. */
export const updateOwnAccount = endpoint({
  method: 'PUT',
  path: '/user',
  access: 'user',
  pending: true,
  input: z.strictObject({
    username: z.optional(Username),
    locale: z.optional(z.enum(['en', 'fr']))
  }),
  output: OwnAccount
})

/**
 * Input of a sign-up. `public_key_jwt` proves that the browser has the key derived from e-mail and
 * password.
 */
const SignUp = z.strictObject({
  email: Email,
  username: Username,
  public_key_jwt: z.string().check(maxCodeUnitsCheck(4096)),
  locale: z.optional(z.enum(['en', 'fr']))
})

/** The ids of all groups that a person is to be a member of. */
export const GroupIds = z.array(Id).check(z.maxLength(maxGroupsPerPerson))

/**
 * Input of an invitation. `username` is a name for the person, who can choose another one when
 * activating the account. `group_ids` are the person's groups, by default the company's default
 * group.
 */
const Invitation = z.strictObject({
  email: Email,
  username: z.optional(Username),
  locale: z.optional(z.enum(['en', 'fr'])),
  group_ids: z.optional(GroupIds)
})

/**
 * Output of a call that signs up or invites a person, or sends the person a new link. `link` is a
 * link for the administrator to pass on, present only if no mail server is configured.
 * `queued_until` is the time at which the link is mailed, present only if a limit delays the mail:
 * 3 invitations an hour to one e-mail, or 5,000 a day by one company.
 */
export const MailLinkResult = z.object({
  id: z.uuid(),
  link: z.optional(z.string()),
  queued_until: z.optional(z.iso.datetime())
})
export type MailLinkResult = z.infer<typeof MailLinkResult>

/**
 * Creates a user, for a sign-up or an invitation. A person who signs up sends a public key. A
 * person whom an administrator invites has no key yet.
 */
export const createUser = endpoint({
  method: 'POST',
  path: '/user',
  access: 'public',
  acting: true,
  status: 201,
  idempotency: 'honoured',
  input: z.union([SignUp, Invitation]),
  output: MailLinkResult,
  errors: [
    'signup_closed',
    'email_taken',
    'too_many_people',
    'host_needed',
    'challenge_invalid',
    'key_invalid',
    'idempotency_in_flight',
    'idempotency_key_reused'
  ]
})

/**
 * Changes the caller's password and ends the caller's other sessions. `challenge_response` is a
 * challenge of purpose `rekey`, signed with the key of the current password. `public_key_jwt`
 * contains the same challenge and the public key of the new password. It proves that the browser
 * has the new private key.
 */
export const changePassword = endpoint({
  method: 'POST',
  path: '/user/key',
  access: 'user',
  input: z.strictObject({
    challenge_response: z.string().check(maxCodeUnitsCheck(1024)),
    public_key_jwt: z.string().check(maxCodeUnitsCheck(4096)),
    /** `true`: the caller's API keys stay valid. Otherwise they are revoked. */
    keep_api_keys: z.optional(z.boolean())
  }),
  output: z.void(),
  errors: ['challenge_invalid', 'key_invalid', 'password_wrong']
})

/**
 * Confirms the caller's password. For five minutes, the caller's session can then make calls that
 * need `confirmation`. `challenge_response` is a challenge of purpose `confirm`, signed with the
 * private key that the browser derives from the caller's e-mail and password.
 */
export const confirmPassword = endpoint({
  method: 'POST',
  path: '/user/confirm',
  access: 'user',
  input: z.strictObject({ challenge_response: z.string().check(maxCodeUnitsCheck(1024)) }),
  output: z.void(),
  errors: ['challenge_invalid', 'password_wrong']
})

export const userCalls = {
  getOwnAccount,
  updateOwnAccount,
  createUser,
  changePassword,
  confirmPassword
}
