import * as z from 'zod/mini'
import { endpoint } from './kit/endpoint.ts'
import { maxCodeUnitsCheck, patternCheck } from './kit/text-checks.ts'
import { Email, LinkDelivery, Username } from './users.ts'

/** The secret token of a mailed link, in the fragment of its URL: 32 random bytes in base64url. */
const MailToken = z
  .string()
  .check(patternCheck(/^[\w-]{42}[AEIMQUYcgkosw048]$/, 'the 43 characters of a mailed link'))

/**
 * Output of a call that sends a link. `delivery` says how the link reaches the person. Older API
 * versions omit `delivery`.
 */
const SentLink = z.object({ delivery: z.optional(LinkDelivery) })

const PublicKeyJwt = z.string().check(maxCodeUnitsCheck(4096))

/**
 * What a mailed link is for: to confirm the e-mail of a sign-up (`verify`), to activate an invited
 * account, to reset a password, or to confirm a change of e-mail (`email`).
 */
export const LinkPurpose = z.enum(['verify', 'activate', 'reset', 'email'])
export type LinkPurpose = z.infer<typeof LinkPurpose>

/**
 * Checks whether a mailed link is still valid, without using it up. For an invitation, the response
 * contains the invited person's `username`.
 */
export const checkMailLink = endpoint({
  method: 'POST',
  path: '/user/link',
  access: 'public',
  pending: true,
  input: z.strictObject({ token: MailToken, purpose: LinkPurpose }),
  output: z.object({ username: z.optional(z.string()) }),
  errors: ['mail_token_invalid', 'mail_token_used']
})

/**
 * Confirms the e-mail of a sign-up. The mailed `token` is enough if the caller has the session of
 * the sign-up. Without this session, the person must choose a new name and password, because
 * somebody else may have chosen those of the sign-up. The call then also needs the new `username`,
 * and a `public_key_jwt` of purpose `verify` with the public key that the browser derived from the
 * new password. It fails with `proof_required` if they are missing.
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
    'key_invalid',
    'too_many_people'
  ]
})

/** Sends the caller's confirmation link again. Does nothing if the e-mail is already confirmed. */
export const resendOwnVerifyLink = endpoint({
  method: 'POST',
  path: '/user/verify/send',
  access: 'user',
  pending: true,
  status: 202,
  input: z.strictObject({}),
  output: SentLink
})

/**
 * Activates an invited account with a name and a password. The `public_key_jwt` must have the
 * purpose `activate`.
 */
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

/**
 * Sends a link to reset the password, if an account with this e-mail exists. The response is the
 * same if no account exists, so it does not reveal who has an account.
 */
export const requestPasswordReset = endpoint({
  method: 'POST',
  path: '/user/reset/request',
  access: 'public',
  status: 202,
  input: z.strictObject({ email: Email }),
  output: SentLink
})

/**
 * Replaces the password of the person who received the mailed token, and ends every session of the
 * person. The server never gets the password: `public_key_jwt`, of purpose `reset`, contains the
 * public key that the browser derived from it.
 */
export const resetPassword = endpoint({
  method: 'POST',
  path: '/user/reset',
  access: 'public',
  input: z.strictObject({
    token: MailToken,
    public_key_jwt: PublicKeyJwt,
    /** `true`: the person's API keys stay valid. Otherwise they are revoked. */
    keep_api_keys: z.optional(z.boolean())
  }),
  output: z.void(),
  errors: ['mail_token_invalid', 'mail_token_used', 'challenge_invalid', 'key_invalid']
})

/**
 * Starts a change of the caller's e-mail. The account changes only when the person confirms the new
 * e-mail. A new e-mail needs a new key pair, because the pair is derived from e-mail and password.
 * `challenge_response` proves that the caller knows the password: it is a challenge of purpose
 * `rekey`, signed with the key of the current e-mail. `public_key_jwt` is a JWT of purpose `email`,
 * signed with the new key. It contains the new public key and the same challenge.
 */
export const requestEmailChange = endpoint({
  method: 'POST',
  path: '/user/email',
  access: 'user',
  status: 202,
  input: z.strictObject({
    email: Email,
    challenge_response: z.string().check(maxCodeUnitsCheck(1024)),
    public_key_jwt: PublicKeyJwt
  }),
  output: SentLink,
  errors: ['challenge_invalid', 'key_invalid', 'password_wrong']
})

/** Confirms the caller's new e-mail with a mailed token and ends the caller's other sessions. */
export const confirmEmailChange = endpoint({
  method: 'POST',
  path: '/user/email/confirm',
  access: 'user',
  input: z.strictObject({ token: MailToken }),
  output: z.void(),
  errors: ['mail_token_invalid', 'mail_token_used']
})

/**
 * Deletes the caller's account. `challenge_response` proves that the caller knows the password: it
 * is a challenge of purpose `rekey`, signed with the caller's key. The only administrator of a
 * company also sends the company's name (`company`); without it, the answer is
 * `last_administrator`. The input is sent in the body, because proxies log URLs.
 */
export const deleteOwnAccount = endpoint({
  method: 'DELETE',
  path: '/user',
  access: 'user',
  body: true,
  input: z.strictObject({
    challenge_response: z.string().check(maxCodeUnitsCheck(1024)),
    company: z.optional(z.string().check(maxCodeUnitsCheck(1024)))
  }),
  output: z.void(),
  errors: ['challenge_invalid', 'password_wrong', 'last_operator', 'last_administrator']
})

export const accountCalls = {
  checkMailLink,
  verifyEmail,
  resendOwnVerifyLink,
  activateUser,
  requestPasswordReset,
  resetPassword,
  requestEmailChange,
  confirmEmailChange,
  deleteOwnAccount
}
