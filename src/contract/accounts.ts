import * as z from 'zod/mini'
import { endpoint } from './kit/endpoint.ts'
import { maxCodeUnitsCheck, patternCheck } from './kit/text-checks.ts'
import { Email, LinkDelivery, Username } from './users.ts'

// 32 random bytes in base64url, in the fragment of the link
const MailToken = z
  .string()
  .check(patternCheck(/^[\w-]{42}[AEIMQUYcgkosw048]$/, 'the 43 characters of a mailed link'))

const SentLink = z.object({ delivery: z.optional(LinkDelivery) })

const PublicKeyJwt = z.string().check(maxCodeUnitsCheck(4096))

/** `verify` confirms the e-mail of a sign-up, `email` that of a change. */
export const LinkPurpose = z.enum(['verify', 'activate', 'reset', 'email'])
export type LinkPurpose = z.infer<typeof LinkPurpose>

/**
 * Tells whether a mailed link still works, without using it up. For an invitation, it also returns
 * the name.
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

/** Confirms the email of a sign-up with the token from its email. */
export const verifyEmail = endpoint({
  method: 'POST',
  path: '/user/verify',
  access: 'public',
  pending: true,
  input: z.union([
    z.strictObject({ token: MailToken }),
    // in another browser, because a stranger may have chosen the first name and password
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

/** Sends the email of a pending sign-up again. */
export const resendOwnVerifyLink = endpoint({
  method: 'POST',
  path: '/user/verify/send',
  access: 'user',
  pending: true,
  status: 202,
  input: z.strictObject({}),
  output: SentLink
})

/** Sets the name and the first key of an invited person. */
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
 * Sends an email with a link for choosing a new password. The answer is the same for every email.
 */
export const requestPasswordReset = endpoint({
  method: 'POST',
  path: '/user/reset/request',
  access: 'public',
  status: 202,
  input: z.strictObject({ email: Email }),
  output: SentLink
})

/** Registers a new key with the token from that email; every session ends. */
export const resetPassword = endpoint({
  method: 'POST',
  path: '/user/reset',
  access: 'public',
  input: z.strictObject({
    token: MailToken,
    public_key_jwt: PublicKeyJwt,
    keep_api_keys: z.optional(z.boolean())
  }),
  output: z.void(),
  errors: ['mail_token_invalid', 'mail_token_used', 'challenge_invalid', 'key_invalid']
})

/**
 * Requests a change to another email and its key. Both take effect once the new address is
 * confirmed.
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

/** Confirms the new email with the token from its email; other sessions end. */
export const confirmEmailChange = endpoint({
  method: 'POST',
  path: '/user/email/confirm',
  access: 'user',
  input: z.strictObject({ token: MailToken }),
  output: z.void(),
  errors: ['mail_token_invalid', 'mail_token_used']
})

/**
 * Erases the account. Its fields go into a JSON body, because addresses are logged along the way.
 */
export const deleteOwnAccount = endpoint({
  method: 'DELETE',
  path: '/user',
  access: 'user',
  body: true,
  input: z.strictObject({
    challenge_response: z.string().check(maxCodeUnitsCheck(1024)),
    // the company's name, which its only administrator must send
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
