import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import * as z from 'zod/mini'
import { createDeposit, getDeposit } from '../../../src/contract/deposits.ts'
import {
  type Endpoint,
  hasJsonBody,
  type NonJsonEndpoint,
  pathParameters
} from '../../../src/contract/kit/endpoint.ts'
import { type ErrorCode, errorCodes } from '../../../src/contract/kit/errors.ts'
import { getOwnAccount } from '../../../src/contract/users.ts'
import en from '../../../src/i18n/en/fields.json' with { type: 'json' }
import fr from '../../../src/i18n/fr/fields.json' with { type: 'json' }
import {
  makeApp,
  type RawRequest,
  type RawResponse,
  type TestApp,
  type TestPerson
} from '../../helpers/app.ts'
import { requestOf, uploadBytes } from '../../helpers/cases.ts'
import { batchForm } from '../../helpers/deposits/batches.ts'
import {
  errorCodeOf,
  isUploadRoute,
  makeOperators,
  makeThings,
  possibleErrorCodesOf,
  routeCaseOf,
  routeOf,
  routes,
  summarizeDatabase
} from '../../helpers/matrix.ts'
import { createRandom } from '../../helpers/random.ts'
import { runCount, seed } from '../../helpers/soak.ts'

const maxUploadBytes = 1_000_000

let app: TestApp
let ada: TestPerson
let things: Awaited<ReturnType<typeof makeThings>>
/** The rules by which fields were refused. The dictionaries must have words for each. */
const rules = new Set<string>()

beforeAll(async () => {
  const limits = { max_requests: 1_000_000, max_storage: 1_000_000_000 }
  app = await makeApp({ limits, settings: { maxUploadBytes } })
  ada = await app.signUp()
  things = await makeThings(app, ada, 'there.pdf')
})
// each time, because examples of the setup take the permission from everybody
beforeEach(() => makeOperators(app.owner))
afterAll(() => app[Symbol.asyncDispose]())

const names = Object.keys(routes)
const plain = names.filter(name => !isUploadRoute(routeOf(name)))
const isForm = (route: Endpoint | NonJsonEndpoint) =>
  route.kind === 'non-json' && route.form !== undefined
const withForm = plain.filter(name => isForm(routeOf(name)))
const withBody = plain.filter(
  name => ['POST', 'PUT'].includes(routeOf(name).method) && !isForm(routeOf(name))
)
const withQuery = plain.filter(name => !['POST', 'PUT'].includes(routeOf(name).method))
/**
 * One route for each kind of body reader and each limit. The tests send them every body, and the
 * other routes a few.
 */
const readers = new Set(
  Map.groupBy(withBody, name => `${routeOf(name).kind} ${maxBytesOf(routeOf(name))}`)
    .values()
    .map(([name = '']) => name)
)
const tooLong = 'x'.repeat(10_000)

/** Values in place of each field of an input. Most fields must refuse them. */
const wrongValues: [string, unknown][] = [
  ['null', null],
  ['true', true],
  ['false', false],
  ['zero', 0],
  ['a negative number', -1],
  ['a fraction', 0.5],
  ['a number beyond the safe ones', 2 ** 53],
  ['a huge number', 1e308],
  ['an empty text', ''],
  ['a word', 'x'],
  ['a number as text', '1'],
  ['10,000 characters', tooLong],
  ['a lone surrogate', '\ud800'],
  ['a text around a lone surrogate', 'a\udfffb'],
  ['a NUL', 'a\u0000b'],
  ['a line feed', 'a\nb'],
  ['a decomposed letter', 'e\u0301'],
  ['a list', []],
  ['a list of lists', [[]]],
  ['an object', {}],
  ['an object with a length', { length: 1 }]
]

/** The values that are sent in place of each field. The schema alone judges the others. */
const sentValues = ['an object', '10,000 characters', 'a lone surrogate', 'nothing', '1 MB']

/** Texts that PostgreSQL or UTF-8 cannot represent. Every field must refuse them. */
const unstorable = ['a lone surrogate', 'a text around a lone surrogate', 'a NUL']

/**
 * Fields that accept unstorable texts. A wrong `device` must not keep its owner from signing in.
 * The check of an import judges the cells of rows, and replaces what the database cannot store.
 */
const harmless = [
  'logIn device',
  ...['email', 'username', 'groups.0', 'locale'].map(cell => `storeImportRows rows.0.${cell}`)
]

/** Calls with optional fields that exclude each other, so no valid call has all of them. */
const exclusive = ['changeUsers', 'createInvitationLinks', 'createRegisterImport']

