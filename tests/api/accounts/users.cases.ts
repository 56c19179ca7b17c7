import { getChallenge } from '../../../src/contract/sessions.ts'
import { createUser } from '../../../src/contract/users.ts'
import type { RawResponse, TestApp, TestPerson } from '../../helpers/app.ts'
import {
  idempotencyKeyRefusals,
  makeCompanyWithoutHost,
  type RefusalContext,
  type Refusals,
  type RouteCases,
  requestOf,
  withBoundsReached
} from '../../helpers/cases.ts'
import { newEmail } from '../../helpers/client.ts'
import { makeKeys, type TestKeys } from '../../helpers/keys.ts'

export const rows: RouteCases = {
  getOwnAccount: {},
  updateOwnAccount: { input: () => ({ username: 'Ada King', locale: 'en' }) },
  createUser: { input: signUpInput },
  changePassword: { input: changePasswordInput, proves: 'challenge_invalid' },
  confirmPassword: { input: confirmPasswordInput, proves: 'challenge_invalid' }
}

/** Returns functions that each provoke one error code of a call: `'createUser email_taken'`. */
export function refusals(stage: RefusalContext): Refusals {
  const { app, ada, ask } = stage
  return {
    'createUser signup_closed': async () => {
      await app.owner.query(`update domain set public = false where host = 'beta.localhost'`)
      app.deps.signals.domains.send('beta.localhost')
      return signUp(app, 'beta.localhost')
    },
    'createUser email_taken': () => signUp(app, 'acme.localhost', { email: ada.email }),
    'createUser too_many_people': () =>
      withBoundsReached(app, () => ask('createUser', { email: 'one.more@example.com' })),
    'createUser host_needed': async () =>
      ask(
        'createUser',
        { email: 'first@example.com' },
        { authorization: `Bearer ${ada.token}`, ...(await makeCompanyWithoutHost(app)) }
      ),
    'createUser challenge_invalid': () => signUp(app, 'acme.localhost', { late: true }),
    'createUser key_invalid': () => signUp(app, 'acme.localhost', { jwt: 'x.y.z' }),
    ...idempotencyKeyRefusals(
      stage,
      'createUser',
      'POST /user',
      headers => signUp(app, 'acme.localhost', { headers }),
      // strangers have no id
      '00000000-0000-0000-0000-000000000000'
    ),
    'confirmPassword challenge_invalid': () => confirm('rekey'),
    'confirmPassword password_wrong': () => confirm('confirm', makeKeys()),
    'changePassword challenge_invalid': () => changePassword('login'),
    'changePassword key_invalid': () => changePassword('rekey', { jwt: 'x.y.z' }),
    'changePassword password_wrong': () => changePassword('rekey', { keys: makeKeys() })
  }

  /** Calls `confirmPassword` for Ada with a challenge of this purpose, signed with `keys`. */
  async function confirm(
    purpose: 'confirm' | 'rekey',
    keys: TestKeys = ada.keys
  ): Promise<RawResponse> {
    const { host, email } = ada
    const { challenge } = await app.call(host, getChallenge, { email, purpose })
    return ask('confirmPassword', { challenge_response: keys.respond(challenge) })
  }

  /**
   * Calls `changePassword` for Ada with a challenge of this purpose, signed with `keys`. The proof
   * of the new key is `jwt` or, when absent, a valid one.
   */
  async function changePassword(
    purpose: 'login' | 'rekey',
    { keys = ada.keys, jwt }: { keys?: TestKeys; jwt?: string } = {}
  ): Promise<RawResponse> {
    const { host: aud, email } = ada
    const { challenge: nonce } = await app.call(aud, getChallenge, { email, purpose })
    const proof = { aud, email, purpose: 'rekey', nonce } as const
    const public_key_jwt = jwt ?? makeKeys().publicKeyJwt(proof)
    return ask('changePassword', { challenge_response: keys.respond(nonce), public_key_jwt })
  }
}

/** Returns a valid input of a sign-up at acme. */
export async function signUpInput(app: TestApp): Promise<object> {
  const host = 'acme.localhost'
  const email = newEmail()
  const { challenge: nonce } = await app.call(host, getChallenge, { email, purpose: 'signup' })
  const public_key_jwt = makeKeys().publicKeyJwt({ aud: host, email, purpose: 'signup', nonce })
  return { email, username: 'Ada', public_key_jwt, locale: 'fr' }
}

/**
 * Returns the input of a password change. The new key is the current one, so that the person can
 * still sign in with it.
 */
async function changePasswordInput(
  app: TestApp,
  { host, email, keys }: TestPerson
): Promise<object> {
  const { challenge } = await app.call(host, getChallenge, { email, purpose: 'rekey' })
  const proof = { aud: host, email, purpose: 'rekey', nonce: challenge } as const
  return {
    challenge_response: keys.respond(challenge),
    public_key_jwt: keys.publicKeyJwt(proof),
    // later cases use them
    keep_api_keys: true
  }
}

async function confirmPasswordInput(
  app: TestApp,
  { host, email, keys }: TestPerson
): Promise<object> {
  const { challenge } = await app.call(host, getChallenge, { email, purpose: 'confirm' })
  return { challenge_response: keys.respond(challenge) }
}

/**
 * Calls `createUser` for a sign-up. With `late`, the challenge has expired. `jwt` replaces the
 * valid proof of the key.
 */
export async function signUp(
  app: TestApp,
  host: string,
  options: { email?: string; late?: boolean; jwt?: string; headers?: Record<string, string> } = {}
): Promise<RawResponse> {
  const email = options.email ?? newEmail()
  const { challenge: nonce } = await app.call(host, getChallenge, { email, purpose: 'signup' })
  if (options.late) app.wait(180)
  const proof = makeKeys().publicKeyJwt({ aud: host, email, purpose: 'signup', nonce })
  const input = { email, username: 'Ada', public_key_jwt: options.jwt ?? proof }
  return app.request(`api.${host}`, requestOf(createUser, input, options.headers))
}
