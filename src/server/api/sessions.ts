import { endSession, getChallenge, listSessions, logIn, logOut } from '../../contract/sessions.ts'
import * as challenges from '../domain/key-proofs/challenges.ts'
import * as logins from '../domain/sessions/logins.ts'
import * as sessions from '../domain/sessions/sessions.ts'
import { type Api, isFromDeveloper, person } from './context.ts'
import { on } from './on.ts'
import { canonical } from './users.ts'

export function mountSessions(app: Api): void {
  on(app, getChallenge, ({ email, purpose }, c) =>
    challenges.createChallenge(c.get('deps'), {
      tenant: c.get('tenant'),
      email: canonical(email),
      purpose: purpose ?? 'login',
      address: c.get('address')
    })
  )

  on(app, logIn, ({ email, challenge_response, device }, c) =>
    logins.logIn(c.get('deps'), {
      tenant: c.get('tenant'),
      email: canonical(email),
      challenge_response,
      device,
      address: c.get('address'),
      agent: c.req.header('user-agent') ?? '',
      isDeveloper: isFromDeveloper(c)
    })
  )

  on(app, logOut, ({ all }, c) =>
    sessions.logOut(c.get('deps'), { person: person(c), all: all ?? false })
  )

  on(app, listSessions, (_input, c) => sessions.listSessions(c.get('deps'), person(c)))

  on(app, endSession, ({ id }, c) =>
    sessions.endSession(c.get('deps'), { person: person(c), session_id: id })
  )
}
