import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { requestPasswordReset, resetPassword } from '../../../src/contract/accounts.ts'
import { disableUser, setPermissions, signOutUser } from '../../../src/contract/members.ts'
import { endSession, getChallenge, listSessions, logOut } from '../../../src/contract/sessions.ts'
import { changePassword, getOwnAccount } from '../../../src/contract/users.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { confirmSessions } from '../../helpers/cases.ts'
import { openStream } from '../../helpers/event-stream.ts'
import { makeKeys } from '../../helpers/keys.ts'
import { publicKeyJwtFor } from '../../helpers/mailed.ts'

// what ends a session ends it for the next call while a hundred calls a second go on, and ends
// no other; `lost-rights.test.ts` has what is under way

const perSecond = 100

let app: TestApp
let administrator: TestPerson
beforeAll(async () => {
  app = await makeApp()
  administrator = await app.signUp()
  await app.owner.query(`update "user" set permissions = '{admin}' where id = $1`, [
    administrator.id
  ])
})
afterAll(() => app[Symbol.asyncDispose]())

interface Ending {
  /** Ends the session of `token`. `mine` is the token of another session of the same person. */
  end: (person: TestPerson, token: string, mine: string) => Promise<unknown>
  code: 'unauthenticated' | 'account_disabled'
  /** Whether the session of `mine` stays valid. */
  keepsMine: boolean
  lastEvent: 'bye' | 'disabled'
}

const endings: Record<string, Ending> = {
  'a sign-out': {
    end: (person, token) => person.call(logOut, {}, { token }),
    code: 'unauthenticated',
    keepsMine: true,
    lastEvent: 'bye'
  },
  'a sign-out everywhere': {
    end: (person, _token, mine) => person.call(logOut, { all: true }, { token: mine }),
    code: 'unauthenticated',
    keepsMine: false,
    lastEvent: 'bye'
  },
  'an administrator': {
    end: person => administrator.call(signOutUser, { id: person.id }),
    code: 'unauthenticated',
    keepsMine: false,
    lastEvent: 'bye'
  },
  'the list of devices': {
    end: async (person, token, mine) => {
      const list = await person.call(listSessions, {}, { token })
      const id = list.find(session => session.current)?.id ?? ''
      await person.call(endSession, { id }, { token: mine })
    },
    code: 'unauthenticated',
    keepsMine: true,
    lastEvent: 'bye'
  },
  'a change of password': {
    end: async (person, _token, mine) => {
      const { host: aud, email, keys } = person
      const purpose = 'rekey'
      const { challenge: nonce } = await person.call(getChallenge, { email, purpose })
      const input = {
        challenge_response: keys.respond(nonce),
        public_key_jwt: makeKeys().publicKeyJwt({ aud, email, purpose, nonce })
      }
      await person.call(changePassword, input, { token: mine })
    },
    code: 'unauthenticated',
    keepsMine: true,
    lastEvent: 'bye'
  },
  'a reset of the password by mail': {
    end: async ({ email, call }) => {
      await call(requestPasswordReset, { email })
      const { token } = await app.mailTo(email, 'reset')
      const public_key_jwt = await publicKeyJwtFor(app, 'reset', { email, token })
      await call(resetPassword, { token, public_key_jwt })
    },
    code: 'unauthenticated',
    keepsMine: false,
    lastEvent: 'bye'
  },
  'a person switched off': {
    end: ({ id }) => administrator.call(disableUser, { id, reason: 'left' }),
    code: 'account_disabled',
    keepsMine: false,
    lastEvent: 'disabled'
  }
}

test.for(Object.entries(endings))('%s is heeded under load', async ([, ending]) => {
  const [person, bystander] = [await app.signUp(), await app.signUp()]
  const mine = person.token
  const token = await app.signIn(person)
  const port = await app.listen()
  const doomed = await openStream(port, { host: person.host, token })
  const kept = await openStream(port, { host: person.host, token: mine })
  const foreign = await openStream(port, bystander)
  await Promise.all([doomed.next(), kept.next(), foreign.next()])

  const load = startLoad([
    { name: 'doomed', host: person.host, token },
    { name: 'mine', host: person.host, token: mine },
    { name: 'bystander', host: bystander.host, token: bystander.token }
  ])
  await load.answers(perSecond / 2)
  const began = performance.now()
  await ending.end(person, token, mine)
  const ended = performance.now()
  const closed = await doomed.ended()
  await load.answers(perSecond)
  const answers = await load.stop()

  const of = (name: string) => answers.filter(answer => answer.name === name)
  for (const { code, sent, heard } of of('doomed')) {
    if (heard < began) expect(code).toBe('')
    else if (sent > ended) expect(code).toBe(ending.code)
    else expect(['', ending.code]).toContain(code)
  }
  expect(of('doomed').some(({ code }) => code === ending.code)).toBe(true)
  expect(of('bystander').filter(({ code }) => code !== '')).toEqual([])
  if (ending.keepsMine) expect(of('mine').filter(({ code }) => code !== '')).toEqual([])

  expect(closed).toBeLessThan(5000)
  expect(doomed.events.at(-1)?.event).toBe(ending.lastEvent)
  if (!ending.keepsMine) expect(await kept.ended()).toBeLessThan(5000)
  expect(foreign.events.some(({ event }) => event === 'bye')).toBe(false)
  kept.close()
  foreign.close()
})

