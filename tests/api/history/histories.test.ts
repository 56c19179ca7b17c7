import { createHash, randomBytes, randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { listAllowedCategories } from '../../../src/contract/categories.ts'
import { createContentLink, createDeposit, getDeposit } from '../../../src/contract/deposits.ts'
import { getDomainConfig, updateDomain } from '../../../src/contract/domains.ts'
import { exportOwnData } from '../../../src/contract/exports.ts'
import { errorFromResponse } from '../../../src/contract/kit/call.ts'
import { AppError } from '../../../src/contract/kit/errors.ts'
import { getRequest, listRequests } from '../../../src/contract/requests.ts'
import {
  endSession,
  getChallenge,
  listSessions,
  logIn,
  logOut
} from '../../../src/contract/sessions.ts'
import { changePassword, getOwnAccount } from '../../../src/contract/users.ts'
import { verify } from '../../../src/contract/verifications.ts'
import { makeApp, type TestApp } from '../../helpers/app.ts'
import { domainIdOf } from '../../helpers/cases.ts'
import { makeKeys, type TestKeys } from '../../helpers/keys.ts'
import { sessionIdOf } from '../../helpers/matrix.ts'
import { runCount, seed, testTimeout } from '../../helpers/soak.ts'

// B-03

const hosts = ['acme.localhost', 'beta.localhost', 'gamma.localhost'] as const
// a few long histories, because the six people of each cost as much as its first thirty calls
const runs = runCount(9, 6_700)
const length = 90

interface Company {
  name: string
  host: string
  domain: string
  /**
   * Ids of the company's two categories. Everybody can verify the documents of `file`, and only
   * people of the company can verify those of `fingerprint`, which stores no files.
   */
  categories: { file: string; fingerprint: string }
  title: string
}

interface Person {
  company: Company
  id: string
  email: string
  keys: TestKeys
  oldKeys: TestKeys
  admin: boolean
  sessions: { token: string; live: boolean }[]
  requests: string[]
}

interface Document {
  owner: Person
  store: 'file' | 'fingerprint'
  bytes: Buffer
  request: string
  record: string
}

interface Upload {
  owner: Person
  path: string
  open: boolean
}

let app: TestApp
let companies: Company[]
beforeAll(async () => {
  app = await makeApp()
  await app.addCompany('Gamma', 'gamma.localhost')
  companies = await Promise.all(hosts.map(describeCompany))
})
afterAll(() => app[Symbol.asyncDispose]())

/** What people can do, each with its relative frequency. */
const acts = {
  'sign up': 2,
  'sign in': 3,
  'sign in with the old password': 1,
  deposit: 4,
  'deposit a fingerprint': 3,
  'open an upload': 3,
  'look at an upload': 6,
  'cancel an upload': 4,
  verify: 4,
  'verify signed out': 2,
  'read the history': 3,
  'read a request': 5,
  'read a deposit': 5,
  'fetch a document': 4,
  'list categories': 1,
  'list sessions': 2,
  'end a session': 3,
  'sign out': 1,
  'sign out everywhere': 1,
  'change the password': 1,
  'change a title': 2,
  'read a title': 2,
  'read oneself': 2,
  'take one’s data along': 2
}
type ActName = keyof typeof acts

interface Step {
  act: ActName
  /** Indexes of the person and of the thing, modulo the number of existing ones. */
  person: number
  thing: number
  /**
   * Index of the session among all sessions of the person. `null`: the newest session that has not
   * ended.
   */
  session: number | null
  /**
   * Which company's API is called (`away`), and which company's ids are sent (`foreign`), counted
   * from the person's own company. 0: the person's own company.
   */
  away: number
  foreign: number
}

const far = fc.oneof(
  { weight: 4, arbitrary: fc.constant(0) },
  { weight: 1, arbitrary: fc.constantFrom(1, 2) }
)
const step: fc.Arbitrary<Step> = fc.record({
  act: fc.oneof(
    ...Object.entries(acts).map(([act, weight]) => ({
      weight,
      arbitrary: fc.constant(act as ActName) // as: a key of the object
    }))
  ),
  person: fc.nat({ max: 20 }),
  session: fc.option(fc.nat({ max: 5 }), { freq: 2 }),
  thing: fc.nat({ max: 50 }),
  away: far,
  foreign: far
})

test(
  `shows each of three companies’ people what a model says, and nothing else (SEED=${seed})`,
  async () => {
    const seen = new Map<string, number>()
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: length, maxLength: length, size: 'max' }),
        async steps => {
          const world: World = { people: [], documents: [], uploads: [] }
          for (const company of [...companies, ...companies]) await signUp(world, company)
          for (const each of steps) {
            const played = await play(world, each)
            if (!played) continue
            const { actual, expected } = played
            expect(actual, each.act).toEqual(expected)
            const name = `${each.act}: ${typeof expected === 'string' ? expected : 'shown'}`
            seen.set(name, (seen.get(name) ?? 0) + 1)
          }
        }
      ),
      { numRuns: runs, endOnFailure: true }
    )
    // each act has succeeded, and everything of others has been asked for
    for (const act of Object.keys(acts)) {
      const wanted = act === 'sign in with the old password' ? 'login_failed' : 'shown'
      expect(seen.get(`${act}: ${wanted}`), act).toBeGreaterThan(0)
    }
    for (const act of ['read a request', 'read a deposit', 'fetch a document', 'end a session']) {
      expect(seen.get(`${act}: not_found`), act).toBeGreaterThan(0)
    }
    expect(seen.get('deposit: category_unknown')).toBeGreaterThan(0)
    expect(seen.get('change a title: forbidden')).toBeGreaterThan(0)
    expect(seen.get('change a title: not_found')).toBeGreaterThan(0)
  },
  testTimeout(240_000)
)