describe('a field out of form', () => {
  test.each(withBody)('is refused by %s, and nothing is kept', async name => {
    const route = routeOf(name)
    const valid = await validInput(name)
    expect(route.input.safeParse(valid).success, 'the good input').toBe(true)
    const fields = pathsOf(valid)
    const missing = optionalPaths(route)
      .filter(path => !fields.some(field => same(field, path)))
      .filter(() => !exclusive.includes(name))
    expect(
      missing,
      'optional fields without an example in tests/api/<room>/<noun>.cases.ts'
    ).toEqual([])

    const before = await summarizeDatabase(app.owner)
    let refused = 0
    for (const field of fields) {
      for (const [what, value] of [...wrongValues, ['nothing', undefined] as const]) {
        const input = changed(valid, field, value)
        const isAccepted = route.input.safeParse(input).success
        const isHarmless = harmless.includes(`${name} ${field.join('.')}`)
        if (isAccepted && (isHarmless || !unstorable.includes(what))) continue
        refused++
        if (!isAccepted && !sentValues.includes(what)) continue
        // without its segment it is another path
        if (pathParameters(route.path).includes(field.join('.')) && `${value}` === '') continue
        const response = await send(requestOf(route, input, headersOf(name)))
        expectRefusal(response, route, `${field.join('.')}: ${what}`)
        const isTooLarge = JSON.stringify(input).length > maxBytesOf(route)
        const code = isTooLarge ? 'body_too_large' : 'invalid_input'
        if (!isAccepted) expect.soft(errorCodeOf(response), what).toBe(code)
      }
    }
    expect(refused).toBeGreaterThanOrEqual(fields.length * 10)
    expect(await summarizeDatabase(app.owner)).toEqual(before)
  })

  test.each(withQuery)('is refused by %s, and nothing is kept', async name => {
    const route = routeOf(name)
    const valid = await validInput(name)
    expect(route.input.safeParse(valid).success, 'the good input').toBe(true)
    const before = await summarizeDatabase(app.owner)
    for (const field of Object.keys(valid)) {
      const isRequired = !route.input.safeParse(changed(valid, [field], undefined)).success
      for (const [what, value] of [...wrongValues, ['1 MB', tooLong.repeat(100)] as const]) {
        if (!sentValues.includes(what)) continue
        const text = `${value === null || typeof value === 'object' ? JSON.stringify(value) : value}`
        const input = changed(valid, [field], text.toWellFormed())
        if (text === '' && pathParameters(route.path).includes(field)) continue
        if (route.input.safeParse(input).success) continue
        const response = await send(requestOf(route, input, headersOf(name)))
        const inBody = route.kind === 'endpoint' && hasJsonBody(route)
        const isTooLarge = inBody && text.length > maxBytesOf(route)
        const code = isTooLarge ? 'body_too_large' : 'invalid_input'
        expectRefusal(response, route, `${field}: ${what}`, code)
      }
      if (isRequired && !pathParameters(route.path).includes(field)) {
        const response = await send(requestOf(route, changed(valid, [field], undefined)))
        expectRefusal(response, route, `${field}: nothing`, 'invalid_input')
      }
    }
    expect(await summarizeDatabase(app.owner)).toEqual(before)
  })
})

const unknownKeys = ['x', '__proto__']
const moreUnknownKeys = ['Name', 'id', 'company_id', 'user_id', 'constructor', 'toString', '']

/** Returns the unknown keys that are sent to a route: all of them to the route `thorough`. */
function unknownKeysFor(name: string, thorough: string | undefined): string[] {
  return name === thorough ? [...unknownKeys, ...moreUnknownKeys] : unknownKeys
}

describe('a field nobody asked for', () => {
  test.each(withBody)('is refused by %s at any depth', async name => {
    const route = routeOf(name)
    const valid = await validInput(name)
    const before = await summarizeDatabase(app.owner)
    for (const place of objectsOf(valid)) {
      for (const key of unknownKeysFor(name, withBody[0])) {
        const text = withKey(JSON.stringify(bodyOf(route, valid)), place, key)
        const response = await send({ ...requestOf(route, valid, headersOf(name)), body: text })
        expectRefusal(response, route, `${place.join('.')} ${key}`, 'invalid_input')
      }
    }
    expect(await summarizeDatabase(app.owner)).toEqual(before)
  })

  test.each(withQuery)('is refused by %s, and a name that stands twice', async name => {
    const route = routeOf(name)
    const valid = await validInput(name)
    const request = requestOf(route, valid, headersOf(name))
    const and = request.path.includes('?') ? '&' : '?'
    const others = unknownKeysFor(name, withQuery[0]).filter(key => !Object.hasOwn(valid, key))
    for (const key of others) {
      const path = `${request.path}${and}${encodeURIComponent(key)}=1`
      expectRefusal(await send({ ...request, path }), route, key, 'invalid_input')
    }
    const query = Object.keys(valid).filter(key => !pathParameters(route.path).includes(key))
    for (const key of query) {
      const path = `${request.path}${and}${key}=${encodeURIComponent(String(valid[key]))}`
      expectRefusal(await send({ ...request, path }), route, `${key} twice`, 'invalid_input')
    }
  })
})

