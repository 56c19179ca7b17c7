import * as z from 'zod/mini'
import { canonicalEmail } from '../core/input/email.ts'
import { maxUsernameCharacters } from '../core/input/username.ts'
import { endpoint } from './endpoint.ts'
import { line, longest, rule } from './text-checks.ts'

/** An e-mail as people type it; the server and the key derivation see its canonical form. */
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
export const Username = line(maxUsernameCharacters)

/** `und`: not chosen yet; the interface's language is saved at the first load. */
export const UserLocale = z.enum(['en', 'fr', 'und'])

/** Requests and bytes left over all groups of the person; `null` = unlimited. */
const UsageRemaining = z.object({
  requests: z.nullable(z.number()),
  storage: z.nullable(z.number())
})

/** What the groups of the person have used, over all of them; a limit of `null` is none. */
export const Usage = z.object({
  requests_used: z.number(),
  requests_limit: z.nullable(z.number()),
  requests_remaining: z.nullable(z.number()),
  storage_used: z.number(),
  storage_limit: z.nullable(z.number()),
  storage_remaining: z.nullable(z.number()),
  /** When requests are first given back; `null` where they never are. */
  resets_at: z.nullable(z.iso.datetime()),
  /**
   * The person's own part of what the groups have used, in the same periods. Absent from the answers of an
   * older API.
   */
  own: z.optional(z.object({ requests_used: z.number(), storage_used: z.number() }))
})
export type Usage = z.infer<typeof Usage>

/**
 * How the link of a message reaches a person: by mail; as a file in the outbox of a developer's machine; or
 * through an administrator, where no mail server is set.
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
  /** Absent from the answers of an older API, which a newer page may still meet. */
  usage: z.optional(Usage),
  /** The e-mail is not confirmed yet: nothing works but this. */
  pending: z.optional(z.boolean()),
  /** How the link that confirms it arrives; of a pending person only. */
  delivery: z.optional(Delivery),
  /** A fresh token, when the one of the call is near its end. */
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

/** `public_key_jwt` proves that the browser holds the key derived from e-mail and password. */
const SignUp = z.strictObject({
  email: Email,
  username: Username,
  public_key_jwt: z.string().check(longest(4096)),
  locale: z.optional(z.enum(['en', 'fr']))
})

/** Somebody who chooses name and password later; `username` is what they are called until then. */
const Invitation = z.strictObject({
  email: Email,
  username: z.optional(Username),
  locale: z.optional(z.enum(['en', 'fr']))
})

/**
 * `link` is the invitation's where no mail server sends it. An address gets at most 3 invitations an hour
 * and a company sends at most 5,000 a day: one beyond that is kept and mailed at `queued_until`.
 */
export const Invited = z.object({
  id: z.uuid(),
  link: z.optional(z.string()),
  queued_until: z.optional(z.iso.datetime())
})

/** A sign-up, which proves a key; or an invitation by an administrator, which has none. */
export const createUser = endpoint({
  method: 'POST',
  path: '/user',
  access: 'public',
  status: 201,
  idempotency: 'honoured',
  input: z.union([SignUp, Invitation]),
  output: Invited,
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
 * A new password. `challenge_response` answers a challenge of purpose `rekey` with the present key,
 * `public_key_jwt` carries that challenge and proves the new one. Every other session ends.
 */
export const changeKey = endpoint({
  method: 'POST',
  path: '/user/key',
  access: 'user',
  input: z.strictObject({
    challenge_response: z.string().check(longest(1024)),
    public_key_jwt: z.string().check(longest(4096))
  }),
  output: z.void(),
  errors: ['challenge_invalid', 'key_invalid', 'password_wrong']
})