interface World {
  people: Person[]
  documents: Document[]
  uploads: Upload[]
}

/** What a call returned, or the error code with which it was refused. */
type Outcome = { shown: unknown } | string

/** Makes one call. Returns its actual outcome and the outcome that the model expects. */
async function play(
  world: World,
  { act, ...at }: Step
): Promise<{ actual: Outcome; expected: Outcome } | undefined> {
  const person = pick(world.people, at.person)
  const { sessions } = person
  const newest = sessions.findLast(each => each.live) ?? pick(sessions, 0)
  const session = at.session === null ? newest : pick(sessions, at.session)
  const place = other(person.company, at.away)
  const { host } = place
  const asked = other(person.company, at.foreign)
  const options = { token: session.token }
  const isIn = session.live && place === person.company
  /**
   * Returns the expected outcome: `unauthenticated` for a stranger, `not_found` for a person who
   * may not see the thing (`may`), otherwise `value`.
   */
  const told = (value: unknown, may = true): Outcome =>
    isIn ? (may ? { shown: value } : 'not_found') : 'unauthenticated'

  switch (act) {
    case 'sign up': {
      if (world.people.length >= 12) return undefined
      const { id } = await signUp(world, place)
      return { actual: { shown: id.length }, expected: { shown: randomUUID().length } }
    }
    case 'sign in':
    case 'sign in with the old password': {
      const keys = act === 'sign in' ? person.keys : person.oldKeys
      const { email } = person
      const { challenge } = await app.call(host, getChallenge, { email })
      const input = { email, challenge_response: keys.respond(challenge) }
      const actual = await outcome(app.call(host, logIn, input), ({ access_token }) => {
        person.sessions.push({ token: access_token, live: true })
      })
      const may = place === person.company && keys === person.keys
      return { actual, expected: may ? { shown: undefined } : 'login_failed' }
    }
    case 'deposit':
    case 'deposit a fingerprint': {
      const store = act === 'deposit' ? 'file' : 'fingerprint'
      // long enough that no two are the same
      const bytes = randomBytes(at.thing + 16)
      const actual = await outcome(open(host, session.token, asked.categories[store], bytes))
      const expected = isIn && asked !== person.company ? 'category_unknown' : told(undefined)
      if (typeof actual === 'string') return { actual, expected }
      const { request, path } = actual.shown
      person.requests.push(request)
      if (path) await send(person, session.token, path, bytes)
      const { deposit_id = '' } = await app.call(host, getRequest, { id: request }, options)
      world.documents.push({ owner: person, store, bytes, request, record: deposit_id })
      return { actual: { shown: undefined }, expected }
    }
    case 'open an upload': {
      const { file } = person.company.categories
      const opening = open(host, session.token, file, randomBytes(9))
      const actual = await outcome(opening, ({ request, path = '' }) => {
        person.requests.push(request)
        world.uploads.push({ owner: person, path, open: true })
      })
      return { actual, expected: told(undefined) }
    }
    case 'look at an upload':
    case 'cancel an upload': {
      const upload = maybePick(world.uploads, at.thing)
      if (!upload) return undefined
      const method = act === 'look at an upload' ? 'HEAD' : 'DELETE'
      const { status } = await tus(host, session.token, method, upload.path)
      const isMine = upload.owner === person
      const success = method === 'HEAD' ? 200 : 204
      const mine = told(success, isMine)
      const expected = isIn && isMine && !upload.open ? 'cancelled' : mine
      if (method === 'DELETE' && typeof expected === 'object') upload.open = false
      // of a HEAD the status is all there is
      const code = Object.entries({ unauthenticated: 401, not_found: 404, cancelled: 409 })
      const refused = code.find(([, each]) => each === status)?.[0]
      return { actual: refused ?? { shown: status }, expected }
    }
    case 'verify':
    case 'verify signed out': {
      const document = maybePick(world.documents, at.thing)
      if (!document) return undefined
      const isStranger = act === 'verify signed out'
      const asking = app.call(
        host,
        verify,
        { items: [{ sha256: sha256(document.bytes) }] },
        isStranger ? {} : options
      )
      const actual = await outcome(asking, ({ items, request_id }) => {
        if (request_id) person.requests.push(request_id)
        return items.map(({ verdict, company, findings }) => [verdict, company, findings.length])
      })
      const isShown = document.owner.company === place && (!isStranger || document.store === 'file')
      const answers = [[isShown ? 'authentic' : 'not_found', place.name, isShown ? 1 : 0]]
      return { actual, expected: isStranger ? { shown: answers } : told(answers) }
    }
    case 'read the history': {
      const listing = app.call(host, listRequests, { limit: 200 }, options)
      return { actual: await outcome(listing, idsOf), expected: told(person.requests.toSorted()) }
    }
    case 'read a request': {
      const owner = pick(world.people, at.thing)
      const id = maybePick(owner.requests, at.foreign + (at.session ?? 0))
      if (id === undefined) return undefined
      const reading = app.call(host, getRequest, { id }, options)
      const actual = await outcome(reading, request => request.id)
      return { actual, expected: told(id, owner === person) }
    }
    case 'read a deposit': {
      const document = maybePick(world.documents, at.thing)
      if (!document) return undefined
      const reading = app.call(host, getDeposit, { id: document.record }, options)
      const actual = await outcome(reading, deposit => deposit.original)
      return { actual, expected: told(sha256(document.bytes), document.owner === person) }
    }
    case 'fetch a document': {
      const document = maybePick(world.documents, at.thing)
      if (!document) return undefined
      const fetching = fetchContent(host, session.token, document.record)
      const may = document.owner === person && document.store === 'file'
      return {
        actual: await outcome(fetching),
        expected: told(document.bytes.toString('hex'), may)
      }
    }
    case 'list categories': {
      const listing = app.call(host, listAllowedCategories, {}, options)
      const ids = Object.values(place.categories).sort()
      return { actual: await outcome(listing, idsOf), expected: told(ids) }
    }
    case 'list sessions': {
      const listing = app.call(host, listSessions, {}, options)
      const live = person.sessions.filter(each => each.live).map(each => sessionIdOf(each.token))
      return { actual: await outcome(listing, idsOf), expected: told(live.sort()) }
    }
    case 'end a session': {
      const owner = pick(world.people, at.thing)
      const ended = pick(owner.sessions, at.foreign + (at.session ?? 0))
      const id = sessionIdOf(ended.token)
      const actual = await outcome(app.call(host, endSession, { id }, options))
      const expected = told(undefined, owner === person && ended.live)
      if (typeof expected === 'object') ended.live = false
      return { actual, expected }
    }
    case 'sign out':
    case 'sign out everywhere': {
      const all = act === 'sign out everywhere'
      const actual = await outcome(app.call(host, logOut, { all }, options))
      const expected = told(undefined)
      if (isIn) for (const each of all ? person.sessions : [session]) each.live = false
      return { actual, expected }
    }
    case 'change the password': {
      const keys = makeKeys()
      const actual = await outcome(rekey(host, session.token, person, keys))
      const expected = told(undefined)
      if (isIn) {
        person.oldKeys = person.keys
        person.keys = keys
        for (const each of person.sessions) each.live = each === session
      }
      return { actual, expected }
    }
    case 'change a title': {
      const title = `Title ${randomUUID()}`
      const changing = app.call(host, updateDomain, { id: asked.domain, title }, options)
      const actual = await outcome(changing, config => config.title)
      const expected = isIn && !person.admin ? 'forbidden' : told(title, asked === person.company)
      if (typeof expected === 'object') asked.title = title
      return { actual, expected }
    }
    case 'read a title': {
      const reading = app.call(host, getDomainConfig, { domain: asked.host }, {})
      const actual = await outcome(reading, config => config.title)
      return { actual, expected: asked === place ? { shown: place.title } : 'unknown_domain' }
    }
    case 'take one’s data along': {
      const reading = app.call(host, exportOwnData, {}, options)
      const actual = await outcome(reading, ({ account, sessions, requests }) => [
        account.id,
        idsOf(sessions),
        idsOf(requests)
      ])
      const live = person.sessions.filter(each => each.live).map(each => sessionIdOf(each.token))
      return { actual, expected: told([person.id, live.sort(), person.requests.toSorted()]) }
    }
    case 'read oneself': {
      const reading = app.call(host, getOwnAccount, {}, options)
      const actual = await outcome(reading, user => [user.id, user.email, user.company.name])
      return { actual, expected: told([person.id, person.email, person.company.name]) }
    }
  }
}

