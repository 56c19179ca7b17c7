import { randomBytes } from 'node:crypto'
import { getChallenge } from '../../../src/contract/sessions.ts'
import type { RawResponse, TestApp, TestPerson } from '../../helpers/app.ts'
import {
  type RefusalContext,
  type Refusals,
  type RouteCases,
  type RouteName,
  withBoundsReached
} from '../../helpers/cases.ts'
import { newEmail } from '../../helpers/client.ts'
import { makeKeys } from '../../helpers/keys.ts'
import {
  makeEmailChange,
  makeMailToken,
  makePerson,
  makeSignUp,
  publicKeyJwtFor
} from '../../helpers/mailed.ts'

export const rows: RouteCases = {
  checkMailLink: { input: readLinkInput },
  verifyEmail: { input: verifyEmailInput },
  resendOwnVerifyLink: {},
  activateUser: { input: activateUserInput },
  requestPasswordReset: { input: () => ({ email: newEmail() }) },
  resetPassword: { input: resetPasswordInput },
  requestEmailChange: { input: emailChangeInput, proves: 'challenge_invalid' },
  confirmEmailChange: {
    input: async (app, person) => ({ token: await makeEmailChange(app, person) }),
    proves: 'mail_token_invalid'
  },
  deleteOwnAccount: { input: deleteOwnAccountInput, proves: 'challenge_invalid', spends: 'person' }
}

/** Returns functions that each provoke one error code of a call: `'verifyEmail proof_required'`. */
export function refusals({ app, ada, ask, inputOf }: RefusalContext): Refusals {
  return {
    'verifyEmail mail_token_invalid': () => ask('verifyEmail', { token: anyToken() }, {}),
    'verifyEmail mail_token_used': () => twice('verifyEmail'),
    'verifyEmail proof_required': async () => {
      const token = await makeMailToken(app, 'verify', await makeSignUp(app))
      return ask('verifyEmail', { token }, {})
    },
    'verifyEmail challenge_invalid': () => late('verifyEmail'),
    'verifyEmail key_invalid': () => withBadKey('verifyEmail'),
    'verifyEmail too_many_people': async () => {
      const input = await inputOf('verifyEmail')
      return withBoundsReached(app, () => ask('verifyEmail', input, {}))
    },
    'checkMailLink mail_token_invalid': () =>
      ask('checkMailLink', { token: anyToken(), purpose: 'reset' }, {}),
    'checkMailLink mail_token_used': async () => {
      const input = await inputOf('resetPassword')
      await ask('resetPassword', input, {})
      return ask('checkMailLink', { token: input['token'], purpose: 'reset' }, {})
    },
    'activateUser mail_token_invalid': () => withAnyToken('activateUser'),
    'activateUser mail_token_used': () => twice('activateUser'),
    'activateUser challenge_invalid': () => late('activateUser'),
    'activateUser key_invalid': () => withBadKey('activateUser'),
    'resetPassword mail_token_invalid': () => withAnyToken('resetPassword'),
    'resetPassword mail_token_used': () => twice('resetPassword'),
    'resetPassword challenge_invalid': () => late('resetPassword'),
    'resetPassword key_invalid': () => withBadKey('resetPassword'),
    'requestEmailChange challenge_invalid': async () => {
      const input = await inputOf('requestEmailChange')
      app.wait(180)
      return ask('requestEmailChange', input)
    },
    'requestEmailChange key_invalid': async () =>
      ask('requestEmailChange', {
        ...(await inputOf('requestEmailChange')),
        public_key_jwt: 'x.y.z'
      }),
    'requestEmailChange password_wrong': async () =>
      ask('requestEmailChange', {
        ...(await inputOf('requestEmailChange')),
        ...(await wrongAnswer())
      }),
    'confirmEmailChange mail_token_invalid': () => ask('confirmEmailChange', { token: anyToken() }),
    'confirmEmailChange mail_token_used': async () => {
      const input = await inputOf('confirmEmailChange')
      await ask('confirmEmailChange', input)
      return ask('confirmEmailChange', input)
    },
    'deleteOwnAccount challenge_invalid': async () => {
      const input = await inputOf('deleteOwnAccount')
      app.wait(180)
      return ask('deleteOwnAccount', input)
    },
    'deleteOwnAccount password_wrong': async () => ask('deleteOwnAccount', await wrongAnswer()),
    'deleteOwnAccount last_operator': async () => {
      const set = (permissions: string[]) =>
        app.owner.query('update "user" set permissions = $1 where id = $2', [permissions, ada.id])
      await app.owner.query(`update "user" set permissions = '{admin}'`)
      await set(['admin', 'operator'])
      const response = await ask('deleteOwnAccount', await inputOf('deleteOwnAccount'))
      await set(['admin'])
      return response
    },
    'deleteOwnAccount last_administrator': async () => {
      await app.owner.query(`update "user" set permissions = '{}'`)
      await app.owner.query(`update "user" set permissions = '{admin}' where id = $1`, [ada.id])
      const response = await ask('deleteOwnAccount', await inputOf('deleteOwnAccount'))
      await app.owner.query(`update "user" set permissions = '{admin}'`)
      return response
    }
  }

  function anyToken(): string {
    return randomBytes(32).toString('base64url')
  }

  async function withAnyToken(name: 'activateUser' | 'resetPassword'): Promise<RawResponse> {
    return ask(name, { ...(await inputOf(name)), token: anyToken() }, {})
  }

  async function withBadKey(name: RouteName): Promise<RawResponse> {
    return ask(name, { ...(await inputOf(name)), public_key_jwt: 'x.y.z' }, {})
  }

  async function twice(name: RouteName): Promise<RawResponse> {
    const input = await inputOf(name)
    await ask(name, input, {})
    return ask(name, input, {})
  }

  /** Makes a call after the challenge in its input has expired. */
  async function late(name: RouteName): Promise<RawResponse> {
    const input = await inputOf(name)
    app.wait(180)
    return ask(name, input, {})
  }

  /** Returns a challenge of Ada that is signed with another key than hers. */
  async function wrongAnswer(): Promise<{ challenge_response: string }> {
    const asked = { email: ada.email, purpose: 'rekey' } as const
    const { challenge } = await app.call(ada.host, getChallenge, asked)
    return { challenge_response: makeKeys().respond(challenge) }
  }
}

