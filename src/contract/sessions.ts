import * as z from 'zod/mini'
import { challengePurposes } from '../core/keys/challenge.ts'
import { endpoint } from './kit/endpoint.ts'
import { Id } from './kit/ids.ts'
import { listEndpoint } from './kit/lists.ts'
import { maxCodeUnitsCheck } from './kit/text-checks.ts'
import { Email } from './users.ts'

const ChallengePurpose = z.enum(challengePurposes)

/**
 * Returns a challenge for the caller to sign. `purpose` is what the signature is for, by default
 * `login`. The response does not reveal whether the e-mail has an account.
 */
export const getChallenge = endpoint({
  method: 'GET',
  path: '/user/login/challenge',
  access: 'public',
  suspended: true,
  input: z.strictObject({ email: Email, purpose: z.optional(ChallengePurpose) }),
  output: z.object({ challenge: z.string(), kdf: z.string() })
})

/**
 * Signs in and returns a session token. `challenge_response` is the challenge, a dot, and the ES256
 * signature of the challenge in base64url. `device` is a value that an earlier sign-in in this
 * browser returned. With `device`, the person can sign in even if strangers have made too many
 * failed attempts on the account.
 */
export const logIn = endpoint({
  method: 'POST',
  path: '/user/login',
  access: 'public',
  suspended: true,
  input: z.strictObject({
    email: Email,
    challenge_response: z.string().check(maxCodeUnitsCheck(1024)),
    device: z.optional(z.string().check(maxCodeUnitsCheck(128)))
  }),
  maxBytes: 8192,
  output: z.object({ access_token: z.string(), device: z.string() }),
  errors: ['login_failed']
})

/** Ends the session that makes the call or, with `all`, every session of the caller. */
export const logOut = endpoint({
  method: 'POST',
  path: '/user/logout',
  access: 'user',
  pending: true,
  input: z.strictObject({ all: z.optional(z.boolean()) }),
  output: z.void()
})

/** A session: one browser in which a person is signed in. */
export const Session = z.object({
  id: z.uuid(),
  /** Family of the session's browser: `Firefox`, `Chrome`, `Safari`, `Edge`, `Opera` or `Other`. */
  agent: z.string(),
  created_at: z.iso.datetime(),
  /** Time of the session's last call, accurate to about twenty minutes. */
  last_seen_at: z.iso.datetime(),
  /** Whether the session is the one that makes this call. */
  current: z.boolean()
})
export type Session = z.infer<typeof Session>

/**
 * Lists the active sessions of the caller. The session that makes the call comes first, then the
 * others, most recently used first. A page has 100 sessions unless the call has a `limit`.
 */
export const listSessions = listEndpoint({
  path: '/user/session',
  access: 'user',
  item: Session,
  input: {}
})

/** Ends one session of the caller and closes the session's event streams. */
export const endSession = endpoint({
  method: 'DELETE',
  path: '/user/session/{id}',
  access: 'user',
  input: z.strictObject({ id: Id }),
  output: z.void()
})

export const sessionCalls = { getChallenge, logIn, logOut, listSessions, endSession }