async function outcome<T>(work: Promise<T>): Promise<{ shown: T } | string>
async function outcome<T, U>(work: Promise<T>, see: (value: T) => U): Promise<{ shown: U } | string>
async function outcome(work: Promise<unknown>, see = (value: unknown) => value) {
  try {
    return { shown: see(await work) }
  } catch (error) {
    if (error instanceof AppError) return error.code
    throw error
  }
}

async function describeCompany(host: string): Promise<Company> {
  const { rows } = await app.owner.query(
    `select d.company_id, c.name, d.title from domain d join company c on c.id = d.company_id
      where d.host = $1`,
    [host]
  )
  const [{ company_id, name, title }] = rows
  const fingerprint = randomUUID()
  await app.owner.query(
    `insert into category (company_id, id, names, visibility, created_at, store)
     values ($1, $2, '{"en": "Seals", "fr": "Sceaux"}', 'private', now(), 'fingerprint')`,
    [company_id, fingerprint]
  )
  // As in an installation that is older than the rule for groups that strangers join.
  await app.owner.query('alter table group_category disable trigger keep_default_group_public')
  const { rows: grants } = await app.owner.query(
    `insert into group_category (company_id, group_id, category_id)
     select company_id, group_id, $2 from group_category where company_id = $1
     returning (select category_id from group_category where company_id = $1) as file`,
    [company_id, fingerprint]
  )
  const categories = { file: grants[0].file, fingerprint }
  return { name, host, domain: await domainIdOf(app.owner, host), categories, title }
}

