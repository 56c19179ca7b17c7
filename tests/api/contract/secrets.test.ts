import { createHash, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  activateUser,
  confirmEmailChange,
  requestPasswordReset,
  resetPassword,
  verifyEmail
} from '../../../src/contract/accounts.ts'
import { createContentLink } from '../../../src/contract/deposits.ts'
import { getChallenge, logIn } from '../../../src/contract/sessions.ts'
import { createUser } from '../../../src/contract/users.ts'
import { verify } from '../../../src/contract/verifications.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { makeKeys } from '../../helpers/keys.ts'
import {
  makeEmailChange,
  makeMailToken,
  makePerson,
  makeSignUp,
  publicKeyJwtFor
} from '../../helpers/mailed.ts'
import { dumpDatabase, encodingsOf } from '../../helpers/secrets.ts'

// G-03

test('keeps 50 secrets of people out of the log, the database and every address', async () => {
  await using app = await makeApp()
  const { secrets, plant } = makeField()
  for (let person = 0; person < 5; person++) await live(app, plant)
  expect(secrets.size).toBeGreaterThanOrEqual(50)
  await expectNowhere(app, secrets)
})

test('keeps what mailed links carry out of the log and the database, before and after their use', async () => {
  await using app = await makeApp()
  const { secrets, plant } = makeField()
  const links = await followLinks(app, plant)
  await expectNowhere(app, secrets)
  for (const { use } of links) {
    await use('A'.repeat(43)).catch(() => undefined)
    await use()
  }
  await expectNowhere(app, secrets)
  // used up, and refused as such
  for (const { use } of links) await expect(use()).rejects.toThrow()
  await expectNowhere(app, secrets)
})

test('keeps fingerprints of documents out of the log and the database, while they arrive and after', async () => {
  await using app = await makeApp()
  const ada = await app.signUp()
  const { secrets, plant } = makeField()
  const digestOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
  const [arriving, sent] = [randomBytes(100), randomBytes(100)]
  for (const bytes of [arriving, sent]) plant('fingerprint', digestOf(bytes))
  const { upload } = await app.reserve(ada, arriving)
  await app.patch(ada, upload, arriving.subarray(0, 50))
  const query = new URLSearchParams({ name: 'b.pdf', category: ada.category })
  const answer = await app.request(`api.${ada.host}`, {
    method: 'PUT',
    path: `/deposit?${query}`,
    headers: { authorization: `Bearer ${ada.token}`, 'content-length': '100' },
    body: sent
  })
  expect(answer.status).toBe(201)
  // what a guess of the input could be compared with
  for (const bytes of [arriving, sent])
    plant('derivative', digestOf(Buffer.from(inputOf(ada, bytes))))
  await expectNowhere(app, secrets)

  function inputOf({ category }: TestPerson, bytes: Buffer): string {
    const digest = digestOf(bytes)
    const { length: size } = bytes
    const [name, media_type] = ['report.pdf', 'application/pdf']
    return JSON.stringify({
      name,
      size,
      media_type,
      original: digest,
      stored: digest,
      category,
      again: true
    })
  }
})

type Plant = (what: string, value: string) => void

function makeField() {
  const secrets = new Map<string, string>()
  const plant: Plant = (what, value) => void secrets.set(`${what} ${secrets.size}`, value)
  return { secrets, plant }
}

async function expectNowhere(app: TestApp, secrets: ReadonlyMap<string, string>): Promise<void> {
  const logged = JSON.stringify(app.logged, (_key, value) =>
    value instanceof Error ? `${value.stack} ${value.cause}` : value
  )
  expect(app.logged).not.toEqual([])
  const dump = await dumpDatabase(app.owner)
  expect(dump, 'what may stand there').toContain('Ada')
  for (const [what, secret] of secrets) {
    for (const form of encodingsOf(secret)) {
      expect.soft(logged.includes(form), `${what} in the log`).toBe(false)
      expect.soft(dump.includes(form), `${what} in the database`).toBe(false)
    }
  }
}

interface Link {
  /** Makes the call of the link with its own token, or with `token`. */
  use: (token?: string) => Promise<unknown>
}