async function readLinkInput(app: TestApp): Promise<object> {
  return { token: await makeMailToken(app, 'verify', await makeSignUp(app)), purpose: 'verify' }
}

async function verifyEmailInput(app: TestApp): Promise<object> {
  const waiting = await makeSignUp(app)
  const token = await makeMailToken(app, 'verify', waiting)
  const public_key_jwt = await publicKeyJwtFor(app, 'verify', { ...waiting, token })
  return { token, public_key_jwt, username: 'Ada' }
}

async function activateUserInput(app: TestApp): Promise<object> {
  const invited = await makePerson(app, true)
  const token = await makeMailToken(app, 'activate', invited)
  const public_key_jwt = await publicKeyJwtFor(app, 'activate', { ...invited, token })
  return { token, username: 'Ada', public_key_jwt, locale: 'fr' }
}

async function resetPasswordInput(app: TestApp): Promise<object> {
  const person = await makePerson(app)
  const token = await makeMailToken(app, 'reset', person)
  return {
    token,
    public_key_jwt: await publicKeyJwtFor(app, 'reset', { ...person, token }),
    keep_api_keys: false
  }
}

async function emailChangeInput(app: TestApp, person: TestPerson): Promise<object> {
  const { host, email: present, keys } = person
  const email = newEmail()
  const { challenge: nonce } = await app.call(host, getChallenge, {
    email: present,
    purpose: 'rekey'
  })
  const public_key_jwt = makeKeys().publicKeyJwt({ aud: host, email, purpose: 'email', nonce })
  return { email, challenge_response: keys.respond(nonce), public_key_jwt }
}

async function deleteOwnAccountInput(
  app: TestApp,
  { host, email, keys }: TestPerson
): Promise<object> {
  const { challenge } = await app.call(host, getChallenge, { email, purpose: 'rekey' })
  return { challenge_response: keys.respond(challenge), company: 'Another company' }
}
