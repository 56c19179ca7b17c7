import { randomBytes } from 'node:crypto'
import http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { deleteOwnAccount } from '../../../src/contract/accounts.ts'
import { deleteApiKey } from '../../../src/contract/api-keys.ts'
import { suspendCompany } from '../../../src/contract/companies.ts'
import { deleteMember, disableUser, signOutUser } from '../../../src/contract/members.ts'
import { endSession, getChallenge, listSessions, logOut } from '../../../src/contract/sessions.ts'
import { changePassword } from '../../../src/contract/users.ts'
import { callerCheckMs } from '../../../src/server/domain/sessions/caller-watch.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { confirmSessions, makeApiKey } from '../../helpers/cases.ts'
import { batchContentType, formPart } from '../../helpers/deposits/batches.ts'
import { openStream } from '../../helpers/event-stream.ts'
import { makeKeys } from '../../helpers/keys.ts'
import { startSecondProcess } from '../../helpers/second-process.ts'
import { isSoak } from '../../helpers/soak.ts'

// whoever loses a right loses it for everything under way: within a second in each process that
// hears of it, within two in a process whose notifications are lost.

/**
 * The most milliseconds that a connection may outlive its right, by process. A busy machine may
 * keep a process waiting, so they are measured only on demand: `SOAK=1 npx vitest run` with this
 * file.
 */
const promised = { here: 1000, notified: 1000, deaf: 2000 }
type ProcessName = keyof typeof promised
const patience = isSoak ? promised : { here: 60_000, notified: 60_000, deaf: 60_000 }

/** Of companies that a test of their own suspends. */
const hostsToSuspend = ['lost1.localhost', 'lost2.localhost']

let app: TestApp
let second: Awaited<ReturnType<typeof startSecondProcess>>
let third: Awaited<ReturnType<typeof startSecondProcess>>
beforeAll(async () => {
  const notified: ((text: string) => void)[] = []
  const sends = { send: (text: string) => void notified.map(each => each(text)), listen() {} }
  const listens = {
    send() {},
    listen: ({ text }: { text: (text: string) => void }) => void notified.push(text)
  }
  app = await makeApp({ notifications: sends })
  // before the processes start: one without notifications hears of a new host a second later
  for (const host of hostsToSuspend) await app.addCompany('Lost', host)
  second = await startSecondProcess(app, { notifications: listens })
  third = await startSecondProcess(app)
})
afterAll(async () => {
  await third[Symbol.asyncDispose]()
  await second[Symbol.asyncDispose]()
  await app[Symbol.asyncDispose]()
})

interface Losing {
  person: TestPerson
  /** The session that ends, or of which nothing is under way. */
  token: string
  /** Another session of the same person. */
  other: string
  key: { id: string; key: string }
  /** An administrator of the person's company, who is an operator too. */
  admin: TestPerson
}

interface Way {
  with: 'session' | 'key'
  lose(losing: Losing): Promise<unknown>
}

const confirmation = async ({ call, email, keys }: TestPerson, token: string) => {
  const { challenge } = await call(getChallenge, { email, purpose: 'rekey' }, { token })
  return { challenge, challenge_response: keys.respond(challenge) }
}

const deletedByAdministrator: Way['lose'] = async ({ person, admin }) => {
  await confirmSessions(app)
  await admin.call(deleteMember, { id: person.id })
}
const disabled: Way['lose'] = ({ person, admin }) =>
  admin.call(disableUser, { id: person.id, reason: 'left' })
const deletedAccount: Way['lose'] = async ({ person, other }) => {
  const { challenge_response } = await confirmation(person, other)
  await person.call(deleteOwnAccount, { challenge_response }, { token: other })
}
const suspended: Way['lose'] = async ({ person, admin }) => {
  await app.owner.query('update "user" set permissions = \'{operator}\' where id = $1', [admin.id])
  await confirmSessions(app)
  await admin.call(suspendCompany, { id: person.company, reason: 'abuse' })
}

