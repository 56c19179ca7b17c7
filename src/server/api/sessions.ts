import { endSession, getChallenge, listSessions, logIn, logOut } from '../../contract/sessions.ts'
import * as challenges from '../domain/key-proofs/challenges.ts'
import * as logins from '../domain/sessions/logins.ts'
import * as sessions from '../domain/sessions/sessions.ts'
import { type Api, authenticatedCaller, isFromDeveloperMachine } from './kit/context.ts'
import { mountEndpoint, mountList } from './kit/mount.ts'
import { canonicalizeEmail } from './users.ts'

export function mountSessions(app: Api): void {
  mountEndpoint(app, getChallenge, ({ email, purpose }, c) =>
    challenges.createChallenge(c.get('deps'), {
      tenant: c.get('tenant'),
      email: canonicalizeEmail(email),
      purpose: purpose ?? 'login',
      address: c.get('address')
    })
  )

  mountEndpoint(app, logIn, ({ email, challenge_response, device }, c) =>
    logins.logIn(c.get('deps'), {
      tenant: c.get('tenant'),
      email: canonicalizeEmail(email),
      challenge_response,
      device,
      address: c.get('address'),
      agent: c.req.header('user-agent') ?? '',
      isDeveloper: isFromDeveloperMachine(c)
    })
  )

  mountEndpoint(app, logOut, ({ all }, c) =>
    sessions.logOut(c.get('deps'), { person: authenticatedCaller(c), all: all ?? false })
  )

  mountList(app, listSessions, (page, c) =>
    sessions.listSessions(c.get('deps'), { person: authenticatedCaller(c), ...page })
  )

  mountEndpoint(app, endSession, ({ id }, c) =>
    sessions.endSession(c.get('deps'), { person: authenticatedCaller(c), session_id: id })
  )
}