/** Signs a person up. Makes the first person of a company its administrator. */
async function signUp(world: World, company: Company): Promise<Person> {
  const { id, email, keys, token } = await app.signUp(company.host)
  const admin = !world.people.some(each => each.company === company)
  if (admin) {
    await app.owner.query(`update "user" set permissions = '{admin}' where id = $1`, [id])
  }
  const sessions = [{ token, live: true }]
  const person = { company, id, email, keys, oldKeys: makeKeys(), admin, sessions, requests: [] }
  world.people.push(person)
  return person
}

async function open(host: string, token: string, category: string, bytes: Uint8Array) {
  const digest = sha256(bytes)
  const answer = await app.call(
    host,
    createDeposit,
    {
      name: 'history.pdf',
      size: bytes.length,
      media_type: 'application/pdf',
      original: digest,
      stored: digest,
      category
    },
    { token }
  )
  if ('duplicate' in answer) throw new Error('two random files are equal')
  return { request: answer.request.id, path: answer.upload }
}

async function send(person: Person, token: string, path: string, bytes: Uint8Array) {
  const { host } = person.company
  const { status } = await tus(host, token, 'PATCH', path, bytes)
  if (status !== 204) throw new Error(`PATCH answered ${status}`)
  const id = person.requests.at(-1) ?? ''
  await vi.waitFor(
    async () => {
      const { state } = await app.call(host, getRequest, { id }, { token })
      expect(state).toBe('done')
    },
    { interval: 5 }
  )
}

function tus(host: string, token: string, method: string, path: string, body?: Uint8Array) {
  const bytes = body && {
    'upload-offset': '0',
    'content-type': 'application/offset+octet-stream',
    'content-length': String(body.length)
  }
  return app.request(`api.${host}`, {
    method,
    path,
    headers: { authorization: `Bearer ${token}`, 'tus-resumable': '1.0.0', ...bytes },
    ...(body ? { body } : {})
  })
}

/** Downloads a document by a content link, without a token. Returns its bytes in hex. */
async function fetchContent(host: string, token: string, id: string): Promise<string> {
  const { url } = await app.call(host, createContentLink, { id }, { token })
  const response = await app.fetch(new Request(new URL(url, `http://api.${host}`)))
  if (!response.ok) throw await errorFromResponse(response)
  return Buffer.from(await response.arrayBuffer()).toString('hex')
}

async function rekey(host: string, token: string, { email, keys }: Person, fresh: TestKeys) {
  const { challenge: nonce } = await app.call(host, getChallenge, { email, purpose: 'rekey' })
  const input = {
    challenge_response: keys.respond(nonce),
    public_key_jwt: fresh.publicKeyJwt({ aud: host, email, purpose: 'rekey', nonce })
  }
  await app.call(host, changePassword, input, { token })
}

function other(company: Company, further: number): Company {
  return pick(companies, companies.indexOf(company) + further)
}

function pick<T>(from: readonly T[], at: number): T {
  const found = maybePick(from, at)
  if (found === undefined) throw new Error('nothing to pick from')
  return found
}

function maybePick<T>(from: readonly T[], at: number): T | undefined {
  return from[at % from.length]
}

function idsOf(list: { id: string }[]): string[] {
  return list.map(each => each.id).sort()
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
