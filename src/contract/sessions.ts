import * as z from 'zod/mini'
import { challengePurposes } from '../core/keys/challenge.ts'
import { endpoint } from './kit/endpoint.ts'
import { Id } from './kit/ids.ts'
import { listEndpoint } from './kit/lists.ts'
import { maxCodeUnitsCheck } from './kit/text-checks.ts'
import { Email } from './users.ts'

const ChallengePurpose = z.enum(challengePurposes)

/** Returns a challenge to sign. It does not reveal whether the email is known. */
export const getChallenge = endpoint({
  method: 'GET',
  path: '/user/login/challenge',
  access: 'public',
  suspended: true,
  input: z.strictObject({ email: Email, purpose: z.optional(ChallengePurpose) }),
  output: z.object({ challenge: z.string(), kdf: z.string() })
})

/** Takes the signed challenge and returns a token. */
export const logIn = endpoint({
  method: 'POST',
  path: '/user/login',
  access: 'public',
  suspended: true,
  input: z.strictObject({
    email: Email,
    challenge_response: z.string().check(maxCodeUnitsCheck(1024)),
    // of an earlier sign-in: strangers who fail too often cannot block this one
    device: z.optional(z.string().check(maxCodeUnitsCheck(128)))
  }),
  maxBytes: 8192,
  output: z.object({ access_token: z.string(), device: z.string() }),
  errors: ['login_failed']
})

/** Ends this session, or all of them. */
export const logOut = endpoint({
  method: 'POST',
  path: '/user/logout',
  access: 'user',
  pending: true,
  input: z.strictObject({ all: z.optional(z.boolean()) }),
  output: z.void()
})

export const Session = z.object({
  id: z.uuid(),
  // a family such as `Firefox`, or `Other`
  agent: z.string(),
  created_at: z.iso.datetime(),
  // accurate to about twenty minutes
  last_seen_at: z.iso.datetime(),
  current: z.boolean()
})
export type Session = z.infer<typeof Session>

/** Lists the browsers in which the person is signed in, this one first. */
export const listSessions = listEndpoint({
  path: '/user/session',
  access: 'user',
  item: Session,
  input: {}
})

/** Signs the person out of one browser. */
export const endSession = endpoint({
  method: 'DELETE',
  path: '/user/session/{id}',
  access: 'user',
  input: z.strictObject({ id: Id }),
  output: z.void()
})

export const sessionCalls = { getChallenge, logIn, logOut, listSessions, endSession }
