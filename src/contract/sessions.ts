import * as z from 'zod/mini'
import { challengePurposes } from '../core/challenge.ts'
import { endpoint } from './endpoint.ts'
import { Email } from './users.ts'

const ChallengePurpose = z.enum(challengePurposes)

/** Says nothing about whether the e-mail is known. */
export const getChallenge = endpoint({
  method: 'GET',
  path: '/user/login/challenge',
  access: 'public',
  input: z.strictObject({ email: Email, purpose: z.optional(ChallengePurpose) }),
  output: z.object({ challenge: z.string(), kdf: z.string() })
})

/**
 * `challenge_response` is the challenge, a dot, and the base64url ES256 signature over it. `device` is
 * what an earlier login on this browser answered: it keeps strangers from blocking its owner.
 */
export const logIn = endpoint({
  method: 'POST',
  path: '/user/login',
  access: 'public',
  input: z.strictObject({
    email: Email,
    challenge_response: z.string().check(z.maxLength(1024)),
    device: z.optional(z.string().check(z.maxLength(128)))
  }),
  output: z.object({ access_token: z.string(), device: z.string() }),
  errors: ['login_failed']
})

export const logOut = endpoint({
  method: 'POST',
  path: '/user/logout',
  access: 'user',
  pending: true,
  input: z.strictObject({ all: z.optional(z.boolean()) }),
  output: z.void()
})