interface Caller {
  name: string
  host: string
  token: string
}

interface Answer {
  name: string
  /** The error code of the answer. Empty for success. */
  code: string
  sent: number
  heard: number
}

/** Calls `GET /user` in turn for each caller, a hundred times a second in all. */
function startLoad(callers: Caller[]) {
  const answers: Answer[] = []
  const open = new Set<Promise<void>>()
  let turn = 0
  const ask = async ({ name, host, token }: Caller) => {
    const sent = performance.now()
    const code = await app.call(host, getOwnAccount, {}, { token }).then(
      () => '',
      (error: { code: string }) => error.code
    )
    answers.push({ name, code, sent, heard: performance.now() })
  }
  const timer = setInterval(() => {
    const caller = callers[turn++ % callers.length]
    if (!caller) return
    const call = ask(caller)
    open.add(call)
    void call.finally(() => open.delete(call))
  }, 1000 / perSecond)
  return {
    async answers(count: number): Promise<void> {
      const enough = answers.length + count
      while (answers.length < enough) await new Promise(resolve => setTimeout(resolve, 20))
    },
    async stop(): Promise<Answer[]> {
      clearInterval(timer)
      await Promise.all(open)
      return answers
    }
  }
}

test('the exports of administrators end when their permission is taken away', async () => {
  const person = await app.signUp()
  const company = app.companies['acme.localhost']
  await app.owner.query(`update "user" set permissions = '{admin}' where id = $1`, [person.id])
  await app.owner.query(
    `insert into "user" (company_id, id, email, username, tokens_valid_after, created_at)
     select $1, gen_random_uuid(), n || '@example.com', 'Ada', now(), now()
       from generate_series(1, 1000) n`,
    [company]
  )
  await app.owner.query(
    `insert into audit_entry (company_id, seq, id, created_at, actor_id, actor_company_id, acted_in,
       action, target_id, hash)
     select $1, 1000000 + n, gen_random_uuid(), now(), $2, $1, $1, 'user.sign_out', $2, sha256('x')
       from generate_series(1, 1500) n`,
    [company, person.id]
  )
  // the export ends with the entry at the head
  await app.owner.query(
    `insert into audit_head (company_id, seq, hash) values ($1, 2000000, sha256('x'))
     on conflict (company_id) do update set seq = excluded.seq`,
    [company]
  )
  const readers = []
  for (const path of [`/company/${company}/users/export`, `/company/${company}/audit/export`]) {
    const answer = await app.fetch(
      new Request(`http://api.acme.localhost${path}`, {
        headers: { authorization: `Bearer ${person.token}` }
      })
    )
    expect(answer.status).toBe(200)
    const reader = answer.body?.getReader()
    expect((await reader?.read())?.done).toBe(false)
    readers.push(reader)
  }
  await confirmSessions(app)
  await administrator.call(setPermissions, { id: person.id, permissions: [] })
  await person.call(getOwnAccount, {}) // the session itself goes on
  for (const reader of readers) {
    const rest = async () => {
      while (!(await reader?.read())?.done);
    }
    await expect(rest()).rejects.toThrow('A permission was taken away')
  }
})

test('a download goes on when its token runs out', async () => {
  await using own = await makeApp()
  const person = await own.signUp()
  const bytes = randomBytes(6 * 1024 * 1024)
  const { deposit_id } = await own.deposit(person, bytes)
  const answer = await own.fetch(
    new Request(`http://api.acme.localhost/deposit/${deposit_id}/content`, {
      headers: { authorization: `Bearer ${person.token}` }
    })
  )
  own.wait(3700)
  expect((await answer.bytes()).length).toBe(bytes.length)
})
