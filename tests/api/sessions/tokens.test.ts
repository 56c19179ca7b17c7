import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { patchUpload, putDeposit } from '../../../src/contract/deposits.ts'
import { endpoints, nonJsonEndpoints } from '../../../src/contract/index.ts'
import { putRegisterImport } from '../../../src/contract/register-imports.ts'
import { streamRequests } from '../../../src/contract/requests.ts'
import { logOut } from '../../../src/contract/sessions.ts'
import { getOwnAccount } from '../../../src/contract/users.ts'
import { type Account, type MultiHostApp, makeMultiHostApp } from '../../helpers/accounts.ts'
import { attacks, malleate, type StolenTokens, signedByServer } from './tokens.attacks.ts'

let service: MultiHostApp
let loot: StolenTokens
let account: Account & { id: string }

beforeAll(async () => {
  service = await makeMultiHostApp()
  account = await service.signUp()
  loot = await gather()
})
afterAll(() => service[Symbol.asyncDispose]())

const routes = [...Object.values(endpoints), ...Object.values(nonJsonEndpoints)].filter(
  route => route.access !== 'public'
)

test('says who, where and until when, and nothing about the person', async () => {
  const { header, payload } = loot
  const now = Math.floor(service.deps.clock().getTime() / 1000)
  expect(header).toEqual({
    alg: 'ES256',
    typ: 'JWT',
    kid: service.deps.keys.signingKey().kid
  })
  expect(payload).toEqual({
    iss: 'https://api.localhost',
    aud: 'localhost',
    sub: account.id,
    cid: service.companies.localhost,
    sid: expect.stringMatching(uuid7),
    jti: expect.stringMatching(uuid7),
    use: 'access',
    st: 'full',
    auth_time: now,
    iat: now,
    exp: now + 3600
  })
})

test('lets a good token in on every protected route', async () => {
  const person = await service.signUp()
  for (const route of routes) {
    // its own, because one of the routes signs out
    const { access_token } = await service.signIn(person)
    expect(await statusOf(route, access_token), nameOf(route)).not.toBe(401)
  }
  expect(routes.length).toBeGreaterThanOrEqual(13)
})

test.for(routes.map(route => [nameOf(route), route] as const))(
  'refuses a call without a token, and with a forged, a foreign or an old one, at %s',
  async ([, route]) => {
    const forged = await attacks['a signature of zeros']?.(loot)
    const old = await attacks['exp over']?.(loot)
    expect(forged).toBeDefined()
    expect(old).toBeDefined()
    for (const token of [undefined, forged, old, loot.ofOtherCompany, loot.signedOut]) {
      expect(await statusOf(route, token)).toBe(401)
    }
  }
)

//
test.for(Object.entries(attacks))('refuses %s wherever tokens are read', async ([, attack]) => {
  const token = await attack(loot)
  for (const route of [getOwnAccount, streamRequests, patchUpload, putDeposit]) {
    expect(await statusOf(route, token), nameOf(route)).toBe(401)
  }
})

test('knows sixty attacks or more, each another token', async () => {
  const tokens = await Promise.all(Object.values(attacks).map(attack => attack(loot)))
  expect(new Set(tokens).size).toBe(tokens.length)
  expect(tokens.length).toBeGreaterThanOrEqual(60)
  expect(tokens).not.toContain(loot.token)
})

test('refuses a token with any one character changed', async () => {
  for (const at of loot.token.split('').keys()) {
    const other = loot.token[at] === 'A' ? 'B' : 'A'
    const token = loot.token.slice(0, at) + other + loot.token.slice(at + 1)
    expect(await statusOf(getOwnAccount, token), `character ${at}`).toBe(401)
  }
})

test.for(['Basic', 'Token', 'DPoP', 'Bearer:', ''])(
  'refuses a good token under the scheme "%s"',
  async scheme => {
    const headers = { authorization: `${scheme} ${loot.token}`.trim() }
    const response = await service.fetch(new Request('http://api.localhost/user', { headers }))
    expect(response.status).toBe(401)
    expect(response.headers.get('www-authenticate')).toBe('Bearer')
  }
)

test('accepts what the server signs when nothing is wrong, so that the attacks prove something', async () => {
  expect(await statusOf(getOwnAccount, await signedByServer(loot, {}))).toBe(200)
  expect(await statusOf(getOwnAccount, loot.token)).toBe(200)
})

test('issues tokens with the lower of the two signatures only', async () => {
  for (let round = 0; round < 12; round++) {
    const { access_token } = await service.signIn(account)
    expect(await statusOf(getOwnAccount, access_token)).toBe(200)
    expect(verifies(access_token)).toBe(true)
    expect(verifies(malleate(access_token))).toBe(true)
    expect(await statusOf(getOwnAccount, malleate(access_token))).toBe(401)
  }
})

