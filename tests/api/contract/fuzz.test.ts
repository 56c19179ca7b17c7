import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import * as z from 'zod/mini'
import {
  type Endpoint,
  type NonJsonEndpoint,
  pathParameters
} from '../../../src/contract/kit/endpoint.ts'
import { AppError, errorCodes } from '../../../src/contract/kit/errors.ts'
import { getOwnAccount } from '../../../src/contract/users.ts'
import { makeApp, type RawResponse, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { requestOf, uploadBytes } from '../../helpers/cases.ts'
import {
  errorCodeOf,
  isUploadRoute,
  makeThings,
  possibleErrorCodesOf,
  routeCaseOf,
  routeOf,
  routes,
  sessionIdOf
} from '../../helpers/matrix.ts'
import { runCount, testTimeout } from '../../helpers/soak.ts'

// E-01

const runsPerRoute = runCount(6, 10_000)
const maxMs = 2000

let app: TestApp
let ada: TestPerson
let ids: Record<string, string>
beforeAll(async () => {
  app = await makeApp()
  ada = await app.signUp()
  // another session of hers: the one of the calls must outlive them
  const session = sessionIdOf(await app.signIn(ada))
  const things = await makeThings(app, ada, 'fuzz.pdf')
  ids = { ...things, session }
})
afterAll(() => app[Symbol.asyncDispose]())

const names = Object.keys(routes).filter(name => !isUploadRoute(routeOf(name)))
const uploads = Object.keys(routes).filter(name => isUploadRoute(routeOf(name)))
/**
 * Returns the processor time of this thread since `started`, in milliseconds. Elapsed time would
 * include other work on the machine.
 */
function msSince(started: NodeJS.CpuUsage): number {
  const { user, system } = process.threadCpuUsage(started)
  return (user + system) / 1000
}

/** The longest path in characters. Node refuses longer heads. */
const maxTargetLength = 8000

test.each(names)(
  `%s answers ${runsPerRoute} inputs of every kind as its contract says, and soon`,
  async name => {
    const route = routeOf(name)
    const row = routeCaseOf(name)
    const valid = { ...(await row.input?.(app, ada)), ...idsOf(name) }
    const input = inputOf(route, valid)
    await fc.assert(
      fc.asyncProperty(input, fc.boolean(), async (given, isSignedIn) => {
        // a session or person that ends would make the rest of the runs strangers
        const ends = row.spends === 'session' || row.spends === 'person'
        if (ends && isSignedIn && route.input.safeParse(given).success) return
        const started = process.threadCpuUsage()
        const answer = await send(route, given, isSignedIn, row.body)
        expect(msSince(started)).toBeLessThan(maxMs)
        expectContract(route, answer)
      }),
      { numRuns: runsPerRoute }
    )
    expectNoFailure()
  },
  testTimeout(120_000)
)

test.each(uploads)(
  `%s answers ${runsPerRoute} requests of every kind over its port as its contract says, and soon`,
  async name => {
    const route = routeOf(name)
    const row = routeCaseOf(name)
    const valid = { ...(await row.input?.(app, ada)), ...idsOf(name) }
    const body = row.body
      ? fc.oneof(fc.constant(row.body), fc.uint8Array({ maxLength: 200 }))
      : none
    const signedIn = { authorization: `Bearer ${ada.token}` }
    await fc.assert(
      fc.asyncProperty(
        inputOf(route, valid),
        changedHeaders,
        body,
        fc.nat(9),
        async (given, changed, bytes, nr) => {
          // one that has taken bytes or is cancelled would answer all other calls the same
          const isOurs = 'id' in valid && given['id'] === valid['id']
          const input = isOurs ? { ...given, id: await newUpload() } : given
          // strangers get no further than their refusal
          const good = { ...row.headers?.(app, ada), ...(nr > 0 ? signedIn : {}) }
          const request = requestOf(route, input, { ...good, ...changed }, bytes)
          fc.pre(request.path.length < maxTargetLength)
          const started = process.threadCpuUsage()
          const answer = await app.request(`api.${ada.host}`, request)
          expect(msSince(started)).toBeLessThan(maxMs)
          expectContract(route, answer)
        }
      ),
      { numRuns: runsPerRoute }
    )
    expectNoFailure()
  },
  testTimeout(120_000)
)

const none = fc.constant(undefined)

/**
 * Generates headers that the upload routes or a library may read, with valid and invalid values.
 */
const changedHeaders = fc.dictionary(
  fc.constantFrom(
    'tus-resumable',
    'upload-offset',
    'content-type',
    'content-encoding',
    'idempotency-key',
    'upload-length',
    'upload-defer-length',
    'upload-metadata',
    'upload-concat',
    'x-http-method-override',
    'x-forwarded-host'
  ),
  fc.oneof(
    fc.constantFrom('', '0', '1', '64', '-1', '1e3', '9'.repeat(400), '1.0.0', '0.2.2', 'DELETE'),
    fc.stringMatching(/^[ -~]{0,300}$/)
  ),
  { maxKeys: 2 }
)

async function newUpload(): Promise<string> {
  const { upload } = await app.reserve(ada, uploadBytes)
  return upload.slice('/uploads/'.length)
}

afterEach(async () => {
  await ada.call(getOwnAccount, {}) // who had been signed out would have been refused and nothing else
})

function expectNoFailure(): void {
  const failures = app.logged.filter(({ level }) => level === 'error')
  expect(failures.map(({ facts, text }) => [text, facts])).toEqual([])
}

/**
 * Returns a fast-check generator of inputs: valid inputs with some fields replaced, and random
 * inputs in the form of the schema.
 */
function inputOf(route: Endpoint | NonJsonEndpoint, valid: Record<string, unknown>) {
  const schema = z.toJSONSchema(route.input, { io: 'input', unrepresentable: 'any' }) as Node // as: it is one
  const wild = arbitraryOf(schema, 0)
  const changed = fc
    .tuple(
      fc.subarray(Object.keys({ ...valid, ...schema.properties })),
      fc.infiniteStream(anything)
    )
    .map(([fields, values]) => {
      const input: Record<string, unknown> = structuredClone(valid)
      for (const field of fields) input[field] = values.next().value
      return input
    })
  return fc.oneof(wild, changed).map(value => {
    const input = typeof value === 'object' && value !== null ? { ...value } : {}
    // without its last segment a path is another one
    for (const field of pathParameters(route.path)) {
      const text = String(Reflect.get(input, field) ?? valid[field]).toWellFormed()
      Reflect.set(input, field, /^\.{0,2}$/.test(text) ? 'x' : text)
    }
    return input as Record<string, unknown> // as: an object of fields
  })
}

interface Node {
  type?: string
  enum?: unknown[]
  const?: unknown
  anyOf?: Node[]
  oneOf?: Node[]
  properties?: Record<string, Node>
  required?: string[]
  items?: Node
  format?: string
  pattern?: string
}

const odd = fc.constantFrom(
  '',
  ' ',
  '\u0000',
  '\ud800',
  '\u202e',
  'e\u0301',
  '__proto__',
  "'; drop table x; --",
  '$x',
  '%00',
  '../..',
  '<img src=x onerror=1>',
  '-1',
  '1e309',
  '9'.repeat(400),
  'x'.repeat(70_000),
  'null'
)
const anything = fc.oneof(
  odd,
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.double(),
  fc.maxSafeInteger(),
  fc.constantFrom(null, true, false, [], {}, [[]], { length: 1 }),
  fc.uuid(),
  fc.jsonValue({ maxDepth: 4 })
)

/**
 * Returns a fast-check generator of values in the form of a schema. A sixth of the values has any
 * form.
 */
function arbitraryOf(node: Node, depth: number): fc.Arbitrary<unknown> {
  const alternatives = node.anyOf ?? node.oneOf
  if (alternatives) return fc.oneof(...alternatives.map(each => arbitraryOf(each, depth)))
  if (node.const !== undefined) return mostly(fc.constant(node.const))
  if (node.enum) return mostly(fc.constantFrom(...node.enum))
  switch (node.type) {
    case 'object': {
      const fields = Object.entries(node.properties ?? {}).map(([field, inner]) => [
        field,
        arbitraryOf(inner, depth + 1)
      ])
      const required = node.required ?? []
      // as: keys of an object whose type knows none
      return fc.record(Object.fromEntries(fields), { requiredKeys: required as never[] })
    }
    case 'array':
      return mostly(
        fc.array(arbitraryOf(node.items ?? {}, depth + 1), { maxLength: depth > 2 ? 2 : 25 })
      )
    case 'integer':
    case 'number':
      return mostly(fc.oneof(fc.nat({ max: 1000 }), fc.maxSafeInteger()))
    case 'boolean':
      return mostly(fc.boolean())
    case 'string':
      if (node.format === 'uuid') return mostly(fc.uuid())
      if (node.pattern === '^[0-9a-f]{64}$') return mostly(fc.stringMatching(/^[0-9a-f]{64}$/))
      return mostly(
        fc.oneof(fc.string({ maxLength: 300 }), fc.emailAddress(), fc.string({ unit: 'grapheme' }))
      )
    default:
      return anything
  }
}

function mostly(value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 5, arbitrary: value }, { weight: 1, arbitrary: anything })
}

