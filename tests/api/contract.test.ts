import { randomBytes, randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod/mini'
import type { Endpoint, Stream } from '../../src/contract/endpoint.ts'
import { AppError, commonErrors, type ErrorCode, errorCodes } from '../../src/contract/errors.ts'
import { endpoints, type streams } from '../../src/contract/index.ts'
import { fromProblem, toProblem } from '../../src/contract/problems.ts'
import { getChallenge, logIn } from '../../src/contract/sessions.ts'
import en from '../../src/i18n/en/errors.json' with { type: 'json' }
import fr from '../../src/i18n/fr/errors.json' with { type: 'json' }
import { companyId } from '../../src/server/db/scope.ts'
import { lapseNextUpload } from '../../src/server/domain/deposits/idle-uploads.ts'
import { makeApp, type RawResponse, type TestApp, type TestPerson } from '../helpers/app.ts'
import { makeKeys, type TestKeys } from '../helpers/keys.ts'
import { mailToken, makePerson, makeSignUp } from '../helpers/mailed.ts'
import {
  codeOf,
  domainOf,
  isUpload,
  makeAdmins,
  requestOf,
  routeOf,
  routes,
  rowOf,
  uploadBytes
} from '../helpers/matrix.ts'
import { closeUploads, openUploads } from '../helpers/open-uploads.ts'

const root = join(import.meta.dirname, '../..')
const names = Object.keys(routes)
const honoPath = (path: string) => path.replace(/\{(\w+)\}/g, ':$1')

let app: TestApp
let ada: TestPerson
beforeAll(async () => {
  app = await makeApp({ limits: { max_requests: 200, max_storage: 100_000 } })
  ada = await app.signUp()
  await makeAdmins(app.owner)
})
afterAll(() => app[Symbol.asyncDispose]())

describe('the routes', () => {
  test('are mounted once each, and nothing else is', () => {
    const mounted = app.app.routes
      .filter(({ method }) => method !== 'ALL')
      .map(({ method, path }) => `${method} ${path}`)
    const listed = Object.values(routes)
      .filter(route => !isUpload(route))
      .map(({ method, path }) => `${method} ${honoPath(path)}`)
    const where = 'mounted in src/server/api and app.ts, as src/contract/index.ts lists'
    expect(mounted.toSorted(), where).toEqual(listed.toSorted())
    expect(new Set(listed).size).toBe(listed.length)
    expect(mounted.at(-1), 'the path of any one segment').toBe('GET /:domain')
  })

  test.each(names)(
    '%s is mounted under its method and wears the headers of the API',
    async name => {
      const route = routeOf(name)
      const request = requestOf(
        route,
        idsOf(route),
        rowOf(name).headers?.(app, ada),
        rowOf(name).body
      )
      const response = await app.request('api.acme.localhost', request)
      expect(response.status).not.toBe(405)
      if (route.access !== 'public') expect(response.status).toBe(401)
      expect(response.headers).toMatchObject({
        'content-security-policy': expect.stringContaining("default-src 'none'"),
        'x-content-type-options': 'nosniff',
        'cross-origin-resource-policy': 'same-site',
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
        vary: expect.stringContaining('Origin')
      })
      expect(response.headers).not.toHaveProperty('x-powered-by')
      expect(response.headers).not.toHaveProperty('set-cookie')
      expect(response.headers).not.toHaveProperty('server')
    }
  )

  test('are tested by name or path', () => {
    const folder = join(root, 'tests/api')
    const generated = [
      'contract.test.ts',
      'isolation.test.ts',
      'bad-input.test.ts',
      'tokens.test.ts'
    ]
    const texts = readdirSync(folder)
      .filter(file => file.endsWith('.test.ts') && !generated.includes(file))
      .map(file => readFileSync(join(folder, file), 'utf8'))
      .concat(readFileSync(join(root, 'tests/helpers/app.ts'), 'utf8'))
      .join('\n')
    for (const name of names) {
      const { path } = routeOf(name)
      const written = path
        .split(/\{\w+\}/)
        .map(part => RegExp.escape(part))
        .join('(\\{\\w+\\}|\\$\\{[^}]+\\})')
      const isKnown = new RegExp(`\\b${name}\\b`).test(texts) || new RegExp(written).test(texts)
      const isTested = isKnown || isUpload(routeOf(name))
      expect(isTested, `${name}: no file of tests/api calls it; say there what it does`).toBe(true)
    }
  })

  test('are open to strangers only where that is meant', () => {
    const open = names.filter(name => routeOf(name).access === 'public')
    expect(open.sort()).toEqual([
      'activateUser',
      'createOperator',
      'createUser',
      'getChallenge',
      'getDemo',
      'getDocs',
      'getDomainConfig',
      'getHealth',
      'getOpenApi',
      'getSetup',
      'logIn',
      'readLink',
      'reportPolicy',
      'requestReset',
      'resetKey',
      'verify',
      'verifyEmail'
    ])
    const pending = Object.entries<Endpoint>(endpoints).filter(([, route]) => route.pending)
    expect(pending.map(([name]) => name).sort()).toEqual([
      'getUser',
      'logOut',
      'readLink',
      'sendVerification',
      'updateUser',
      'verifyEmail'
    ])
  })

  test('refuse a session whose e-mail is not confirmed wherever that is not said', async () => {
    const { email, keys } = await makeSignUp(app)
    const { challenge } = await app.call(ada.host, getChallenge, { email })
    const challenge_response = keys.respond(challenge)
    const { access_token: token } = await app.call(ada.host, logIn, { email, challenge_response })
    for (const name of names) {
      const route: Endpoint | Stream = routeOf(name)
      if (route.access === 'public' || ('pending' in route && route.pending)) continue
      const headers = { ...rowOf(name).headers?.(app, ada), authorization: `Bearer ${token}` }
      const request = requestOf(route, idsOf(route), headers, rowOf(name).body)
      const { status } = await app.request('api.acme.localhost', request)
      expect(status, name).toBe(403)
    }
  })

  test('honour an idempotency key wherever something is created', () => {
    for (const [name, endpoint] of Object.entries<Endpoint>(endpoints)) {
      if (endpoint.status === 201) expect(endpoint.idempotency, name).toBeDefined()
    }
  })

  test('take known fields only, in snake_case but for path parameters', () => {
    for (const [name, endpoint] of Object.entries<Endpoint>(endpoints)) {
      for (const object of objectsOf(endpoint.input)) {
        expect(object.additionalProperties, name).toBe(false)
        for (const field of Object.keys(object.properties)) {
          const isParameter = endpoint.path.includes(`{${field}}`)
          if (!isParameter) expect(field, name).toMatch(/^[a-z]+\d*(_[a-z0-9]+)*$/)
        }
      }
      for (const object of objectsOf(endpoint.output)) {
        for (const field of Object.keys(object.properties)) {
          expect(field, name).toMatch(/^[a-z]+\d*(_[a-z0-9]+)*$/)
        }
      }
    }
  })
})

describe('the error codes', () => {
  const codes = Object.keys(errorCodes) as ErrorCode[] // as: the keys of a constant
  /** Made by the browser itself and never sent. */
  const ofBrowser = ['offline', 'unexpected_answer', 'file_unreadable']

  test('are each made somewhere, on the side that may make them', () => {
    const server = sourceOf('src/server')
    const browser = ['src/stores', 'src/workers', 'src/contract'].map(sourceOf).join('\n')
    for (const code of codes) {
      const source = ofBrowser.includes(code) ? browser : server
      const isMade = new RegExp(`(AppError\\(|[?,:=])\\s*'${code}'`).test(source)
      const isState = ['cancelled', 'lapsed'].includes(code) // named by the state of the request
      expect(isMade || isState, code).toBe(true)
    }
    for (const code of ofBrowser) expect(server).not.toContain(`'${code}'`)
  })

  test('stand once in a route’s list: the common ones are not repeated', () => {
    for (const name of names) {
      const { errors } = routeOf(name)
      expect(new Set(errors).size, name).toBe(errors.length)
      expect(
        errors.filter(code => commonErrors.some(common => common === code)),
        name
      ).toEqual([])
    }
  })

  test('are listed by a route, are common, or belong to hosts and requests', () => {
    const listed = new Set<string>(Object.values(routes).flatMap(route => [...route.errors]))
    const elsewhere = [
      'unknown_host',
      'malformed_request',
      'request_timeout',
      'headers_too_large',
      'transfer_corrupt',
      'not_stored',
      'held',
      ...ofBrowser
    ]
    for (const code of codes) {
      const isCommon = commonErrors.some(common => common === code)
      expect([listed.has(code), isCommon, elsewhere.includes(code)].filter(Boolean), code).toEqual([
        true
      ])
    }
  })

  test.each(codes)('%s survives the wire and has its words in both languages', code => {
    const sent = new AppError(code, 'why', {
      fields: { name: { rule: 'max', limit: 3 } },
      // of a 403 this member alone decides the code
      ...(code === 'account_disabled' && {
        disabled: { scope: 'user', reason: 'abuse', since: '2026-01-01T00:00:00.000Z' }
      }),
      figures: { used: 1, limit: 2, resets_at: null }
    })
    const problem = toProblem(sent, 'AAAAAAAAAAAA')
    if (errorCodes[code] > 0) expect(problem.title).not.toBe('Error')
    const got = fromProblem(sent.status, JSON.parse(JSON.stringify(problem)), 7)
    expect(got).toMatchObject({
      code,
      status: errorCodes[code],
      message: 'why',
      fields: sent.fields,
      disabled: sent.disabled,
      figures: sent.figures,
      retryAfter: 7,
      instance: 'AAAAAAAAAAAA'
    })
    const sentences = [en[code], fr[code]]
    for (const sentence of sentences) {
      expect(sentence.length).toBeGreaterThan(10)
      const gaps = [...sentence.matchAll(/\{\{(\w+)\}\}/g)].map(match => match[1])
      expect(gaps.every(gap => gap === 'used' || gap === 'limit')).toBe(true)
    }
  })

  /** How each code that a route lists comes about; a code without a row fails the test. */
  const makers: Record<string, () => Promise<RawResponse>> = {
    'createUser signup_closed': async () => {
      await app.owner.query(`update domain set public = false where host = 'beta.localhost'`)
      app.deps.signals.domains.send('beta.localhost')
      return signUp('beta.localhost')
    },
    'createUser email_taken': () => signUp('acme.localhost', { email: ada.email }),
    'createUser challenge_invalid': () => signUp('acme.localhost', { late: true }),
    'createUser key_invalid': () => signUp('acme.localhost', { jwt: 'x.y.z' }),
    'createUser idempotency_in_flight': async () => {
      const holder = '00000000-0000-0000-0000-000000000000'
      return whileHeld(holder, 'POST /user', key => signUp('acme.localhost', { key }))
    },
    'createUser idempotency_key_reused': async () => {
      const key = randomUUID()
      await signUp('acme.localhost', { key })
      return signUp('acme.localhost', { key })
    },
    'changeKey challenge_invalid': () => changeKey('login'),
    'changeKey key_invalid': () => changeKey('rekey', { jwt: 'x.y.z' }),
    'changeKey password_wrong': () => changeKey('rekey', { keys: makeKeys() }),
    'verifyEmail mail_token_invalid': () => ask('verifyEmail', { token: anyToken() }, {}),
    'verifyEmail mail_token_used': () => twice('verifyEmail'),
    'verifyEmail proof_required': async () => {
      const token = await mailToken(app, 'verify', await makeSignUp(app))
      return ask('verifyEmail', { token }, {})
    },
    'verifyEmail challenge_invalid': () => late('verifyEmail'),
    'verifyEmail key_invalid': () => withBadKey('verifyEmail'),
    'readLink mail_token_invalid': () =>
      ask('readLink', { token: anyToken(), purpose: 'reset' }, {}),
    'readLink mail_token_used': async () => {
      const input = await inputOf('resetKey')
      await ask('resetKey', input, {})
      return ask('readLink', { token: input['token'], purpose: 'reset' }, {})
    },
    'activateUser mail_token_invalid': () => withAnyToken('activateUser'),
    'activateUser mail_token_used': () => twice('activateUser'),
    'activateUser challenge_invalid': () => late('activateUser'),
    'activateUser key_invalid': () => withBadKey('activateUser'),
    'resetKey mail_token_invalid': () => withAnyToken('resetKey'),
    'resetKey mail_token_used': () => twice('resetKey'),
    'resetKey challenge_invalid': () => late('resetKey'),
    'resetKey key_invalid': () => withBadKey('resetKey'),
    'changeEmail challenge_invalid': async () => {
      const input = await inputOf('changeEmail')
      app.wait(180)
      return ask('changeEmail', input)
    },
    'changeEmail key_invalid': async () =>
      ask('changeEmail', { ...(await inputOf('changeEmail')), public_key_jwt: 'x.y.z' }),
    'changeEmail password_wrong': async () =>
      ask('changeEmail', {
        ...(await inputOf('changeEmail')),
        ...(await wrongAnswer())
      }),
    'confirmEmail mail_token_invalid': () => ask('confirmEmail', { token: anyToken() }),
    'confirmEmail mail_token_used': async () => {
      const input = await inputOf('confirmEmail')
      await ask('confirmEmail', input)
      return ask('confirmEmail', input)
    },
    'deleteUser challenge_invalid': async () => {
      const input = await inputOf('deleteUser')
      app.wait(180)
      return ask('deleteUser', input)
    },
    'deleteUser password_wrong': async () => ask('deleteUser', await wrongAnswer()),
    'deleteUser last_operator': async () => {
      const set = (permissions: string[]) =>
        app.owner.query('update "user" set permissions = $1 where id = $2', [permissions, ada.id])
      await app.owner.query(`update "user" set permissions = '{admin}'`)
      await set(['admin', 'operator'])
      const response = await ask('deleteUser', await inputOf('deleteUser'))
      await set(['admin'])
      return response
    },
    'resendInvitation already_active': async () =>
      ask('resendInvitation', { id: (await makePerson(app)).id }),
    'disableUser not_oneself': () => ask('disableUser', { id: ada.id, reason: 'left' }),
    'logIn login_failed': async () => {
      const { challenge } = await app.call('acme.localhost', getChallenge, { email: ada.email })
      const challenge_response = makeKeys().respond(challenge)
      return ask('logIn', { email: ada.email, challenge_response })
    },
    'createDeposit category_unknown': () => deposit({ category: randomUUID() }),
    'createDeposit category_required': () => withoutDefault(() => deposit({ category: undefined })),
    'createDeposit category_unusable': () => withUnfitName(() => deposit({})),
    'createDeposit file_empty': () => deposit({ size: 0 }),
    'createDeposit too_large': () => deposit({ size: 5_000_000_001 }),
    'createDeposit fingerprint_invalid': () => deposit({ stored: 'cd'.repeat(32) }),
    'createDeposit type_not_allowed': () =>
      withRule('media_types', ['image/png'], () => deposit({})),
    'createDeposit transform_not_allowed': () =>
      withRule('originals', 'yes', async () => {
        const input = await rowOf('createDeposit').input?.(app, ada)
        return deposit({ ...input })
      }),
    'createDeposit storage_limit_reached': () => deposit({ size: 100_001 }),
    'createDeposit upload_limit_reached': () => withManyUploads(() => deposit({})),
    'createDeposit request_limit_reached': () => withoutRequests(() => deposit({})),
    'createDeposit idempotency_key_missing': () => deposit({}, {}),
    'createDeposit idempotency_in_flight': () =>
      whileHeld(ada.id, 'POST /deposit', key => deposit({}, { 'idempotency-key': key })),
    'createDeposit idempotency_key_reused': async () => {
      const headers = { 'idempotency-key': randomUUID() }
      await deposit({}, headers)
      return deposit({ name: 'other.pdf' }, headers)
    },
    'putDeposit length_required': () => put({}, { 'transfer-encoding': 'chunked' }),
    'putDeposit category_unknown': () => put({ category: randomUUID() }),
    'putDeposit category_required': () => withoutDefault(() => put({ category: undefined })),
    'putDeposit category_unusable': () => withUnfitName(() => put({})),
    'putDeposit file_empty': () => put({}, { 'content-length': '0' }, 0),
    'putDeposit too_large': () => put({}, { 'content-length': '5000000001' }),
    'putDeposit type_not_allowed': () => withRule('media_types', ['image/png'], () => put({})),
    'putDeposit request_limit_reached': () => withoutRequests(() => put({})),
    'putDeposit upload_limit_reached': () => withManyUploads(() => put({})),
    'putDeposit storage_limit_reached': () => put({}, { 'content-length': '100001' }),
    'putDeposit idempotency_in_flight': () =>
      whileHeld(ada.id, 'PUT /deposit', key => put({}, { 'idempotency-key': key })),
    'putDeposit idempotency_key_reused': async () => {
      const headers = { 'idempotency-key': randomUUID() }
      await put({}, headers)
      return put({ name: 'other.pdf' }, headers)
    },
    'verify too_many_items': () => ask('verify', { items: fingerprints(21) }, {}),
    'verify request_limit_reached': () =>
      withoutRequests(() => ask('verify', { items: fingerprints(1) })),
    'verify lookup_limited': async () => {
      const limits = { ...app.deps.settings.limits, verifyPerAddressMinute: 1 }
      await using strict = await makeApp({ settings: { limits } })
      const request = requestOf(endpoints.verify, { items: fingerprints(1) })
      await strict.request('api.acme.localhost', request)
      return await strict.request('api.acme.localhost', request)
    },
    'createOperator setup_code_wrong': async () =>
      ask('createOperator', { ...(await operatorInput()), code: 'wrong' }, {}),
    'createOperator setup_code_expired': async () => {
      const { code, ...person } = await operatorInput()
      await app.owner.query(`update setup_code set created_at = created_at - interval '25 hours'`)
      return ask('createOperator', { ...person, code }, {})
    },
    'createOperator email_taken': async () => {
      const input = await operatorInput()
      await signUp('acme.localhost', { email: String(input['email']) })
      return ask('createOperator', input, {})
    },
    'createOperator challenge_invalid': async () => {
      const input = await operatorInput()
      app.wait(180)
      return ask('createOperator', input, {})
    },
    'createOperator key_invalid': async () =>
      ask('createOperator', { ...(await operatorInput()), public_key_jwt: 'x' }, {}),
    'updateDomain svg_refused': async () => {
      const id = await domainOf(app.owner, 'acme.localhost')
      const logo = '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'
      return ask('updateDomain', { id, logo })
    },
    'updateDomain default_group_private': async () => {
      const id = await domainOf(app.owner, 'acme.localhost')
      await app.owner.query(`update domain set public = false where host = 'acme.localhost'`)
      await app.owner.query(`update category set visibility = 'private' where company_id = $1`, [
        app.companies['acme.localhost']
      ])
      const refused = await ask('updateDomain', { id, public: true })
      await app.owner.query(
        `update category set visibility = 'public'; update domain set public = true`
      )
      return refused
    },
    'updateDomain changed_meanwhile': async () => {
      const id = await domainOf(app.owner, 'acme.localhost')
      return ask('updateDomain', { id, title: 'Late' }, { 'if-match': '"999"' })
    },
    'getDomainConfig unknown_domain': () => ask('getDomainConfig', { domain: 'beta.localhost' }),
    'getDepositContent link_invalid': async () => {
      const id = await recorded()
      return ask('getDepositContent', { id, link: 'A'.repeat(91) }, {})
    },
    'getDepositContent range_unsatisfiable': async () =>
      ask('getDepositContent', { id: await recorded() }, { range: 'bytes=64-' }),
    'headUpload cancelled': async () => ask('headUpload', { id: await cancelled() }),
    'headUpload lapsed': async () => ask('headUpload', { id: await lapsed() }),
    'patchUpload cancelled': async () => ask('patchUpload', { id: await cancelled() }),
    'patchUpload lapsed': async () => ask('patchUpload', { id: await lapsed() }),
    'patchUpload upload_state': async () => ask('patchUpload', { id: await complete() }),
    'patchUpload upload_offset': async () =>
      ask('patchUpload', { id: await open() }, { 'upload-offset': '1' }),
    'patchUpload upload_busy': async () => {
      const { prepareStaging } = app.deps.blobs
      const disk = Promise.withResolvers<void>()
      app.deps.blobs.prepareStaging = async company => {
        await disk.promise
        await prepareStaging(company)
      }
      const id = await open()
      // one writes, two wait
      const calls = Array.from({ length: 4 }, () => ask('patchUpload', { id }))
      const refused = await Promise.race(calls)
      disk.resolve()
      await Promise.all(calls)
      app.deps.blobs.prepareStaging = prepareStaging
      return refused
    },
    'patchUpload too_large': async () => ask('patchUpload', { id: await open(10) }),
    'patchUpload storage_limit_reached': async () => {
      const id = await open()
      await app.owner.query('update upload set released = size where id = $1', [id])
      await app.owner.query('update "group" set max_storage = 0')
      const response = await ask('patchUpload', { id })
      await app.owner.query('update "group" set max_storage = 100000')
      await app.owner.query('update upload set released = 0 where id = $1', [id])
      return response
    },
    'deleteUpload cancelled': async () => ask('deleteUpload', { id: await cancelled() }),
    'deleteUpload lapsed': async () => ask('deleteUpload', { id: await lapsed() }),
    'deleteUpload upload_state': async () => ask('deleteUpload', { id: await complete() }),
    'streamRequests stream_limit_reached': async () => {
      const open = new AbortController()
      const headers = { authorization: `Bearer ${ada.token}` }
      for (let seat = 0; seat < 5; seat++) {
        const init = { headers, signal: open.signal }
        await app.fetch(new Request('http://api.acme.localhost/process/sse', init))
      }
      const refused = await ask('streamRequests', {})
      open.abort()
      return refused
    }
  }

  const pairs = names.flatMap(name => routeOf(name).errors.map(code => [name, code] as const))

  test.each(pairs)('%s answers %s', async (name, code) => {
    const make = makers[`${name} ${code}`]
    if (!make)
      throw new Error(`makers of this file lack '${name} ${code}': how does it come about?`)
    const response = await make()
    expect(response.status).toBe(errorCodes[code])
    // an answer to HEAD has no body
    if (routeOf(name).method !== 'HEAD') expect(codeOf(response)).toBe(code)
    if (response.status === 429) {
      const isForGood = code === 'request_limit_reached' // the limit of these groups never starts anew
      expect(response.headers['retry-after'] ?? '').toMatch(isForGood ? /^$/ : /^[1-9]\d*$/)
    }
  })

  test('come about for nothing but the listed pairs', () => {
    expect(Object.keys(makers).sort()).toEqual(pairs.map(pair => pair.join(' ')).sort())
  })
})

/** A call of ada's unless other headers are given; with the row's own for an upload. */
function ask(
  name: keyof typeof endpoints | keyof typeof streams,
  input: Record<string, unknown>,
  given?: Record<string, string>
): Promise<RawResponse> {
  const route: Endpoint | Stream = routeOf(name)
  const row = rowOf(name)
  const isOpen = (route.access === 'public' || 'link' in input) && given !== undefined
  const headers = {
    ...(isOpen ? {} : { authorization: `Bearer ${ada.token}` }),
    ...(isUpload(route) ? row.headers?.(app, ada) : {}),
    ...given
  }
  return app.request('api.acme.localhost', requestOf(route, input, headers, row.body))
}

function deposit(change: Record<string, unknown>, headers?: Record<string, string>) {
  const digest = 'ab'.repeat(32)
  const same = { original: digest, stored: digest, category: ada.category }
  const input = { name: 'a.pdf', size: 64, media_type: 'application/pdf', ...same, ...change }
  return ask('createDeposit', input, headers ?? { 'idempotency-key': randomUUID() })
}

async function operatorInput(): Promise<Record<string, unknown>> {
  return { ...(await rowOf('createOperator').input?.(app, ada)) }
}

async function inputOf(name: keyof typeof endpoints): Promise<Record<string, unknown>> {
  return { ...(await rowOf(name).input?.(app, ada)) }
}

function anyToken(): string {
  return randomBytes(32).toString('base64url')
}

async function withAnyToken(name: 'activateUser' | 'resetKey'): Promise<RawResponse> {
  return ask(name, { ...(await inputOf(name)), token: anyToken() }, {})
}

async function withBadKey(name: keyof typeof endpoints): Promise<RawResponse> {
  return ask(name, { ...(await inputOf(name)), public_key_jwt: 'x.y.z' }, {})
}

async function twice(name: keyof typeof endpoints): Promise<RawResponse> {
  const input = await inputOf(name)
  await ask(name, input, {})
  return ask(name, input, {})
}

/** With a challenge that ran out. */
async function late(name: keyof typeof endpoints): Promise<RawResponse> {
  const input = await inputOf(name)
  app.wait(180)
  return ask(name, input, {})
}

/** To a challenge of ada's, by another key than hers. */
async function wrongAnswer(): Promise<{ challenge_response: string }> {
  const asked = { email: ada.email, purpose: 'rekey' } as const
  const { challenge } = await app.call(ada.host, getChallenge, asked)
  return { challenge_response: makeKeys().respond(challenge) }
}

/** `PUT /deposit` of `length` bytes; the headers may say otherwise. */
function put(
  change: Record<string, string | undefined>,
  headers: Record<string, string> = {},
  length = 64
) {
  const declared = headers['transfer-encoding'] ? {} : { 'content-length': String(length) }
  const fields = Object.entries({ name: 'a.pdf', category: ada.category, ...change })
  const query = new URLSearchParams(
    fields.flatMap(([name, value]) => (value ? [[name, value]] : []))
  )
  return app.request('api.acme.localhost', {
    method: 'PUT',
    path: `/deposit?${query}`,
    headers: { authorization: `Bearer ${ada.token}`, ...declared, ...headers },
    body: Buffer.alloc(length)
  })
}

/** Runs while the caller may use a second category and none is the default. */
async function withoutDefault(run: () => Promise<RawResponse>): Promise<RawResponse> {
  const id = randomUUID()
  await app.owner.query('update category set is_default = false where id = $1', [ada.category])
  await app.owner.query(
    `insert into category (company_id, id, names, visibility, created_at)
     select company_id, $2, names, visibility, created_at from category where id = $1`,
    [ada.category, id]
  )
  await app.owner.query(
    `insert into group_category (company_id, group_id, category_id)
     select company_id, group_id, $2 from group_category where category_id = $1`,
    [ada.category, id]
  )
  const response = await run()
  await app.owner.query('delete from group_category where category_id = $1', [id])
  await app.owner.query('delete from category where id = $1', [id])
  await app.owner.query('update category set is_default = true where id = $1', [ada.category])
  return response
}

/** Runs while the category asks for something. */
async function withRule(
  name: 'media_types' | 'originals',
  value: unknown,
  run: () => Promise<RawResponse>
): Promise<RawResponse> {
  const set = (to: unknown) =>
    app.owner.query(`update category set ${name} = $1 where id = $2`, [to, ada.category])
  await set(value)
  const response = await run()
  await set(name === 'media_types' ? null : 'person')
  return response
}

async function withManyUploads(run: () => Promise<RawResponse>): Promise<RawResponse> {
  await openUploads(app.owner, ada, 2000)
  const response = await run()
  await closeUploads(app.owner, ada)
  return response
}

/** A name that the database would refuse, as it stands where its rules are older than ours. */
async function withUnfitName(run: () => Promise<RawResponse>): Promise<RawResponse> {
  const { rows } = await app.owner.query(
    `select pg_get_constraintdef(oid) as rule from pg_constraint where conname = 'category_names'`
  )
  const rename = (names: object) =>
    app.owner.query('update category set names = $1 where id = $2', [
      JSON.stringify(names),
      ada.category
    ])
  await app.owner.query('alter table category drop constraint category_names')
  await rename({ en: 'Con\ntracts', fr: 'Contrats' })
  const response = await run()
  await rename({ en: 'Documents', fr: 'Documents' })
  await app.owner.query(`alter table category add constraint category_names ${rows[0].rule}`)
  return response
}

async function signUp(
  host: string,
  options: { email?: string; late?: boolean; jwt?: string; key?: string } = {}
): Promise<RawResponse> {
  const email = options.email ?? `person-${randomUUID()}@example.com`
  const { challenge: nonce } = await app.call(host, getChallenge, { email, purpose: 'signup' })
  if (options.late) app.wait(180)
  const proof = makeKeys().publicKeyJwt({ aud: host, email, purpose: 'signup', nonce })
  const input = { email, username: 'Ada', public_key_jwt: options.jwt ?? proof }
  const headers = options.key === undefined ? {} : { 'idempotency-key': options.key }
  return app.request(`api.${host}`, requestOf(endpoints.createUser, input, headers))
}

/** Makes a call while another one, which does not end, holds its idempotency key. */
async function whileHeld(
  actor: string,
  route: string,
  call: (key: string) => Promise<RawResponse>
): Promise<RawResponse> {
  const key = randomUUID()
  const client = await app.owner.connect()
  try {
    await client.query('begin')
    await client.query(
      `insert into idempotency (company_id, actor, route, key, fingerprint, created_at)
       values ($1, $2, $3, $4, '', now())`,
      [app.companies['acme.localhost'], actor, route, key]
    )
    return await call(key)
  } finally {
    await client.query('rollback')
    client.release()
  }
}

/** A change of ada's password as it should be, but for what is given. */
async function changeKey(
  purpose: 'login' | 'rekey',
  { keys = ada.keys, jwt }: { keys?: TestKeys; jwt?: string } = {}
): Promise<RawResponse> {
  const { host: aud, email } = ada
  const { challenge: nonce } = await app.call(aud, getChallenge, { email, purpose })
  const proof = { aud, email, purpose: 'rekey', nonce } as const
  const public_key_jwt = jwt ?? makeKeys().publicKeyJwt(proof)
  return ask('changeKey', { challenge_response: keys.respond(nonce), public_key_jwt })
}

async function withoutRequests(call: () => Promise<RawResponse>): Promise<RawResponse> {
  const limit = (requests: number) =>
    app.owner.query('update "group" set max_requests = $1', [requests])
  await limit(0)
  try {
    return await call()
  } finally {
    await limit(1_000_000)
  }
}

async function open(size = uploadBytes.length): Promise<string> {
  const { upload } = await app.reserve(ada, uploadBytes.subarray(0, size))
  return upload.slice('/uploads/'.length)
}

async function cancelled(): Promise<string> {
  const id = await open()
  await ask('deleteUpload', { id })
  return id
}

async function complete(): Promise<string> {
  const id = await open()
  await ask('patchUpload', { id })
  return id
}

async function recorded(): Promise<string> {
  return (await app.deposit(ada, uploadBytes)).deposit_id ?? ''
}

async function lapsed(): Promise<string> {
  const id = await open()
  await app.owner.query(`update upload set active_at = now() - interval '25 h' where id = $1`, [id])
  await lapseNextUpload(app.deps, companyId(app.companies[ada.host] ?? ''))
  return id
}

function fingerprints(count: number): { sha256: string }[] {
  return Array.from({ length: count }, () => ({ sha256: randomBytes(32).toString('hex') }))
}

function idsOf(route: Endpoint | Stream): Record<string, string> {
  const parameters = [...route.path.matchAll(/\{(\w+)\}/g)].map(match => match[1] ?? '')
  return Object.fromEntries(parameters.map(name => [name, 'A'.repeat(22)]))
}

interface ObjectSchema {
  properties: Record<string, unknown>
  additionalProperties?: unknown
}

/** Every object within a schema, itself included. */
function objectsOf(schema: z.ZodMiniType): ObjectSchema[] {
  const found: ObjectSchema[] = []
  const walk = (node: unknown) => {
    if (typeof node !== 'object' || node === null) return
    if ('properties' in node) found.push(node as ObjectSchema) // as: JSON Schema says so
    for (const inner of Object.values(node)) walk(inner)
  }
  walk(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }))
  return found
}

function sourceOf(folder: string): string {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.ts'))
    .map(file => readFileSync(join(root, folder, file), 'utf8'))
    .join('\n')
}
