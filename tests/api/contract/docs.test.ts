import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { errorCodes } from '../../../src/contract/kit/errors.ts'
import {
  createOpenApiDocument,
  errorCodesFromServer,
  errorCodesOf,
  nonJsonHttpDetails
} from '../../../src/contract/openapi/openapi.ts'
import fr from '../../../src/i18n/fr/docs.json' with { type: 'json' }
import { makeApp, type RawResponse, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { requestOf } from '../../helpers/cases.ts'
import {
  isUploadRoute,
  makeOperators,
  makeThings,
  makeThingToUseUp,
  routeCaseOf,
  routeOf,
  routes,
  usedUpIdFieldOf
} from '../../helpers/matrix.ts'

interface Operation {
  operationId: string
  summary: string
  responses: Record<string, { content?: Record<string, { schema?: object; example?: unknown }> }>
}
type Paths = Record<string, Record<string, Operation>>

const names = Object.keys(routes)
let app: TestApp
let document: Record<string, unknown>
let ajv: Ajv2020
let ada: TestPerson
let things: Awaited<ReturnType<typeof makeThings>>
beforeAll(async () => {
  app = await makeApp()
  ada = await app.signUp()
  things = await makeThings(app, ada, 'described')
  document = await readDocument('acme.localhost')
  ajv = new Ajv2020({ strict: false })
  formats.default(ajv)
  ajv.addSchema(document, 'api')
})
afterAll(() => app[Symbol.asyncDispose]())

test('is an OpenAPI 3.1 document', async () => {
  const result = await new Validator().validate(structuredClone(document))
  expect(result).toEqual({ valid: true })
  expect(document).toMatchObject({ openapi: '3.1.1' })
})

test('is the same on every host, and means the one that was asked', async () => {
  expect(await readDocument('beta.localhost')).toEqual(document)
  expect(document).toMatchObject({ info: { title: 'API' }, servers: [{ url: '/' }] })
  expect(JSON.stringify(document)).not.toContain('acme.localhost')
})

test('is sent compressed, and not again to who has it', async () => {
  const read = (headers: Record<string, string>) =>
    app.request('api.acme.localhost', { path: '/openapi.json', headers })
  const plain = await read({})
  const unpackers = { br: brotliDecompressSync, gzip: gunzipSync }
  for (const [encoding, unpack] of Object.entries(unpackers)) {
    const small = await read({ 'accept-encoding': encoding })
    expect(small.headers).toMatchObject({
      'content-encoding': encoding,
      vary: expect.stringMatching(/Accept-Encoding/)
    })
    expect(small.body.length).toBeLessThan(plain.body.length / 5)
    expect(unpack(small.body).equals(plain.body)).toBe(true)
  }
  const again = await read({ 'if-none-match': String(plain.headers['etag']) })
  expect([again.status, again.body.length]).toEqual([304, 0])
})

test('holds every call once, with a sentence, and every reference leads somewhere', () => {
  const operations = Object.values(pathsOf(document)).flatMap(Object.values<Operation>)
  expect(operations.map(({ operationId }) => operationId).sort()).toEqual(names.toSorted())
  for (const { operationId, summary } of operations) {
    expect(summary, `the JSDoc of ${operationId} in src/contract`).toMatch(/^[A-Z].*\.$/)
    const place = 'a sentence under calls in src/i18n/fr/docs.json'
    expect(Object.keys(fr.calls), place).toContain(operationId)
  }
  for (const [, reference] of JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)) {
    expect(document).toHaveProperty((reference ?? '').split('/'))
  }
})

test('says what the bytes and headers of each stream are', () => {
  const described = names.filter(name => routeOf(name).kind === 'non-json')
  const place = 'nonJsonHttpDetails in src/contract/openapi/openapi.ts'
  expect(Object.keys(nonJsonHttpDetails).sort(), place).toEqual(described.sort())
})

test('lists for each call the codes it may answer, by their status', () => {
  for (const name of names) {
    const { responses } = operationOf(name)
    for (const code of errorCodesOf(routeOf(name))) {
      expect(responses[String(errorCodes[code])], `${name} ${code}`).toMatchObject({
        description: expect.stringContaining(code)
      })
    }
  }
  const listed = new Set(names.flatMap(name => errorCodesOf(routeOf(name))))
  // told where there is no call: a wrong method, bytes that are no request, bytes that turned out
  // others, a disk that failed
  const elsewhere = [
    'method_not_allowed',
    'malformed_request',
    'request_timeout',
    'headers_too_large',
    'transfer_corrupt',
    'not_stored',
    'held'
  ]
  expect(
    errorCodesFromServer.filter(code => !listed.has(code) && !elsewhere.includes(code))
  ).toEqual([])
})

test('writes an address that leads people to the page', async () => {
  const answer = await app.request('api.acme.localhost', { path: '/docs' })
  expect(answer.status).toBe(302)
  expect(answer.headers['location']).toBe('http://acme.localhost/docs')
})

