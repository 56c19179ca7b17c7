import * as z from 'zod/mini'
import { canonicalEmail } from '../core/input/email.ts'
import { maxUsernameCharacters } from '../core/input/username.ts'
import { endpoint } from './endpoint.ts'
import { maxCodeUnits, rule, textLine } from './text-checks.ts'

/** An e-mail as typed. The server and the key derivation use its canonical form. */
export const Email = z
  .string()
  .check(
    rule(
      { rule: 'email' },
      'a plain e-mail address such as ada@example.com',
      text => canonicalEmail(text) !== undefined
    )
  )

/** 1 to 80 characters of one visible line. */
export const Username = textLine(maxUsernameCharacters)

/**
 * Language of the interface. `und` means that none is chosen yet: the first page load saves its
 * language.
 */
export const UserLocale = z.enum(['en', 'fr', 'und'])

/** Remaining requests and bytes in all groups of the person. `null` means unlimited. */
const UsageRemaining = z.object({
  requests: z.nullable(z.number()),
  storage: z.nullable(z.number())
})

/** Usage in all groups of the person. A limit of `null` means unlimited. */
export const Usage = z.object({
  requests_used: z.number(),
  requests_limit: z.nullable(z.number()),
  requests_remaining: z.nullable(z.number()),
  storage_used: z.number(),
  storage_limit: z.nullable(z.number()),
  storage_remaining: z.nullable(z.number()),
  /** When the earliest period of a request limit ends. `null` where no period ends. */
  resets_at: z.nullable(z.iso.datetime()),
  /** The person's own usage in the same periods. Missing from the answers of an older API. */
  own: z.optional(z.object({ requests_used: z.number(), storage_used: z.number() }))
})
export type Usage = z.infer<typeof Usage>

/**
 * How a link reaches a person: by mail, as a file in the outbox of a developer's machine, or through an
 * administrator where no mail server is configured.
 */
export const Delivery = z.enum(['mail', 'outbox', 'administrator'])
export type Delivery = z.infer<typeof Delivery>

export const UserInfo = z.object({
  id: z.uuid(),
  email: z.string(),
  username: z.string(),
  initials: z.string(),
  locale: UserLocale,
  features: z.array(z.string()),
  permissions: z.array(z.string()),
  company: z.object({ id: z.uuid(), name: z.string() }),
  usage_remaining: UsageRemaining,
  /** Missing from the answers of an older API, which a newer page may call. */
  usage: z.optional(Usage),
  /** Whether the e-mail is not confirmed yet. Such a person may make only few calls. */
  pending: z.optional(z.boolean()),
  /** How the confirmation link reaches a pending person. */
  delivery: z.optional(Delivery),
  /** A new token, sent when the token of this call expires soon. */
  access_token: z.optional(z.string())
})
export type UserInfo = z.infer<typeof UserInfo>

export const getUser = endpoint({
  method: 'GET',
  path: '/user',
  access: 'user',
  pending: true,
  input: z.strictObject({}),
  output: UserInfo
})

export const updateUser = endpoint({
  method: 'PUT',
  path: '/user',
  access: 'user',
  pending: true,
  input: z.strictObject({
    username: z.optional(Username),
    locale: z.optional(z.enum(['en', 'fr']))
  }),
  output: UserInfo
})

/**
 * A sign-up. `public_key_jwt` proves that the browser has the key derived from e-mail and password.
 */
const SignUp = z.strictObject({
  email: Email,
  username: Username,
  public_key_jwt: z.string().check(maxCodeUnits(4096)),
  locale: z.optional(z.enum(['en', 'fr']))
})

/** An invitation. The person has this `username` until they choose a name and a password. */
const Invitation = z.strictObject({
  email: Email,
  username: z.optional(Username),
  locale: z.optional(z.enum(['en', 'fr']))
})

/**
 * `link` is the invitation link; it is present where no mail server is configured. An address gets
 * at most 3 invitations an hour, and a company sends at most 5,000 a day. `queued_until` is the
 * time at which an invitation beyond these limits is mailed.
 */
export const InvitedUser = z.object({
  id: z.uuid(),
  link: z.optional(z.string()),
  queued_until: z.optional(z.iso.datetime())
})

/** Creates a user: by sign-up with a key, or by an administrator's invitation without a key. */
export const createUser = endpoint({
  method: 'POST',
  path: '/user',
  access: 'public',
  status: 201,
  idempotency: 'honoured',
  input: z.union([SignUp, Invitation]),
  output: InvitedUser,
  errors: [
    'signup_closed',
    'email_taken',
    'challenge_invalid',
    'key_invalid',
    'idempotency_in_flight',
    'idempotency_key_reused'
  ]
})

/**
 * Changes the password and ends every other session of the caller. `challenge_response` is the
 * answer to a challenge of purpose `rekey`, signed with the present key. `public_key_jwt` contains
 * that challenge and proves possession of the new key.
 */
export const changeKey = endpoint({
  method: 'POST',
  path: '/user/key',
  access: 'user',
  input: z.strictObject({
    challenge_response: z.string().check(maxCodeUnits(1024)),
    public_key_jwt: z.string().check(maxCodeUnits(4096))
  }),
  output: z.void(),
  errors: ['challenge_invalid', 'key_invalid', 'password_wrong']
})

export const userCalls = { getUser, updateUser, createUser, changeKey }