test('outlives a server clock that is set back by five minutes', async () => {
  const { access_token } = await service.signIn(account)
  service.wait(-299)
  const status = await statusOf(getOwnAccount, access_token)
  service.wait(299)
  expect(status).toBe(200)
})

test('a token that has been good ends with its time', async () => {
  const { access_token } = await service.signIn(account)
  expect(await statusOf(getOwnAccount, access_token)).toBe(200)
  service.wait(3599)
  const before = await statusOf(getOwnAccount, access_token)
  service.wait(1)
  const after = await statusOf(getOwnAccount, access_token)
  service.wait(-3600)
  expect([before, after]).toEqual([200, 401])
})

test('a token that has been good ends with the key it was signed with', async () => {
  const { access_token } = await service.signIn(account)
  expect(await statusOf(getOwnAccount, access_token)).toBe(200)
  const { keys } = service.deps
  const { verifyingKey } = keys
  keys.verifyingKey = () => undefined
  const without = await statusOf(getOwnAccount, access_token)
  keys.verifyingKey = verifyingKey
  expect(without).toBe(401)
  expect(await statusOf(getOwnAccount, access_token)).toBe(200)
})

test('refuses a token of one host on every other', async () => {
  const hosts = ['localhost', 'second.localhost', 'closed.localhost', 'demo.localhost']
  const tokens = {
    localhost: loot.token,
    'second.localhost': loot.ofOtherHost,
    'demo.localhost': loot.ofOtherCompany
  }
  for (const [home, token] of Object.entries(tokens)) {
    for (const host of hosts) {
      const headers = { authorization: `Bearer ${token}` }
      const response = await service.fetch(new Request(`http://api.${host}/user`, { headers }))
      expect(response.status, `${home} at ${host}`).toBe(host === home ? 200 : 401)
    }
  }
})

async function gather(): Promise<StolenTokens> {
  const stranger = await service.signUp()
  const demo = await service.signUp('demo.localhost')
  const token = (await service.signIn(account)).access_token
  const other = (await service.signIn(stranger)).access_token
  const signedOut = (await service.signIn(account)).access_token
  await service.call('localhost', logOut, {}, { token: signedOut })
  const leaver = await service.signUp()
  const signedOutEverywhere = (await service.signIn(leaver)).access_token
  const last = (await service.signIn(leaver)).access_token
  await service.call('localhost', logOut, { all: true }, { token: last })
  return {
    token,
    header: partOf(token, 0),
    payload: partOf(token, 1),
    async signAsServer(text) {
      return service.deps.keys.signingKey().sign(text)
    },
    publicJwk: await publicJwk(),
    otherCompany: service.companies.demo,
    other: { token: other, payload: partOf(other, 1) },
    ofOtherHost: (await service.signIn({ ...account, host: 'second.localhost' })).access_token,
    ofOtherCompany: (await service.signIn(demo)).access_token,
    signedOut,
    signedOutEverywhere
  }
}

const uuid7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

type Route = (typeof routes)[number]

function nameOf({ method, path }: Route): string {
  return `${method} ${path}`
}

/**
 * Returns the status of a call. Sends uploads through the real port, because the app in memory does
 * not serve them.
 */
async function statusOf({ method, path }: Route, token?: string): Promise<number> {
  const withBody = method === 'POST' || method === 'PUT'
  const headers = {
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    ...(withBody ? { 'content-type': 'application/json' } : {})
  }
  const filled = path.replace(/\{\w+\}/g, 'A'.repeat(22))
  if (filled.startsWith('/uploads') || [putDeposit.path, putRegisterImport.path].includes(path)) {
    return (await service.request('api.localhost', { method, path: filled, headers })).status
  }
  const request = new Request(`http://api.localhost${filled}`, {
    method,
    headers,
    ...(withBody ? { body: '{}' } : {})
  })
  const response = await service.fetch(request)
  await response.body?.cancel()
  return response.status
}

function partOf(token: string, at: number): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[at] ?? '', 'base64url').toString())
}

async function publicJwk(): Promise<JsonWebKey> {
  const key = service.deps.keys.verifyingKey(service.deps.keys.signingKey().kid)
  if (!key) throw new Error('no key')
  return crypto.subtle.exportKey('jwk', key)
}

let publicKey: KeyObject | undefined

function verifies(token: string): boolean {
  publicKey ??= createPublicKey({ key: loot.publicJwk as never, format: 'jwk' })
  const [header, payload, signature = ''] = token.split('.')
  return verify(
    'sha256',
    Buffer.from(`${header}.${payload}`),
    { key: publicKey, dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url')
  )
}
