import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod/mini'
import { endpoints } from '../../../src/contract/index.ts'
import type { Endpoint, NonJsonEndpoint } from '../../../src/contract/kit/endpoint.ts'
import {
  AppError,
  commonErrorCodes,
  type ErrorCode,
  errorCodes
} from '../../../src/contract/kit/errors.ts'
import { errorFromProblem, toProblem } from '../../../src/contract/kit/problems.ts'
import { getChallenge, logIn } from '../../../src/contract/sessions.ts'
import en from '../../../src/i18n/en/errors.json' with { type: 'json' }
import fr from '../../../src/i18n/fr/errors.json' with { type: 'json' }
import { makeApp, type RawResponse, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { type RefusalContext, type RouteName, requestOf } from '../../helpers/cases.ts'
import { makeSignUp } from '../../helpers/mailed.ts'
import {
  errorCodeOf,
  isUploadRoute,
  makeOperators,
  refusalsOf,
  routeCaseOf,
  routeOf,
  routes
} from '../../helpers/matrix.ts'

const root = join(import.meta.dirname, '../../..')
const names = Object.keys(routes)
const honoPath = (path: string) => path.replace(/\{(\w+)\}/g, ':$1')

let app: TestApp
let ada: TestPerson
beforeAll(async () => {
  app = await makeApp({ limits: { max_requests: 200, max_storage: 100_000 } })
  ada = await app.signUp()
  await makeOperators(app.owner)
})
afterAll(() => app[Symbol.asyncDispose]())

describe('the routes', () => {
  test('are mounted once each, and nothing else is', () => {
    const mounted = app.app.routes
      .filter(({ method }) => method !== 'ALL')
      .map(({ method, path }) => `${method} ${path}`)
    const listed = Object.values(routes)
      .filter(route => !isUploadRoute(route))
      .map(({ method, path }) => `${method} ${honoPath(path)}`)
    const where =
      '- is not mounted in src/server/api; + is not among the calls that its file of src/contract lists'
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
        routeCaseOf(name).headers?.(app, ada),
        routeCaseOf(name).body
      )
      const response = await app.request('api.acme.localhost', request)
      expect(response.status, `${name} is not mounted in src/server/api`).not.toBe(405)
      if (route.access !== 'public') expect(response.status).toBe(401)
      expect(response.headers).toMatchObject({
        'content-security-policy': expect.stringContaining("default-src 'none'"),
        'x-content-type-options': 'nosniff',
        'cross-origin-resource-policy': 'same-site',
        'referrer-policy': 'no-referrer',
        // the document changes with the build alone
        'cache-control': name === 'getOpenApi' ? 'no-cache' : 'no-store',
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
      'contract/contract.test.ts',
      'access/isolation.test.ts',
      'contract/bad-input.test.ts',
      'sessions/tokens.test.ts'
    ]
    for (const file of generated) expect(existsSync(join(folder, file)), file).toBe(true)
    const texts = readdirSync(folder, { recursive: true, encoding: 'utf8' })
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
      const isTested = isKnown || isUploadRoute(routeOf(name)) || routeCaseOf(name).does
      expect(isTested, `${name}: say what it does, as \`does\` of its row`).toBeTruthy()
    }
  })

  test.each(names.filter(name => routeCaseOf(name).does))(
    '%s does what its row says',
    async name => {
      await makeOperators(app.owner)
      await routeCaseOf(name).does?.(stage())
    }
  )

  test('are open to strangers only where that is meant', () => {
    const open = names.filter(name => routeOf(name).access === 'public')
    expect(open.sort()).toEqual([
      'activateUser',
      'checkMailLink',
      'createFirstOperator',
      'createUser',
      'getChallenge',
      'getDemoAccount',
      'getDomainConfig',
      'getHealth',
      'getOpenApi',
      'getSetup',
      'listOfferedSources',
      'logIn',
      'receiveCspReports',
      'redirectToApiDocs',
      'requestPasswordReset',
      'resetPassword',
      'verify',
      'verifyEmail'
    ])
    const pending = Object.entries<Endpoint>(endpoints).filter(([, route]) => route.pending)
    expect(pending.map(([name]) => name).sort()).toEqual([
      'checkMailLink',
      'getOwnAccount',
      'logOut',
      'resendOwnVerifyLink',
      'updateOwnAccount',
      'verifyEmail'
    ])
  })

  test('refuse a session whose e-mail is not confirmed wherever that is not said', async () => {
    const { email, keys } = await makeSignUp(app)
    const { challenge } = await app.call(ada.host, getChallenge, { email })
    const challenge_response = keys.respond(challenge)
    const { access_token: token } = await app.call(ada.host, logIn, { email, challenge_response })
    for (const name of names) {
      const route: Endpoint | NonJsonEndpoint = routeOf(name)
      if (route.access === 'public' || ('pending' in route && route.pending)) continue
      const headers = { ...routeCaseOf(name).headers?.(app, ada), authorization: `Bearer ${token}` }
      const request = requestOf(route, idsOf(route), headers, routeCaseOf(name).body)
      const { status } = await app.request('api.acme.localhost', request)
      expect(status, name).toBe(403)
    }
  })

  test('honor an idempotency key wherever something is created', () => {
    // nothing that is stored could answer a repeated call: the key is in the first answer alone
    const secrets = ['createApiKey', 'createCompanyApiKey']
    for (const [name, endpoint] of Object.entries<Endpoint>(endpoints)) {
      if (endpoint.status === 201 && !secrets.includes(name))
        expect(endpoint.idempotency, name).toBeDefined()
    }
  })

  test('have a version wherever they say so, and refuse to change another one', () => {
    const versioned = Object.entries<Endpoint>(endpoints).filter(([, route]) => route.versioned)
    expect(versioned.length).toBeGreaterThan(5)
    for (const [name, { method, status, output, errors }] of versioned) {
      const changes = method === 'PUT' || method === 'DELETE'
      // an act such as publishing may refuse what its caller has not seen, too
      if (method !== 'POST') expect(errors.includes('changed_meanwhile'), name).toBe(changes)
      const { properties = {} } = z.toJSONSchema(output, { unrepresentable: 'any' })
      if (status !== 204) expect(properties, name).toHaveProperty('version')
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
  /** Error codes that the browser itself creates and the server never sends. */
  const ofBrowser = ['offline', 'unexpected_answer', 'file_unreadable', 'cookies_blocked']

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
        errors.filter(code => commonErrorCodes.some(common => common === code)),
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
      const isCommon = commonErrorCodes.some(common => common === code)
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
    const got = errorFromProblem(sent.status, JSON.parse(JSON.stringify(problem)), 7)
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

  const pairs = names.flatMap(name => routeOf(name).errors.map(code => [name, code] as const))

  const waits = (code: ErrorCode) => code === 'idempotency_in_flight'

  test.each(pairs.filter(([, code]) => !waits(code)))('%s answers %s', answers)
  // all at once, because each waits two seconds for the call before it
  test.concurrent.each(pairs.filter(([, code]) => waits(code)))('%s answers %s', answers)

  async function answers(name: string, code: ErrorCode): Promise<void> {
    const make = refusalsOf(stage())[`${name} ${code}`]
    if (!make) {
      throw new Error(
        `refusals of its noun's cases lack '${name} ${code}': how does it come about?`
      )
    }
    // cases of the setup take the permission from everybody
    await makeOperators(app.owner)
    const response = await make()
    expect(response.status, errorCodeOf(response)).toBe(errorCodes[code])
    // an answer to HEAD has no body
    if (routeOf(name).method !== 'HEAD') expect(errorCodeOf(response)).toBe(code)
    if (response.status === 429) {
      const isForGood = code === 'request_limit_reached' // the limit of these groups never starts anew
      expect(response.headers['retry-after'] ?? '').toMatch(isForGood ? /^$/ : /^[1-9]\d*$/)
    }
  }

  test('come about for nothing but the listed pairs', () => {
    expect(Object.keys(refusalsOf(stage())).sort()).toEqual(
      pairs.map(pair => pair.join(' ')).sort()
    )
  })
})

function stage(): RefusalContext {
  return { app, ada, ask, inputOf }
}

function ask(
  name: RouteName,
  input: Record<string, unknown>,
  given?: Record<string, string>
): Promise<RawResponse> {
  const route: Endpoint | NonJsonEndpoint = routeOf(name)
  const row = routeCaseOf(name)
  const isOpen = (route.access === 'public' || 'link' in input) && given !== undefined
  const headers = {
    ...(isOpen ? {} : { authorization: `Bearer ${ada.token}` }),
    ...(isUploadRoute(route) ? row.headers?.(app, ada) : {}),
    ...given
  }
  return app.request('api.acme.localhost', requestOf(route, input, headers, row.body))
}

async function inputOf(name: RouteName): Promise<Record<string, unknown>> {
  return { ...(await routeCaseOf(name).input?.(app, ada)) }
}

function idsOf(route: Endpoint | NonJsonEndpoint): Record<string, string> {
  const parameters = [...route.path.matchAll(/\{(\w+)\}/g)].map(match => match[1] ?? '')
  return Object.fromEntries(parameters.map(name => [name, 'A'.repeat(22)]))
}

interface ObjectSchema {
  properties: Record<string, unknown>
  additionalProperties?: unknown
}

/** Returns all objects inside a schema, including the schema itself. */
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
