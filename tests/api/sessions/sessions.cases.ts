import { getChallenge } from '../../../src/contract/sessions.ts'
import type { TestApp, TestPerson } from '../../helpers/app.ts'
import type { RefusalContext, Refusals, RouteCases } from '../../helpers/cases.ts'
import { makeKeys } from '../../helpers/keys.ts'

export const rows: RouteCases = {
  getChallenge: { input: () => ({ email: 'ada@example.com', purpose: 'login' }) },
  logIn: { input: logInInput },
  logOut: { input: () => ({ all: false }), spends: 'session' },
  listSessions: { input: () => ({ limit: 10 }), ids: { cursor: 'session' } },
  endSession: { ids: { id: 'session' }, spends: 'another session' }
}

/** Returns a function that provokes the error `login_failed` of `logIn`. */
export function refusals({ app, ada, ask }: RefusalContext): Refusals {
  return {
    'logIn login_failed': async () => {
      const { challenge } = await app.call('acme.localhost', getChallenge, { email: ada.email })
      const challenge_response = makeKeys().respond(challenge)
      return ask('logIn', { email: ada.email, challenge_response })
    }
  }
}

async function logInInput(app: TestApp, { host, email, keys }: TestPerson): Promise<object> {
  const { challenge } = await app.call(host, getChallenge, { email })
  return { email, challenge_response: keys.respond(challenge), device: 'none' }
}