test.each(names)('%s answers what its description says, good and bad', async name => {
  // a case of the groups makes one with a low limit the default
  await app.owner.query('update "group" set max_requests = null')
  const row = routeCaseOf(name)
  const { ids = {}, input, headers, body, ownRefusal } = row
  const isSpent = row.spends === 'person' || row.spends === 'session'
  const person = isSpent ? await app.signUp() : ada
  await makeOperators(app.owner)
  const good: Record<string, unknown> = { ...(await input?.(app, person)) }
  for (const [field, thing] of Object.entries(ids)) good[field] = things[thing]
  if (ownRefusal) good['id'] = app.companies['beta.localhost']
  const spent = usedUpIdFieldOf(row)
  if (spent) good[spent] = await makeThingToUseUp(app, row, person)
  const authorization = `Bearer ${person.token}`
  const send = (values: Record<string, unknown>, more: Record<string, string>) =>
    app.request(
      `api.${person.host}`,
      requestOf(routeOf(name), values, { ...headers?.(app, person), ...more }, body)
    )
  const refused = [await send(good, { authorization: 'Bearer x.y.z' })]
  // tus knows no fields
  if (!isUploadRoute(routeOf(name))) {
    refused.push(await send({ ...good, surplus: '1' }, { authorization }))
  }
  if (routeOf(name).access !== 'public') refused.push(await send(good, {}))
  for (const answer of refused) {
    expect(answer.status, name).toBeGreaterThanOrEqual(400)
    expectDescribed(name, answer)
  }
  // each call above has made one, and a company may have few at a time
  if (name === 'createImport') {
    const kept = [things.import, things['checked import'], things['done import']]
    await app.owner.query('delete from import_row where import_id <> all ($1)', [kept])
    await app.owner.query('delete from import where id <> all ($1)', [kept])
  }
  const answer = await send(good, { authorization })
  expect(answer.status, answer.body.toString()).toBeLessThan(400)
  expectDescribed(name, answer)
})

test('has an example of each answer in JSON, which its own schema allows', () => {
  const described = names.flatMap(name =>
    Object.entries(operationOf(name).responses)
      .filter(([status]) => Number(status) < 400)
      .map(([status, { content = {} }]) => ({ name, status, media: content['application/json'] }))
  )
  const inJson = described.filter(({ media }) => media?.schema !== undefined)
  expect(inJson.length).toBeGreaterThan(25)
  for (const { name, status, media } of inJson) {
    const validate = validatorOf(media?.schema, pointerTo(name, status, 'application/json'))
    const place = `${name} ${status}: samples in src/contract/openapi/schema-examples.ts`
    expect(validate(media?.example), `${place} ${JSON.stringify(validate.errors)}`).toBe(true)
  }
})

test('is the same for the same contract', () => {
  const options = { title: 'A', sentenceOf: (name: string) => name }
  expect(createOpenApiDocument(options)).toEqual(createOpenApiDocument(options))
})

function pathsOf(of: Record<string, unknown>): Paths {
  return of['paths'] as Paths // as: the test of the whole form is the first one
}

function operationOf(name: string): Operation {
  const { path, method } = routeOf(name)
  const found = pathsOf(document)[path]?.[method.toLowerCase()]
  if (!found) throw new Error(`${name} is not described`)
  return found
}

/**
 * Expects that the OpenAPI document describes the status, the media type and the body of an answer.
 */
function expectDescribed(name: string, { status, headers, body }: RawResponse): void {
  const described = operationOf(name).responses[String(status)]
  expect(described, `${name} ${status} ${body}`).toBeDefined()
  const type = (headers['content-type'] ?? '').split(';')[0] ?? ''
  const content = described?.content ?? {}
  if (body.length === 0 && status < 400) return
  if (routeOf(name).method === 'HEAD') return
  const isBytes = Object.keys(content).includes('application/octet-stream')
  if (isBytes && status < 400) return
  expect(Object.keys(content), `${name} ${status}`).toContain(type)
  if (type.startsWith('text/')) return
  const validate = validatorOf(content[type]?.schema, pointerTo(name, status, type))
  expect(validate(JSON.parse(body.toString())), JSON.stringify(validate.errors)).toBe(true)
}

/** Compiles each schema once, because many answers have the same one. */
const validators = new Map<string, ValidateFunction>()

function validatorOf(schema: object | undefined, pointer: string): ValidateFunction {
  const text = JSON.stringify(schema)
  const validate = validators.get(text) ?? ajv.compile({ $ref: `api#/${pointer}` })
  validators.set(text, validate)
  return validate
}

/** Returns the JSON pointer of the schema of an answer in the OpenAPI document. */
function pointerTo(name: string, status: number | string, type: string): string {
  const { path, method } = routeOf(name)
  const pointer = [
    'paths',
    path,
    method.toLowerCase(),
    'responses',
    String(status),
    'content',
    type
  ]
  const place = pointer.map(part => part.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')
  return `${encodeURI(place)}/schema`
}

async function readDocument(host: string): Promise<Record<string, unknown>> {
  const { body } = await app.request(`api.${host}`, { path: '/openapi.json' })
  return JSON.parse(body.toString())
}
