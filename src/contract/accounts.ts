import * as z from 'zod/mini'
import { endpoint } from './endpoint.ts'
import { maxCodeUnits, pattern } from './text-checks.ts'
import { Delivery, Email, Username } from './users.ts'

/** The token in the fragment of a mailed link: 32 random bytes in base64url. */
const MailToken = z
  .string()
  .check(pattern(/^[\w-]{42}[AEIMQUYcgkosw048]$/, 'the 43 characters of a mailed link'))

/** `delivery` is missing from the answers of an older API, which a newer page may call. */
const Promised = z.object({ delivery: z.optional(Delivery) })

const PublicKeyJwt = z.string().check(maxCodeUnits(4096))

export const LinkPurpose = z.enum(['verify', 'activate', 'reset', 'email'])
export type LinkPurpose = z.infer<typeof LinkPurpose>

/**
 * Checks whether a mailed link is still valid, without using it. Returns the recipient's `username`
 * for an invitation.
 */
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
 * Confirms the e-mail of a sign-up. In the browser that signed up, its pending session is enough.
 * In another browser the call also takes a `public_key_jwt` of purpose `verify` and a username,
 * which replace those of the sign-up.
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

/** Sends the caller's confirmation link again. Does nothing once the e-mail is confirmed. */
export const sendVerification = endpoint({
  method: 'POST',
  path: '/user/verify/send',
  access: 'user',
  pending: true,
  status: 202,
  input: z.strictObject({}),
  output: Promised
})

/** Activates an invited account with a name and a password. The `public_key_jwt` is of purpose `activate`. */
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

/** Sends a reset link if the e-mail has an account. The answer is the same for every e-mail. */
export const requestReset = endpoint({
  method: 'POST',
  path: '/user/reset/request',
  access: 'public',
  status: 202,
  input: z.strictObject({ email: Email }),
  output: Promised
})

/**
 * Sets a new password with a mailed token and ends every session of the person. The
 * `public_key_jwt` is of purpose `reset`.
 */
export const resetKey = endpoint({
  method: 'POST',
  path: '/user/reset',
  access: 'public',
  input: z.strictObject({ token: MailToken, public_key_jwt: PublicKeyJwt }),
  output: z.void(),
  errors: ['mail_token_invalid', 'mail_token_used', 'challenge_invalid', 'key_invalid']
})

/**
 * Starts a change of e-mail, which also changes the key. `challenge_response` is the answer to a
 * challenge of purpose `rekey`, signed with the present key. `public_key_jwt`, of purpose `email`,
 * contains that challenge and proves possession of the new key. Nothing changes until the new
 * address is confirmed.
 */
export const changeEmail = endpoint({
  method: 'POST',
  path: '/user/email',
  access: 'user',
  status: 202,
  input: z.strictObject({
    email: Email,
    challenge_response: z.string().check(maxCodeUnits(1024)),
    public_key_jwt: PublicKeyJwt
  }),
  output: Promised,
  errors: ['challenge_invalid', 'key_invalid', 'password_wrong']
})

/** Confirms the caller's new e-mail and ends their other sessions. */
export const confirmEmail = endpoint({
  method: 'POST',
  path: '/user/email/confirm',
  access: 'user',
  input: z.strictObject({ token: MailToken }),
  output: z.void(),
  errors: ['mail_token_invalid', 'mail_token_used']
})

/**
 * Deletes the caller's account. `challenge_response` is the answer to a challenge of purpose
 * `rekey`. It is in the body, because proxies log addresses.
 */
export const deleteUser = endpoint({
  method: 'DELETE',
  path: '/user',
  access: 'user',
  body: true,
  input: z.strictObject({ challenge_response: z.string().check(maxCodeUnits(1024)) }),
  output: z.void(),
  errors: ['challenge_invalid', 'password_wrong', 'last_operator']
})

export const accountCalls = {
  readLink,
  verifyEmail,
  sendVerification,
  activateUser,
  requestReset,
  resetKey,
  changeEmail,
  confirmEmail,
  deleteUser
}