const ways: Record<string, Way> = {
  'a session by signing out': {
    with: 'session',
    lose: ({ person, token }) => person.call(logOut, {}, { token })
  },
  'a session by signing out everywhere': {
    with: 'session',
    lose: ({ person, other }) => person.call(logOut, { all: true }, { token: other })
  },
  'a session by the list of devices': {
    with: 'session',
    async lose({ person, token, other }) {
      const list = await person.call(listSessions, {}, { token })
      const id = list.find(session => session.current)?.id ?? ''
      await person.call(endSession, { id }, { token: other })
    }
  },
  'a session by an administrator': {
    with: 'session',
    lose: ({ person, admin }) => admin.call(signOutUser, { id: person.id })
  },
  'a session by a new password': {
    with: 'session',
    async lose({ person, other }) {
      const { challenge, challenge_response } = await confirmation(person, other)
      const { host: aud, email } = person
      const keys = makeKeys()
      const public_key_jwt = keys.publicKeyJwt({ aud, email, purpose: 'rekey', nonce: challenge })
      await person.call(changePassword, { challenge_response, public_key_jwt }, { token: other })
    }
  },
  'a session by its end': {
    with: 'session',
    lose: ({ person }) =>
      app.owner.query('update session set expires_at = $2 where user_id = $1', [
        person.id,
        app.deps.clock()
      ])
  },
  'a key by revoking it': {
    with: 'key',
    lose: ({ person, key, other }) => person.call(deleteApiKey, { id: key.id }, { token: other })
  },
  'a key by its end': {
    with: 'key',
    lose: ({ key }) =>
      app.owner.query('update api_key set expires_at = $2 where id = $1', [
        key.id,
        app.deps.clock()
      ])
  },
  'a disabled person': { with: 'session', lose: disabled },
  'the key of a disabled person': { with: 'key', lose: disabled },
  'a person whom an administrator deletes': { with: 'session', lose: deletedByAdministrator },
  'the key of a person whom an administrator deletes': {
    with: 'key',
    lose: deletedByAdministrator
  },
  'a person who deletes the own account': { with: 'session', lose: deletedAccount },
  'the key of a person who deletes the own account': { with: 'key', lose: deletedAccount },
  'a suspended company': { with: 'session', lose: suspended },
  'the key of a suspended company': { with: 'key', lose: suspended }
}

/** Ends without a signal, so every process notices it at its next look. */
const unsignaled = ['a session by its end', 'a key by its end']

test('a process without notifications looks for lost rights once a second', () => {
  expect(callerCheckMs).toBeLessThanOrEqual(1000)
})

test.for(Object.entries(ways))('%s: everything under way ends', async ([name, way]) => {
  const host = name.includes('suspended') ? hostsToSuspend.pop() : undefined
  const person = await app.signUp(host)
  const admin = await app.signUp()
  const bystander = await app.signUp()
  await app.owner.query('update "user" set permissions = \'{admin}\' where id = $1', [admin.id])
  await addHistory(person)
  const { deposit_id = '' } = await app.deposit(person, randomBytes(400_000))
  const losing = {
    ...{ person, admin, token: await app.signIn(person), other: person.token },
    key: await makeApiKey(app, person, { company: person.company })
  }
  const token = way.with === 'key' ? losing.key.key : losing.token
  const targets: Target[] = [
    { process: 'here', port: await app.listen(), fetch: app.app.fetch },
    { process: 'notified', port: second.port, fetch: second.app.fetch },
    { process: 'deaf', port: third.port, fetch: third.app.fetch }
  ]
  const open = []
  for (const target of targets) {
    open.push(...(await begin(target, { ...person, token }, deposit_id)))
  }
  const [target] = targets
  const kept = target ? await beginUpload(target, bystander) : undefined
  await sleep(50)
  expect(open.filter(({ endedAt }) => endedAt() !== undefined).map(({ what }) => what)).toEqual([])

  await way.lose(losing)
  const lost = performance.now()
  const refusals = await Promise.all(
    targets.map(({ port }) => statusOfCall(port, person.host, token))
  )
  await Promise.race([Promise.all(open.map(({ ended }) => ended)), sleep(patience.deaf + 500)])
  const late = open.flatMap(({ what, process, endedAt }) => {
    const ms = Math.round((endedAt() ?? Number.POSITIVE_INFINITY) - lost)
    const limit = unsignaled.includes(name) ? patience.deaf : patience[process]
    return ms > limit ? [`${what} (${process}): ${ms} ms`] : []
  })
  expect(late).toEqual([])
  expect(refusals.filter(status => status !== 401 && status !== 403)).toEqual([])
  expect(kept?.endedAt()).toBeUndefined()
  kept?.close()
  const after = await app.owner.query(
    `select 1 from request where user_id = $1 and state = 'done' and facts->>'name' = 'late.pdf'`,
    [person.id]
  )
  expect(after.rows).toEqual([])
})

interface Target {
  process: ProcessName
  port: number
  fetch: TestApp['app']['fetch']
}
type Caller = Pick<TestPerson, 'host' | 'token' | 'category'> & TestPerson

/** Something that a caller has begun. `endedAt` returns when the server ended it, if it has. */
interface UnderWay {
  what: string
  process: ProcessName
  ended: Promise<unknown>
  endedAt(): number | undefined
  close(): void
}