describe('a body that is no input', () => {
  const deep = (open: string, close: string, depth: number) =>
    `{"x":${open.repeat(depth)}${close.repeat(depth)}}`
  const bodies: [string, RawRequest['body'], ErrorCode][] = [
    ['nothing', '', 'invalid_input'],
    ['null', 'null', 'invalid_input'],
    ['a list', '[]', 'invalid_input'],
    ['a text', '"x"', 'invalid_input'],
    ['a number', '1', 'invalid_input'],
    ['true', 'true', 'invalid_input'],
    ['half an object', '{', 'invalid_input'],
    ['half a text', '{"name":"x', 'invalid_input'],
    ['single quotes', `{'name':'x'}`, 'invalid_input'],
    ['a comma too many', '{"name":"x",}', 'invalid_input'],
    ['a comment', '{/* */}', 'invalid_input'],
    ['NaN', '{"size":NaN}', 'invalid_input'],
    ['two objects', '{}{}', 'invalid_input'],
    ['a form', 'name=x&size=1', 'invalid_input'],
    ['markup', '<x/>', 'invalid_input'],
    ['a raw control character', '{"name":"\u0000"}', 'invalid_input'],
    ['bytes that are no UTF-8', Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), 'invalid_input'],
    ['an overlong UTF-8 form', Buffer.from([0x22, 0xc0, 0x80, 0x22]), 'invalid_input'],
    ['UTF-16', Buffer.from('\ufeff{}', 'utf16le'), 'invalid_input'],
    ['33 levels of lists', deep('[', ']', 33), 'invalid_input'],
    ['33 levels of objects', `${'{"x":'.repeat(33)}1${'}'.repeat(33)}`, 'invalid_input'],
    ['100,000 open brackets', '['.repeat(100_000), 'invalid_input'],
    ['256 kB and one byte', `"${'x'.repeat(256 * 1024 - 1)}"`, 'body_too_large'],
    ['8 kB and one byte', `"${'x'.repeat(8191)}"`, 'invalid_input'],
    ['1 MB', JSON.stringify({ name: 'x'.repeat(1_000_000) }), 'body_too_large'],
    ['10 MB', JSON.stringify({ name: 'x'.repeat(10_000_000) }), 'body_too_large']
  ]

  test.each(withBody)('is refused by %s', async name => {
    const route = routeOf(name)
    const before = await summarizeDatabase(app.owner)
    const few: typeof bodies = [
      ['half an object', '{', 'invalid_input'],
      ['its limit and one byte', `"${'x'.repeat(maxBytesOf(route) - 1)}"`, 'body_too_large']
    ]
    for (const [what, body, code] of readers.has(name) ? [...bodies, ...few] : few) {
      const request = {
        ...requestOf(route, {}, headersOf(name)),
        ...(body === undefined ? {} : { body })
      }
      const isTooLarge = (body?.length ?? 0) > maxBytesOf(route)
      const otherwise = code === 'body_too_large' ? 'invalid_input' : code
      expectRefusal(await send(request), route, what, isTooLarge ? 'body_too_large' : otherwise)
    }
    expect(await summarizeDatabase(app.owner)).toEqual(before)
  })

  test.each([...readers])('is refused by %s before it ends', async name => {
    const route = routeOf(name)
    const endless = endlessBody()
    const init = {
      method: route.method,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${ada.token}` },
      body: endless.stream,
      duplex: 'half' // Node demands it of a stream, the platform's types do not know it
    }
    const streamed = new Request(`http://api.acme.localhost${route.path}`, init)
    expectRefusal(await received(await app.fetch(streamed)), route, 'no end', 'body_too_large')
    expect(endless.sent()).toBeLessThan(maxBytesOf(route) + 750_000)
  })

  test.each(withForm)('is refused by %s in the part items of its form', async name => {
    const route = routeOf(name)
    const before = await summarizeDatabase(app.owner)
    for (const [what, body, code] of bodies) {
      const request = { ...requestOf(route, {}, headersOf(name)), body: batchForm(body ?? '', []) }
      // a text of 8 kB is none of items, and one over 256 kB is not read
      expectRefusal(await send(request), route, what, code)
    }
    expect(await summarizeDatabase(app.owner)).toEqual(before)
  })

  test.each(withBody)('is refused by %s for its headers or its query', async name => {
    const route = routeOf(name)
    const request = requestOf(route, await validInput(name), headersOf(name))
    const before = await summarizeDatabase(app.owner)
    const cases: [string, RawRequest, ErrorCode][] = [
      ...[
        '',
        'text/plain',
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=x',
        'application/problem+json',
        'application/jsonx',
        'json',
        '*/*'
      ].map((type): [string, RawRequest, ErrorCode] => [
        type,
        { ...request, headers: { ...request.headers, 'content-type': type } },
        'unsupported_media_type'
      ]),
      ...['gzip', 'br', 'deflate', 'identity', 'x'].map(
        (coding): [string, RawRequest, ErrorCode] => [
          coding,
          { ...request, headers: { ...request.headers, 'content-encoding': coding } },
          'unsupported_media_type'
        ]
      ),
      ...['?x=1', '?x', '?email=ada@example.com', '?__proto__=1'].map(
        (query): [string, RawRequest, ErrorCode] => [
          query,
          { ...request, path: `${request.path}${query}` },
          'invalid_input'
        ]
      )
    ]
    const few = ['text/plain', 'gzip', '?x=1']
    for (const [what, bad, code] of cases) {
      if (!readers.has(name) && !few.includes(what)) continue
      expectRefusal(await send(bad), route, what, code)
    }
    expect(await summarizeDatabase(app.owner)).toEqual(before)
  })

  test('is refused over the real port without taking the service down', async () => {
    const port = await app.listen()
    const body = JSON.stringify({ name: 'x'.repeat(10_000_000) })
    const head = [
      'POST /deposit HTTP/1.1',
      'Host: api.acme.localhost',
      `Authorization: Bearer ${ada.token}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      '\r\n'
    ].join('\r\n')
    expect(await firstLine(port, head, body)).toBe('HTTP/1.1 413 Payload Too Large')
    expect((await app.request('api.acme.localhost', { path: '/healthz' })).status).toBe(200)
  })
})

describe('a script and a formula', () => {
  /** Returns a text that is both a formula of a spreadsheet and a script of a page. */
  const text = (nr: number) => `=1+1<script>canary(${nr})</script>`
  const reading = plain.filter(name => routeOf(name).method === 'GET' && name !== 'streamRequests')
  /** Names of the calls whose answers contained a text that `text()` had made. */
  const seen = new Set<string>()
  let sent = 0

  test.each(withBody)('are text in every field of %s that takes them', async name => {
    const route = routeOf(name)
    for (const field of pathsOf(await validInput(name))) {
      const input = changed(await validInput(name), field, text(sent++))
      if (!route.input.safeParse(input).success) continue
      expectInert(name, await send(requestOf(route, input, headersOf(name))))
    }
  })

  test.each(reading)('come back from %s as data', async name => {
    const route = routeOf(name)
    const optional = optionalPaths(route).flat()
    const given = Object.entries(await validInput(name))
    const input = Object.fromEntries(given.filter(([field]) => !optional.includes(field)))
    expectInert(name, await send(requestOf(route, input, headersOf(name))))
  })

  test('have come back from the exports and from lists', () => {
    const lists = ['listGroups', 'listUsers', 'listAuditEntries', 'listCompanyCategories']
    const exports = ['exportUsers', 'exportAuditEntries', 'exportRequests']
    expect([...seen]).toEqual(expect.arrayContaining([...lists, ...exports]))
  })

  /**
   * Expects that no browser executes the answer as a page or script, and that no spreadsheet
   * evaluates one of its cells.
   */
  function expectInert(name: string, { headers, body }: RawResponse): void {
    expect.soft(headers['x-content-type-options'], name).toBe('nosniff')
    const answer = body.toString()
    if (!answer.includes('canary(')) return
    seen.add(name)
    const type = headers['content-type'] ?? ''
    expect
      .soft(type, name)
      .toMatch(/^(application\/(problem\+|vnd\.vidimus\.receipt\+)?json|text\/csv)\b/)
    if (type.startsWith('text/csv')) expect.soft(answer, name).not.toMatch(/(^|[,\n])"?=/)
    else JSON.parse(answer)
  }
})

test.each(withBody)('%s without a body has no input but that of its path', async name => {
  const route = routeOf(name)
  if (route.kind === 'non-json') return
  const valid = await validInput(name)
  const inPath = pathParameters(route.path).map(field => [field, Object(valid)[field]])
  const needed = route.input.safeParse(Object.fromEntries(inPath))
  if (needed.success) return
  const { method, path, headers } = requestOf(route, valid, headersOf(name))
  const { 'content-type': _type, ...others } = headers ?? {}
  const before = await summarizeDatabase(app.owner)
  const answer = await send({ method, path, headers: others })
  expectRefusal(answer, route, 'no body', 'invalid_input')
  expect(await summarizeDatabase(app.owner)).toEqual(before)
})

test.each(plain)('%s has no other method', async name => {
  const { path } = requestOf(routeOf(name), await validInput(name))
  for (const method of ['PATCH', 'DELETE', 'PUT', 'POST', 'GET', 'TRACE', 'PROPFIND']) {
    const [plain = ''] = path.split('?')
    const isOne = Object.values(routes).some(
      route =>
        route.method === method &&
        new RegExp(`^${route.path.replace(/\{\w+\}/g, '[^/]+')}$`).test(plain)
    )
    if (isOne) continue
    const response = await app.request('api.acme.localhost', {
      method,
      path: plain,
      headers: { authorization: `Bearer ${ada.token}` }
    })
    expectRefusal(response, routeOf(name), method)
    if (response.status === 405)
      expect(response.headers.allow, method).toMatch(/GET|POST|PUT|DELETE/)
  }
})

describe('a deposit that cannot be', () => {
  const digest = 'ab'.repeat(32)
  const picture = { bytes: 500, w: 10, h: 10, type: 'image/jpeg' }
  const transform = { kind: 'image-recompress', quality: 70, tool: 'x', from: picture, to: picture }
  const good = {
    name: 'a.pdf',
    size: 500,
    media_type: 'application/pdf',
    original: digest,
    stored: digest
  }
  const other = 'cd'.repeat(32)
  test.each([
    ['of no bytes', { size: 0 }, 'file_empty'],
    ['over the limit', { size: maxUploadBytes + 1 }, 'too_large'],
    ['of nine petabytes', { size: 2 ** 53 - 1 }, 'too_large'],
    ['of a negative size', { size: -1 }, 'invalid_input'],
    ['of half a byte', { size: 0.5 }, 'invalid_input'],
    ['with two fingerprints of one file', { stored: other }, 'fingerprint_invalid'],
    [
      'with a transform of another size',
      { transform: { ...transform, to: { ...picture, bytes: 501 } } },
      'fingerprint_invalid'
    ],
    ['with a fingerprint of 63 digits', { original: digest.slice(1) }, 'invalid_input'],
    ['with a fingerprint of 65 digits', { original: `${digest}a` }, 'invalid_input'],
    ['with a fingerprint of letters', { original: 'xy'.repeat(32) }, 'invalid_input'],
    ['with a fingerprint and a line feed', { original: `${digest}\n` }, 'invalid_input'],
    ['with a prefix', { original: `sha256:${digest}` }, 'invalid_input'],
    ['with an MD5', { original: digest.slice(32), stored: digest.slice(32) }, 'invalid_input'],
    ['in an unknown category', { category: randomUUID() }, 'category_unknown'],
    ['with a name of 10,000 characters', { name: tooLong }, 'invalid_input'],
    ['with a name of 256 characters', { name: 'é'.repeat(256) }, 'invalid_input'],
    ['without a name', { name: '' }, 'invalid_input'],
    ['with a name of two lines', { name: 'a\r\nb.pdf' }, 'invalid_input'],
    ['with a name in another form', { name: 'e\u0301.pdf' }, 'invalid_input'],
    ['with a media type in capitals', { media_type: 'Application/PDF' }, 'invalid_input'],
    ['with a media type and a parameter', { media_type: 'text/html; charset=x' }, 'invalid_input'],
    ['with a media type that is none', { media_type: 'pdf' }, 'invalid_input'],
    ['with a header in its media type', { media_type: 'text/html\r\nx: y' }, 'invalid_input'],
    ['of another transform', { transform: { ...transform, kind: 'crop' } }, 'invalid_input'],
    ['of another quality', { transform: { ...transform, quality: 71 } }, 'invalid_input'],
    [
      'of a picture without width',
      { transform: { ...transform, from: { ...picture, w: 0 } } },
      'invalid_input'
    ]
  ] as const)('is refused: %s', async (_title, change, code) => {
    const before = await summarizeDatabase(app.owner)
    const input = { ...good, category: ada.category, ...change }
    const response = await send(requestOf(createDeposit, input, headersOf('createDeposit')))
    expectRefusal(response, createDeposit, code, code)
    expect(await summarizeDatabase(app.owner)).toEqual(before)
  })

  test.each([
    ['none', {}, 'idempotency_key_missing'],
    ['an empty one', { 'idempotency-key': '' }, 'invalid_input'],
    ['one of 256 characters', { 'idempotency-key': 'k'.repeat(256) }, 'invalid_input'],
    ['one with a space', { 'idempotency-key': 'a b' }, 'invalid_input'],
    ['one with an accent', { 'idempotency-key': 'é' }, 'invalid_input']
  ] as const)('is refused with %s as idempotency key', async (_title, headers, code) => {
    const before = await summarizeDatabase(app.owner)
    const input = { ...good, category: ada.category }
    const response = await send(requestOf(createDeposit, input, headers))
    expectRefusal(response, createDeposit, code, code)
    expect(await summarizeDatabase(app.owner)).toEqual(before)
  })

  test('is refused by quota, with figures and nothing held back', async () => {
    await using small = await makeApp({ limits: { max_requests: 1, max_storage: 1000 } })
    const bob = await small.signUp()
    await expect(small.reserve(bob, Buffer.alloc(1001))).rejects.toMatchObject({
      code: 'storage_limit_reached',
      figures: { used: 0, limit: 1000 }
    })
    const { usage_remaining } = await bob.call(getOwnAccount, {})
    expect(usage_remaining).toEqual({ requests: 1, storage: 1000 })
    await small.reserve(bob, Buffer.alloc(1000))
    const before = await summarizeDatabase(small.owner)
    await expect(small.reserve(bob, Buffer.alloc(1))).rejects.toMatchObject({
      code: 'request_limit_reached',
      figures: { used: 1, limit: 1, resets_at: null }
    })
    expect(await summarizeDatabase(small.owner)).toEqual(before)
  })
})

test.each(['abc', '-1', '1.5', '1e3', '0x1', '1234567890123456', '1,2', 'é'])(
  'a stream does not begin after "%s"',
  async id => {
    const response = await send(requestOf(routeOf('streamRequests'), {}, { 'last-event-id': id }))
    expectRefusal(response, routeOf('streamRequests'), id, 'invalid_input')
  }
)

describe('an upload out of form', () => {
  const patch = {
    'tus-resumable': '1.0.0',
    'upload-offset': '0',
    'content-type': 'application/offset+octet-stream'
  }
  const without = (name: keyof typeof patch) => ({ ...patch, [name]: '' })
  test.each<[string, Record<string, string>, ErrorCode]>([
    ['no protocol version', without('tus-resumable'), 'invalid_input'],
    ['another protocol version', { ...patch, 'tus-resumable': '0.2.2' }, 'invalid_input'],
    ['no offset', without('upload-offset'), 'invalid_input'],
    ['a negative offset', { ...patch, 'upload-offset': '-1' }, 'invalid_input'],
    ['half an offset', { ...patch, 'upload-offset': '0.5' }, 'invalid_input'],
    ['an offset that is none', { ...patch, 'upload-offset': 'x' }, 'invalid_input'],
    ['an offset with a sign', { ...patch, 'upload-offset': '+0' }, 'invalid_input'],
    ['an offset in hex', { ...patch, 'upload-offset': '0x0' }, 'invalid_input'],
    ['an offset ahead', { ...patch, 'upload-offset': '1' }, 'upload_offset'],
    ['an offset beyond the end', { ...patch, 'upload-offset': `${2 ** 53 - 1}` }, 'upload_offset'],
    [
      'an offset beyond numbers',
      { ...patch, 'upload-offset': '99999999999999999999' },
      'invalid_input'
    ],
    ['no content type', without('content-type'), 'unsupported_media_type'],
    [
      'another content type',
      { ...patch, 'content-type': 'application/pdf' },
      'unsupported_media_type'
    ],
    ['a compressed body', { ...patch, 'content-encoding': 'gzip' }, 'unsupported_media_type'],
    ['a length of its own', { ...patch, 'upload-length': '64' }, 'invalid_input'],
    ['a length that is none', { ...patch, 'upload-length': 'x' }, 'invalid_input'],
    ['a length to come', { ...patch, 'upload-defer-length': '1' }, 'invalid_input'],
    ['metadata', { ...patch, 'upload-metadata': 'filename' }, 'invalid_input'],
    ['parts', { ...patch, 'upload-concat': 'partial' }, 'invalid_input'],
    [
      'a forwarded protocol that is none',
      { ...patch, 'x-forwarded-proto': 'x', 'upload-offset': '1' },
      'upload_offset'
    ],
    [
      'a method inside',
      { ...patch, 'x-http-method-override': 'DELETE', 'upload-offset': '1' },
      'upload_offset'
    ]
  ])('is refused: %s', async (_title, given, code) => {
    const headers = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''))
    const before = await summarizeDatabase(app.owner)
    const response = await upload({ headers, body: uploadBytes })
    expectRefusal(response, routeOf('patchUpload'), code, code)
    expect(await offsetOf(things.upload)).toBe(0)
    expect(await summarizeDatabase(app.owner)).toEqual(before)
  })

  test.each([
    ['as declared', { 'content-length': '65' }],
    ['in chunks', { 'transfer-encoding': 'chunked' }]
  ] as const)('of one byte too many is refused %s', async (_title, length) => {
    const before = await summarizeDatabase(app.owner)
    const { upload: path } = await app.reserve(ada, uploadBytes, 'longer.pdf')
    const headers = { ...patch, ...length }
    const response = await upload({ path, headers, body: Buffer.alloc(65) })
    expectRefusal(response, routeOf('patchUpload'), 'one byte', 'too_large')
    const ended = await upload({ path, method: 'DELETE', headers: { 'tus-resumable': '1.0.0' } })
    expect(ended.status).toBe(204)
    const after = await summarizeDatabase(app.owner)
    for (const name of ['blob', 'deposit', 'log_leaf', 'usage used', 'usage reserved']) {
      expect(after[name], name).toBe(before[name])
    }
  })

  test.each(['HEAD', 'DELETE'])('is refused as %s without a protocol version', async method => {
    const response = await upload({ method, headers: {} })
    expect(response.status).toBe(400)
    if (method === 'DELETE')
      expectRefusal(response, routeOf('deleteUpload'), method, 'invalid_input')
    expect(await offsetOf(things.upload)).toBe(0)
  })

  test.each(['GET', 'POST', 'PUT', 'PROPFIND'])('is refused as %s', async method => {
    for (const path of [`/uploads/${things.upload}`, '/uploads', '/uploads/']) {
      const response = await upload({ method, path, headers: { ...patch, 'upload-length': '64' } })
      expectRefusal(response, routeOf('patchUpload'), `${method} ${path}`, 'method_not_allowed')
      expect(response.headers.allow).toBe('HEAD, PATCH, DELETE')
    }
  })

  test.each([
    '/uploads',
    '/uploads/',
    '/uploads/x',
    '/uploads/..',
    '/uploads/%2e%2e%2f%2e%2e',
    '/uploads/../../etc/passwd',
    '/uploads/AAAAAAAAAAAAAAAAAAAAA%00',
    '/uploads/AAAAAAAAAAAAAAAAAAAAAA/',
    '/uploads/AAAAAAAAAAAAAAAAAAAAAA/AAAAAAAAAAAAAAAAAAAAAA',
    `/uploads/${'A'.repeat(10_000)}`,
    '/uploads?id=AAAAAAAAAAAAAAAAAAAAAA'
  ])('names nothing as %s', async path => {
    for (const method of ['PATCH', 'DELETE']) {
      const headers = method === 'PATCH' ? patch : { 'tus-resumable': '1.0.0' }
      const response = await upload({ method, path, headers })
      expectRefusal(response, routeOf('patchUpload'), path, 'not_found')
    }
  })

  test('takes nothing any more once it is over', async () => {
    const { upload: path, request } = await app.reserve(ada, uploadBytes, 'over.pdf')
    await upload({ path, method: 'DELETE', headers: { 'tus-resumable': '1.0.0' } })
    for (const method of ['PATCH', 'DELETE']) {
      const response = await upload({ path, method, headers: patch })
      expectRefusal(response, routeOf('patchUpload'), method, 'cancelled')
    }
    const done = await app.deposit(ada, uploadBytes, 'whole.pdf')
    const { rows } = await app.owner.query('select id from upload where request_id = $1', [done.id])
    for (const method of ['PATCH', 'DELETE']) {
      const whole = { path: `/uploads/${rows[0].id}`, method, headers: patch }
      expectRefusal(await upload(whole), routeOf('patchUpload'), method, 'upload_state')
    }
    expect(request.state).toBe('uploading')
  })
})

describe('an upload that is cut', () => {
  const bytes = randomBytes(200_000)
  const random = createRandom(seed)
  // tests/api/deposits/cuts.test.ts has the places in between
  const offsets = [0, 1, bytes.length - 1, bytes.length]
  for (let more = 0; more < runCount(0, 50); more++)
    offsets.push(random.integer(0, bytes.length - 1))

  test(`goes on from where it stopped, at either end (SEED=${seed})`, async () => {
    const before = await summarizeDatabase(app.owner)
    const port = await app.listen()
    const logged = app.logged.length
    const finished: string[] = []
    for (const cut of offsets) finished.push(await depositCutAt(port, cut))

    const after = await summarizeDatabase(app.owner)
    const grown = (name: string) => Number(after[name]) - Number(before[name])
    const tables = ['request', 'upload', 'deposit', 'deposit_opening', 'log_leaf', 'lookup_tag']
    for (const name of tables) expect(grown(name), name).toBe(offsets.length)
    expect(new Set(finished).size).toBe(offsets.length)
    expect(grown('usage used')).toBe(offsets.length * (1 + bytes.length))
    expect(after['usage reserved']).toBe(before['usage reserved'])
    const left = await readdir(join(app.folder, 'documents/staging', app.companies[ada.host] ?? ''))
    // an upload that has got no byte yet has no file
    expect(left.filter(name => name !== things.upload)).toEqual([])
    const failures = app.logged.slice(logged).filter(({ level }) => level === 'error')
    expect(failures.map(({ facts }) => facts)).toEqual([])
  })

  test('leaves nothing and costs nothing when its person gives up', async () => {
    const before = await summarizeDatabase(app.owner)
    const port = await app.listen()
    for (const cut of [0, 1, 77_777, bytes.length - 1]) {
      const { upload: path } = await app.reserve(ada, bytes, 'cut.pdf')
      await sendAndCut(port, path, bytes, cut)
      const ended = await upload({ path, method: 'DELETE', headers: { 'tus-resumable': '1.0.0' } })
      expect(ended.status, `${cut}`).toBe(204)
    }
    const after = await summarizeDatabase(app.owner)
    const kept = ['blob', 'deposit', 'log_leaf', 'lookup_tag', 'usage used', 'usage reserved']
    for (const name of kept) expect(after[name], name).toBe(before[name])
  })

  /**
   * Uploads a file whose connection breaks after `cut` bytes, and resumes the upload. Returns the
   * id of the deposit.
   */
  async function depositCutAt(port: number, cut: number): Promise<string> {
    const { request, upload: path } = await app.reserve(ada, bytes, `cut-${cut}.pdf`)
    await sendAndCut(port, path, bytes, cut)
    for (let tries = 0; ; tries++) {
      const offset = await offsetOf(path.slice('/uploads/'.length))
      expect(offset).toBeLessThanOrEqual(cut)
      if (offset === bytes.length) break
      const { status } = await app.patch(ada, path, bytes.subarray(offset), offset)
      if (status === 204) break
      // the rest of the cut request was still being written: ask again
      expect(status, `resumed at ${offset} of ${cut}`).toBe(409)
      expect(tries, 'tries').toBeLessThan(20)
      await sleep(20)
    }
    const done = await app.until(ada, request.id, ['done', 'failed'])
    expect(done.state, `cut at ${cut}`).toBe('done')
    const { stored } = await ada.call(getDeposit, { id: done.deposit_id ?? '' })
    expect(stored).toBe(createHash('sha256').update(bytes).digest('hex'))
    return done.deposit_id ?? ''
  }
})

test('every rule that refused a field has its words in both languages', () => {
  expect(rules.size).toBeGreaterThan(6)
  for (const rule of rules) {
    expect(en, rule).toHaveProperty(rule)
    expect(fr, rule).toHaveProperty(rule)
  }
})

test('nothing failed on our side', () => {
  const failures = app.logged.filter(({ level }) => level === 'error')
  expect(failures.map(({ facts, text }) => [text, facts])).toEqual([])
})

async function validInput(name: string): Promise<Record<string, unknown>> {
  const row = routeCaseOf(name)
  const input: Record<string, unknown> = { ...(await row.input?.(app, ada)) }
  for (const [field, thing] of Object.entries(row.ids ?? {})) input[field] = things[thing]
  return input
}

function headersOf(name: string): Record<string, string> {
  return routeCaseOf(name).headers?.(app, ada) ?? {}
}

/** Passes a request by Ada to the app, without a socket. */
async function send({ method, path = '/', headers, body }: RawRequest): Promise<RawResponse> {
  const request = new Request(new URL(path, 'http://api.acme.localhost'), {
    ...(method === undefined ? {} : { method }),
    headers: { authorization: `Bearer ${ada.token}`, ...headers },
    ...(body === undefined ? {} : { body: Buffer.from(body) })
  })
  return received(await app.fetch(request))
}

async function received(response: Response): Promise<RawResponse> {
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: Buffer.from(await response.arrayBuffer())
  }
}

/** Sends a request for Ada's unfinished upload to the real port. */
function upload({
  method = 'PATCH',
  path = `/uploads/${things.upload}`,
  headers,
  body
}: RawRequest) {
  return app.request('api.acme.localhost', {
    method,
    path,
    headers: { authorization: `Bearer ${ada.token}`, ...headers },
    ...(body === undefined ? {} : { body })
  })
}

async function offsetOf(id: string): Promise<number> {
  const headers = { 'tus-resumable': '1.0.0' }
  const { status, headers: told } = await upload({
    method: 'HEAD',
    path: `/uploads/${id}`,
    headers
  })
  expect(status).toBe(200)
  return Number(told['upload-offset'])
}

const insides =
  /node_modules|\.ts\b|\bat \w+ \(|\bselect\b.*\bfrom\b|insert into|\bpg_|\brelation\b|violates|syntax error|constraint|ECONN|ENOENT|Error:|\/tmp\/|zod/i

/**
 * Expects an error answer: a problem document with a code that the route lists and without internal
 * details such as SQL.
 */
function expectRefusal(
  response: RawResponse,
  route: Endpoint | NonJsonEndpoint,
  what: string,
  expected?: ErrorCode
): void {
  const where = `${route.method} ${route.path}: ${what.slice(0, 80)}`
  const code = errorCodeOf(response)
  const text = response.body.toString()
  expect.soft(response.status, where).toBeGreaterThanOrEqual(400)
  expect.soft(response.status, where).toBeLessThan(500)
  expect.soft(possibleErrorCodesOf(route), where).toContain(code)
  if (expected) expect.soft(code, where).toBe(expected)
  if (code === undefined) return
  const { status, type, title, detail, fields = {} } = JSON.parse(text)
  expect.soft({ status, type }, where).toEqual({ status: errorCodes[code], type: 'about:blank' })
  expect.soft(typeof title === 'string' && typeof detail === 'string', where).toBe(true)
  expect.soft(`${title} ${detail}`, where).not.toMatch(insides)
  for (const [name, field] of Object.entries(fields)) {
    expect.soft(field, `${where}: ${name}`).toMatchObject({ detail: expect.stringMatching(/\w/) })
  }
  for (const [field, { rule }] of Object.entries<{ rule: string }>(fields)) {
    // a body or header that is none is no field of a form
    if (!field.startsWith('(') && !field.includes('-')) rules.add(rule)
  }
}

/** Returns the paths to all values: `{ a: [{ b: 1 }] }` → `[['a'], ['a', 0], ['a', 0, 'b']]` */
function pathsOf(value: unknown, at: (string | number)[] = []): (string | number)[][] {
  const here = at.length > 0 ? [at] : []
  if (typeof value !== 'object' || value === null) return here
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value)
  return [...here, ...entries.flatMap(([key, inner]) => pathsOf(inner, [...at, key]))]
}

function objectsOf(value: Record<string, unknown>): (string | number)[][] {
  const isObject = (path: (string | number)[]) => {
    const found = path.reduce<unknown>(
      (inner, key) => (inner as Record<string, unknown>)[key],
      value
    )
    return typeof found === 'object' && found !== null && !Array.isArray(found)
  }
  return [[], ...pathsOf(value).filter(isObject)]
}

const same = (one: (string | number)[], other: (string | number)[]) => one.join() === other.join()

/** Returns how many bytes the body of a call may have. */
function maxBytesOf(route: Endpoint | NonJsonEndpoint): number {
  return (route.kind === 'endpoint' && route.maxBytes) || 256 * 1024
}

function optionalPaths(route: Endpoint | NonJsonEndpoint): (string | number)[][] {
  interface Node {
    properties?: Record<string, Node>
    required?: string[]
    items?: Node
  }
  const walk = (node: Node, at: (string | number)[]): (string | number)[][] => [
    ...Object.entries(node.properties ?? {}).flatMap(([name, inner]) => [
      ...(node.required?.includes(name) ? [] : [[...at, name]]),
      ...walk(inner, [...at, name])
    ]),
    ...(node.items ? walk(node.items, [...at, 0]) : [])
  ]
  // as: JSON Schema of the parts that our inputs are made of
  return walk(z.toJSONSchema(route.input, { io: 'input', unrepresentable: 'any' }) as Node, [])
}

/**
 * Returns a copy of an input with another value at a path. Without the field if the value is
 * `undefined`.
 */
function changed(
  input: Record<string, unknown>,
  path: (string | number)[],
  value: unknown
): Record<string, unknown> {
  const copy = structuredClone(input)
  const last = path.at(-1) ?? ''
  const parent = path
    .slice(0, -1)
    .reduce((inner, key) => inner[key] as Record<string, unknown>, copy as Record<string, unknown>)
  if (value === undefined) delete parent[last]
  else parent[last] = value
  return copy
}

function bodyOf(route: Endpoint | NonJsonEndpoint, input: Record<string, unknown>) {
  const parameters = pathParameters(route.path)
  return Object.fromEntries(Object.entries(input).filter(([name]) => !parameters.includes(name)))
}

/**
 * Adds a field to an object inside JSON. Works on the text, because `__proto__` is no ordinary key
 * of an object.
 */
function withKey(json: string, place: (string | number)[], key: string): string {
  const mark = 'MARK'
  const marked = changed(JSON.parse(json), [...place, mark], 1)
  return JSON.stringify(marked).replace(`"${mark}":1`, `${JSON.stringify(key)}:1`)
}

function endlessBody() {
  let sent = 0
  const chunk = Buffer.alloc(64 * 1024, ' ')
  const stream = new ReadableStream({
    pull(controller) {
      sent += chunk.length
      controller.enqueue(new Uint8Array(chunk))
    }
  })
  return { stream, sent: () => sent }
}

function firstLine(port: number, head: string, body: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(head)
      socket.write(body)
    })
    socket.once('data', chunk => {
      resolve(String(chunk).split('\r\n')[0] ?? '')
      socket.destroy()
    })
    socket.once('error', reject)
  })
}

/** Sends a PATCH of all bytes and breaks the connection after `cut` of them. */
function sendAndCut(port: number, path: string, bytes: Uint8Array, cut: number): Promise<void> {
  const head = [
    `PATCH ${path} HTTP/1.1`,
    'Host: api.acme.localhost',
    `Authorization: Bearer ${ada.token}`,
    'Tus-Resumable: 1.0.0',
    'Upload-Offset: 0',
    'Content-Type: application/offset+octet-stream',
    `Content-Length: ${bytes.length}`,
    '\r\n'
  ].join('\r\n')
  return new Promise(resolve => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(head)
      socket.write(bytes.subarray(0, cut), () => socket.destroy())
    })
    socket.on('error', () => undefined)
    socket.once('close', () => resolve())
  })
}
