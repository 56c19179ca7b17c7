import * as z from 'zod/mini'
import { canonicalEmail } from '../core/input/email.ts'
import { maxUsernameLength } from '../core/input/username.ts'
import { endpoint } from './kit/endpoint.ts'
import { Id } from './kit/ids.ts'
import { maxGroupsPerPerson } from './kit/limits.ts'
import { customCheck, maxCodeUnitsCheck, textLineSchema } from './kit/text-checks.ts'

/** As typed. Server and key derivation use its canonical form. */
export const Email = z
  .string()
  .check(
    customCheck(
      { rule: 'email' },
      'a plain e-mail address such as ada@example.com',
      text => canonicalEmail(text) !== undefined
    )
  )

export const Username = textLineSchema(maxUsernameLength)

/** `und`: none yet. The account gets that of the first page that the person opens. */
export const UserLocale = z.enum(['en', 'fr', 'und'])

// `null`: a group has no limit
const UsageRemaining = z.object({
  requests: z.nullable(z.number()),
  storage: z.nullable(z.number())
})

/**
 * Of all groups together, with other members. Storage is in bytes. `null`: a group has no limit.
 */
export const UsageOfAllGroups = z.object({
  requests_used: z.number(),
  requests_limit: z.nullable(z.number()),
  requests_remaining: z.nullable(z.number()),
  storage_used: z.number(),
  storage_limit: z.nullable(z.number()),
  storage_remaining: z.nullable(z.number()),
  // of the first group
  resets_at: z.nullable(z.iso.datetime()),
  // without other members; absent from older servers
  own: z.optional(z.object({ requests_used: z.number(), storage_used: z.number() }))
})
export type UsageOfAllGroups = z.infer<typeof UsageOfAllGroups>

/**
 * `outbox` is a folder on a developer's machine. Without a mail server, administrators pass links
 * on.
 */
export const LinkDelivery = z.enum(['mail', 'outbox', 'administrator'])
export type LinkDelivery = z.infer<typeof LinkDelivery>

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
  // absent from older servers
  usage: z.optional(UsageOfAllGroups),
  // whether the e-mail is not confirmed yet
  pending: z.optional(z.boolean()),
  delivery: z.optional(LinkDelivery),
  // within the last five minutes in this session
  confirmed: z.optional(z.literal(true)),
  // when the token of this call expires soon
  access_token: z.optional(z.string())
})
export type OwnAccount = z.infer<typeof OwnAccount>

/** Returns the signed-in person, what they may do and what they have left; renews the token. */
export const getOwnAccount = endpoint({
  method: 'GET',
  path: '/user',
  access: 'user',
  pending: true,
  input: z.strictObject({}),
  output: OwnAccount
})

/** Changes the person's name or language. */
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

const SignUp = z.strictObject({
  email: Email,
  username: Username,
  public_key_jwt: z.string().check(maxCodeUnitsCheck(4096)),
  locale: z.optional(z.enum(['en', 'fr']))
})

export const GroupIds = z.array(Id).check(z.maxLength(maxGroupsPerPerson))

// the person can choose another name when activating the account
const Invitation = z.strictObject({
  email: Email,
  username: z.optional(Username),
  locale: z.optional(z.enum(['en', 'fr'])),
  group_ids: z.optional(GroupIds)
})

/**
 * `link` is to pass on, without a mail server. `queued_until` is when the mail leaves, after 3
 * invitations an hour to one e-mail or 5,000 a day by one company.
 */
export const MailLinkResult = z.object({
  id: z.uuid(),
  link: z.optional(z.string()),
  queued_until: z.optional(z.iso.datetime())
})
export type MailLinkResult = z.infer<typeof MailLinkResult>

/**
 * Creates an account with the key derived from email and password. When an administrator calls it
 * without a key, it sends an invitation.
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

/** Replaces the key and thereby the password; every other session ends. */
export const changePassword = endpoint({
  method: 'POST',
  path: '/user/key',
  access: 'user',
  input: z.strictObject({
    challenge_response: z.string().check(maxCodeUnitsCheck(1024)),
    public_key_jwt: z.string().check(maxCodeUnitsCheck(4096)),
    keep_api_keys: z.optional(z.boolean())
  }),
  output: z.void(),
  errors: ['challenge_invalid', 'key_invalid', 'password_wrong']
})

/** Confirms the password for calls that need it again, for five minutes in this session. */
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
