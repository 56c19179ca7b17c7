import * as z from 'zod/mini'
import { challengePurposes } from '../core/keys/challenge.ts'
import { endpoint } from './endpoint.ts'
import { longest } from './text-checks.ts'
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
    challenge_response: z.string().check(longest(1024)),
    device: z.optional(z.string().check(longest(128)))
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
  /** To about twenty minutes. */
  last_seen_at: z.iso.datetime(),
  /** The session of this very call. */
  current: z.boolean()
})
export type Session = z.infer<typeof Session>

/** The caller's sessions that live: the present one first, then the last seen. At most 100. */
export const listSessions = endpoint({
  method: 'GET',
  path: '/user/session',
  access: 'user',
  input: z.strictObject({}),
  output: z.array(Session)
})

/** Signs one browser of the caller out; its streams close. */
export const endSession = endpoint({
  method: 'DELETE',
  path: '/user/session/{id}',
  access: 'user',
  input: z.strictObject({ id: z.uuid() }),
  output: z.void()
})