function idsOf(name: string): Record<string, string> {
  const entries = Object.entries(routeCaseOf(name).ids ?? {})
  return Object.fromEntries(entries.map(([field, thing]) => [field, ids[thing] ?? randomUUID()]))
}

async function send(
  route: Endpoint | NonJsonEndpoint,
  input: Record<string, unknown>,
  isSignedIn: boolean,
  body: Uint8Array | undefined
): Promise<RawResponse> {
  const headers = {
    ...(isSignedIn ? { authorization: `Bearer ${ada.token}` } : {}),
    ...(route.kind === 'endpoint' && route.idempotency ? { 'idempotency-key': randomUUID() } : {}),
    ...(body ? { 'content-type': 'application/json' } : {})
  }
  const request = requestOf(route, input, headers, body)
  const response = await app.fetch(
    new Request(new URL(request.path, `http://api.${ada.host}`), {
      method: request.method,
      headers: request.headers ?? {},
      ...(request.body === undefined ? {} : { body: Buffer.from(request.body) })
    })
  )
  const isEndless = response.headers.get('content-type')?.startsWith('text/event-stream')
  if (isEndless) await response.body?.cancel()
  const bytes = isEndless ? Buffer.alloc(0) : Buffer.from(await response.arrayBuffer())
  return { status: response.status, headers: Object.fromEntries(response.headers), body: bytes }
}

/** Expects an answer that the contract allows: its output, or one of its error codes below 500. */
function expectContract(route: Endpoint | NonJsonEndpoint, answer: RawResponse): void {
  const where = `${route.method} ${route.path} answered ${answer.status} ${answer.body.subarray(0, 300)}`
  expect(answer.status, where).toBeLessThan(500)
  if (answer.status >= 400) {
    const statuses = possibleErrorCodesOf(route).map(code => errorCodes[code])
    // an answer to HEAD has no body
    if (route.method === 'HEAD') expect(statuses, where).toContain(answer.status)
    else expect(possibleErrorCodesOf(route), where).toContain(errorCodeOf(answer))
    return
  }
  const told = route.kind === 'endpoint' ? route.output : route.message
  const isJson = route.kind === 'endpoint' || route.method === 'PUT'
  if (!isJson || answer.status === 204) return
  const output = told.safeParse(JSON.parse(answer.body.toString()))
  if (!output.success) throw new AppError('unexpected_answer', where, { cause: output.error })
}
