import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'
import { longest, pattern } from './text-checks.ts'
import { Delivery, Email, Username } from './users.ts'

/** What a mailed link carries in its fragment: 32 random bytes in base64url. */
const MailToken = z
  .string()
  .check(pattern(/^[\w-]{42}[AEIMQUYcgkosw048]$/, 'the 43 characters of a mailed link'))

/** Absent from the answers of an older API, which a newer page may still meet. */
const Promised = z.object({ delivery: z.optional(Delivery) })

const PublicKeyJwt = z.string().check(longest(4096))

export const LinkPurpose = z.enum(['verify', 'activate', 'reset', 'email'])
export type LinkPurpose = z.infer<typeof LinkPurpose>

/** Says whether a mailed link still opens something, without using it up; `username` is an invitation's. */
export const readLink = endpoint({
  method: 'POST',
  path: '/user/link',
  access: 'public',
  pending: true,
  input: z.strictObject({ token: MailToken, purpose: LinkPurpose }),
  output: z.object({ username: z.optional(z.string()) }),
  errors: ['mail_token_invalid', 'mail_token_used']
})

/**
 * Confirms the e-mail of a sign-up. Where the sign-up was made its pending session is enough. Elsewhere a
 * `public_key_jwt` of purpose `verify` and a username come along; they replace what the sign-up chose.
 */
export const verifyEmail = endpoint({
  method: 'POST',
  path: '/user/verify',
  access: 'public',
  pending: true,
  input: z.union([
    z.strictObject({ token: MailToken }),
    z.strictObject({ token: MailToken, public_key_jwt: PublicKeyJwt, username: Username })
  ]),
  output: z.void(),
  errors: [
    'mail_token_invalid',
    'mail_token_used',
    'proof_required',
    'challenge_invalid',
    'key_invalid'
  ]
})

/** Sends the link of the caller's own sign-up again; does nothing once it is confirmed. */
export const sendVerification = endpoint({
  method: 'POST',
  path: '/user/verify/send',
  access: 'user',
  pending: true,
  status: 202,
  input: z.strictObject({}),
  output: Promised
})

/** An invited person chooses name and password. The `public_key_jwt` is of purpose `activate`. */
export const activateUser = endpoint({
  method: 'POST',
  path: '/user/activate',
  access: 'public',
  input: z.strictObject({
    token: MailToken,
    username: Username,
    public_key_jwt: PublicKeyJwt,
    locale: z.optional(z.enum(['en', 'fr']))
  }),
  output: z.void(),
  errors: ['mail_token_invalid', 'mail_token_used', 'challenge_invalid', 'key_invalid']
})

/** Answers the same for every e-mail; whoever has an account under it gets a link. */
export const requestReset = endpoint({
  method: 'POST',
  path: '/user/reset/request',
  access: 'public',
  status: 202,
  input: z.strictObject({ email: Email }),
  output: Promised
})

/** A new password by mail. The `public_key_jwt` is of purpose `reset`; every session ends. */
export const resetKey = endpoint({
  method: 'POST',
  path: '/user/reset',
  access: 'public',
  input: z.strictObject({ token: MailToken, public_key_jwt: PublicKeyJwt }),
  output: z.void(),
  errors: ['mail_token_invalid', 'mail_token_used', 'challenge_invalid', 'key_invalid']
})

/**
 * Another e-mail, and with it another key. `challenge_response` answers a challenge of purpose `rekey` of
 * the present e-mail with the present key; `public_key_jwt`, of purpose `email`, carries that challenge and
 * proves the key of the new e-mail. Nothing changes until the new address confirms.
 */
export const changeEmail = endpoint({
  method: 'POST',
  path: '/user/email',
  access: 'user',
  status: 202,
  input: z.strictObject({
    email: Email,
    challenge_response: z.string().check(longest(1024)),
    public_key_jwt: PublicKeyJwt
  }),
  output: Promised,
  errors: ['challenge_invalid', 'key_invalid', 'password_wrong']
})

/** Confirms the new e-mail, by the person who asked for it. Their other sessions end. */
export const confirmEmail = endpoint({
  method: 'POST',
  path: '/user/email/confirm',
  access: 'user',
  input: z.strictObject({ token: MailToken }),
  output: z.void(),
  errors: ['mail_token_invalid', 'mail_token_used']
})

/**
 * Erases the caller's account. `challenge_response` answers a challenge of purpose `rekey`; it stands in
 * the body, because addresses are written down by everything on the way.
 */
export const deleteUser = endpoint({
  method: 'DELETE',
  path: '/user',
  access: 'user',
  body: true,
  input: z.strictObject({ challenge_response: z.string().check(longest(1024)) }),
  output: z.void(),
  errors: ['challenge_invalid', 'password_wrong', 'last_operator']
})