/** Creates one mailed link of each kind. Records the secrets of each link with `plant`. */
async function followLinks(app: TestApp, plant: Plant): Promise<Link[]> {
  const host = 'acme.localhost'
  const links: Link[] = []
  const waiting = await makeSignUp(app)
  const invited = await makePerson(app, true)
  const forgetful = await makePerson(app)
  await app.call(host, requestPasswordReset, { email: forgetful.email })
  const mail = await app.mailTo(forgetful.email, 'reset')
  const tokens = {
    verify: await makeMailToken(app, 'verify', waiting),
    activate: await makeMailToken(app, 'activate', invited),
    reset: mail.token
  }
  const people = { verify: waiting, activate: invited, reset: forgetful }
  type Proven = { token: string; public_key_jwt: string }
  const calls = {
    verify: (proven: Proven) => app.call(host, verifyEmail, { ...proven, username: 'Ada' }),
    activate: (proven: Proven) => app.call(host, activateUser, { ...proven, username: 'Ada' }),
    reset: (proven: Proven) => app.call(host, resetPassword, proven)
  }
  for (const purpose of ['verify', 'activate', 'reset'] as const) {
    const { email } = people[purpose]
    const own = tokens[purpose]
    const keys = makeKeys()
    plant(`${purpose} token`, own)
    plant('public key x', keys.jwk.x)
    plant('public key y', keys.jwk.y)
    links.push({
      async use(token = own) {
        const public_key_jwt = await publicKeyJwtFor(app, purpose, { email, token, keys })
        plant('public_key_jwt', public_key_jwt)
        return calls[purpose]({ token, public_key_jwt })
      }
    })
  }
  const moving = await makePerson(app)
  const own = await makeEmailChange(app, moving, `moved-${moving.email}`)
  plant('email token', own)
  const session = await app.signIn({ ...moving, host })
  plant('token', session)
  links.push({
    use: (token = own) => app.call(host, confirmEmailChange, { token }, { token: session })
  })
  return links
}

/**
 * Makes the calls of a person's day, some of which fail. Records every secret in them with `plant`.
 */
async function live(app: TestApp, plant: Plant): Promise<void> {
  const host = 'acme.localhost'
  const person = await app.signUp()
  const { email, keys } = person
  plant('token', person.token)
  plant('public key x', keys.jwk.x)
  plant('public key y', keys.jwk.y)
  const { challenge } = await app.call(host, getChallenge, { email })
  plant('challenge', challenge)
  const challenge_response = keys.respond(challenge)
  plant('response', challenge_response)
  const { access_token, device } = await app.call(host, logIn, { email, challenge_response })
  plant('token', access_token)
  plant('device', device)
  // the same answer again, and a wrong one
  await expect(app.call(host, logIn, { email, challenge_response })).rejects.toThrow()
  const { challenge: second } = await app.call(host, getChallenge, { email })
  const wrong = makeKeys().respond(second)
  plant('response', wrong)
  await expect(app.call(host, logIn, { email, challenge_response: wrong })).rejects.toThrow()
  const { challenge: nonce } = await app.call(host, getChallenge, { email, purpose: 'signup' })
  const public_key_jwt = keys.publicKeyJwt({ aud: host, email, purpose: 'signup', nonce })
  plant('public_key_jwt', public_key_jwt)
  const again = { email, username: 'Ada', public_key_jwt }
  await expect(app.call(host, createUser, again)).rejects.toMatchObject({ code: 'email_taken' })

  const bytes = randomBytes(500)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  plant('fingerprint', sha256)
  const { deposit_id: id = '' } = await app.deposit(person, bytes)
  const { url } = await person.call(createContentLink, { id })
  plant('link', url.split('link=')[1] ?? '')
  expect(url).not.toContain(person.token)
  await app.request(`api.${host}`, { path: url })
  await person.call(verify, { items: [{ sha256 }] })
  // a token in an address, a body of another kind, a broken header: nothing repeats them
  await app.request(`api.${host}`, { path: `/user?token=${person.token}` })
  await app.request(`api.${host}`, {
    headers: { authorization: `Basic ${person.token}` },
    path: '/user'
  })
  await app.request(`api.${host}`, {
    method: 'POST',
    path: '/user/login',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, challenge_response: wrong, password: device })
  })
}