async function begin(target: Target, caller: Caller, deposit_id: string): Promise<UnderWay[]> {
  const stream = await openStream(target.port, caller)
  expect((await stream.next())?.event).toBe('tick')
  const { upload } = await app.reserve(
    { ...caller, call: (endpoint, input, options) => caller.call(endpoint, input, { ...options }) },
    randomBytes(1000),
    'late.pdf'
  )
  const bearer = { authorization: `Bearer ${caller.token}` }
  const tus = {
    'tus-resumable': '1.0.0',
    'upload-offset': '0',
    'content-type': 'application/offset+octet-stream'
  }
  return [
    noted('an event stream', target, stream.ended(), stream.close),
    await beginDownload('a download', target, caller, `/deposit/${deposit_id}/content`),
    await beginDownload('an export', target, caller, '/process/export'),
    half('a resumable upload', target, caller, {
      ...{ method: 'PATCH', path: upload, length: 1000, bytes: randomBytes(500) },
      headers: { ...bearer, ...tus }
    }),
    await beginUpload(target, caller),
    half('a batch of deposits', target, caller, {
      ...{ method: 'POST', path: '/deposit/batch', length: 5000 },
      bytes: formPart('items', Buffer.from('[]')),
      headers: { ...bearer, 'content-type': batchContentType }
    }),
    half('a call', target, caller, {
      ...{ method: 'POST', path: '/verify', length: 500, bytes: Buffer.from('{"items":') },
      headers: { ...bearer, 'content-type': 'application/json' }
    })
  ]
}

async function beginUpload(target: Target, caller: Caller): Promise<UnderWay> {
  return half('an upload in one call', target, caller, {
    ...{ method: 'PUT', length: 1000, bytes: randomBytes(500) },
    path: `/deposit?name=late.pdf&category=${caller.category}`,
    headers: { authorization: `Bearer ${caller.token}` }
  })
}

interface HalfCall {
  method: string
  path: string
  headers: Record<string, string>
  length: number
  bytes: Uint8Array
}

/** Sends the headers of a call and only the first bytes of its body. */
function half(
  what: string,
  target: Target,
  caller: Caller,
  { method, path, headers, length, bytes }: HalfCall
): UnderWay {
  const outgoing = http.request({
    ...{ host: '127.0.0.1', port: target.port, agent: false, method, path },
    headers: { host: `api.${caller.host}`, ...headers, 'content-length': length }
  })
  const ended = new Promise<void>(resolve => {
    outgoing.once('response', response => {
      // an answer before the whole body has come is a refusal
      expect([401, 403]).toContain(response.statusCode)
      resolve()
    })
    outgoing.on('error', () => resolve())
  })
  outgoing.write(bytes)
  return noted(what, target, ended, () => void outgoing.destroy())
}

/** Reads the beginning of a download. The rest stays unread. */
async function beginDownload(
  what: string,
  target: Target,
  caller: Caller,
  path: string
): Promise<UnderWay> {
  const answer = await target.fetch(
    new Request(`http://api.${caller.host}${path}`, {
      headers: { authorization: `Bearer ${caller.token}` }
    })
  )
  expect(answer.status).toBe(200)
  const reader = answer.body?.getReader()
  expect((await reader?.read())?.done).toBe(false)
  const ended = reader?.closed.catch(() => undefined) ?? Promise.resolve()
  return noted(what, target, ended, () => void reader?.cancel())
}

function noted(
  what: string,
  { process }: Target,
  ended: Promise<unknown>,
  close: () => void
): UnderWay {
  let at: number | undefined
  const both = ended.then(() => {
    at = performance.now()
  })
  return { what, process, ended: both, endedAt: () => at, close }
}

function statusOfCall(port: number, host: string, token: string): Promise<number> {
  return new Promise((resolve, reject) => {
    http
      .get(
        {
          ...{ host: '127.0.0.1', port, agent: false, path: '/process' },
          headers: { host: `api.${host}`, authorization: `Bearer ${token}` }
        },
        response => {
          response.resume()
          resolve(response.statusCode ?? 0)
        }
      )
      .once('error', reject)
  })
}

/** Adds so many requests that their export has several parts. */
async function addHistory({ id }: TestPerson): Promise<void> {
  await app.owner.query(
    `insert into request (company_id, id, user_id, kind, state, seq, created_at, facts)
     select company_id, gen_random_uuid(), id, 'deposit', 'done', 0, now() - n * interval '1 hour', '{}'
       from "user", generate_series(1, 2500) n where id = $1`,
    [id]
  )
}
