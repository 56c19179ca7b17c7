import * as z from 'zod/mini'
import { challengePurposes } from '../core/keys/challenge.ts'
import { endpoint } from './endpoint.ts'
import { maxCodeUnits } from './text-checks.ts'
import { Email } from './users.ts'

const ChallengePurpose = z.enum(challengePurposes)

/** Returns a challenge to sign. The answer does not reveal whether the e-mail has an account. */
export const getChallenge = endpoint({
  method: 'GET',
  path: '/user/login/challenge',
  access: 'public',
  input: z.strictObject({ email: Email, purpose: z.optional(ChallengePurpose) }),
  output: z.object({ challenge: z.string(), kdf: z.string() })
})

/**
 * Signs in. `challenge_response` is the challenge, a dot, and the base64url ES256 signature over
 * the challenge. `device` comes from the answer to an earlier sign-in in this browser. With
 * `device`, failed attempts by strangers cannot lock the owner out.
 */
export const logIn = endpoint({
  method: 'POST',
  path: '/user/login',
  access: 'public',
  input: z.strictObject({
    email: Email,
    challenge_response: z.string().check(maxCodeUnits(1024)),
    device: z.optional(z.string().check(maxCodeUnits(128)))
  }),
  maxBytes: 8192,
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

/** One browser in which the person is signed in. */
export const Session = z.object({
  id: z.uuid(),
  /** Browser family: `Firefox`, `Chrome`, `Safari`, `Edge`, `Opera` or `Other`. */
  agent: z.string(),
  created_at: z.iso.datetime(),
  /** Time of the last call of the session, accurate to about twenty minutes. */
  last_seen_at: z.iso.datetime(),
  /** Whether this call was made with this session. */
  current: z.boolean()
})
export type Session = z.infer<typeof Session>

/** Lists at most 100 active sessions of the caller: the present session first, then by last use. */
export const listSessions = endpoint({
  method: 'GET',
  path: '/user/session',
  access: 'user',
  input: z.strictObject({}),
  output: z.array(Session)
})

/** Ends one session of the caller and closes its streams. */
export const endSession = endpoint({
  method: 'DELETE',
  path: '/user/session/{id}',
  access: 'user',
  input: z.strictObject({ id: z.uuid() }),
  output: z.void()
})

export const sessionCalls = { getChallenge, logIn, logOut, listSessions, endSession }
