import { connect, type Socket } from 'node:net'
import { availableParallelism } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import { expect, test } from 'vitest'
import {
  checkImport,
  createImport,
  getImport,
  runImport,
  storeImportRows
} from '../../../src/contract/imports.ts'
import { userImportRowHandlers } from '../../../src/server/domain/accounts/user-import-row-handlers.ts'
import {
  type ImportRowHandlers,
  workOnNextImport
} from '../../../src/server/domain/imports/import-work.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { makeAdmins } from '../../helpers/matrix.ts'

const acme = 'acme.localhost'

/** Opens a connection to the port of the app. `heard` returns the text received so far. */
async function open(app: TestApp): Promise<{ socket: Socket; heard: () => string }> {
  const socket = connect(await app.listen(), '127.0.0.1')
  let text = ''
  socket.on('data', chunk => {
    text += chunk.toString('latin1')
  })
  socket.on('error', () => undefined)
  return { socket, heard: () => text }
}

function headOf(method: string, path: string, headers: Record<string, string>): string {
  const lines = Object.entries({ host: `api.${acme}`, ...headers })
  const text = lines.map(([name, value]) => `${name}: ${value}`).join('\r\n')
  return `${method} ${path} HTTP/1.1\r\n${text}\r\n\r\n`
}

/** Begins a call and leaves out the last byte of its body, which `end` sends. */
async function hold(app: TestApp, token?: string) {
  const { socket, heard } = await open(app)
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const headers = { ...authorization, 'content-type': 'application/json', 'content-length': '2' }
  socket.write(`${headOf('POST', token === undefined ? '/verify' : '/deposit', headers)}{`)
  return {
    heard,
    end() {
      socket.write('}')
    }
  }
}

const ask = (app: TestApp, person?: TestPerson) =>
  app.request(`api.${acme}`, {
    path: person ? '/user' : '/category',
    headers: person ? { authorization: `Bearer ${person.token}` } : {}
  })

test('refuses what a person asks beyond a number of calls under way, and nobody else', async () => {
  await using app = await makeApp({
    callLimits: { perPerson: 2, perAddress: 10, perCompany: 100 }
  })
  const [ada, bob] = [await app.signUp(), await app.signUp()]
  const held = [await hold(app, ada.token), await hold(app, ada.token)]
  await expect.poll(async () => (await ask(app, ada)).status).toBe(429)
  const refused = await ask(app, ada)
  expect(refused.headers['retry-after']).toBe('1')
  expect(JSON.parse(refused.body.toString())).toMatchObject({ code: 'rate_limited' })
  expect((await ask(app, bob)).status).toBe(200)
  for (const call of held) call.end()
  await expect.poll(() => held.every(call => call.heard().includes('400 Bad Request'))).toBe(true)
  expect((await ask(app, ada)).status).toBe(200)
})

test('strangers of one address, and all of them, leave room for those who are signed in', async () => {
  await using app = await makeApp({
    callLimits: { perPerson: 10, perAddress: 1, perCompany: 4 }
  })
  const ada = await app.signUp()
  const held = await hold(app)
  const stranger = () => app.request(`api.${acme}`, { path: `/${acme}` })
  await expect.poll(async () => (await stranger()).status).toBe(429)
  expect((await ask(app, ada)).status).toBe(200)
  held.end()
  await expect.poll(async () => (await stranger()).status).toBe(200)
})

test('a company with too many calls under way is asked to wait, and the other is served', async () => {
  await using app = await makeApp({
    callLimits: { perPerson: 10, perAddress: 10, perCompany: 2 }
  })
  const ada = await app.signUp()
  const other = await app.signUp('beta.localhost')
  const held = [await hold(app, ada.token), await hold(app, ada.token)]
  await expect.poll(async () => (await ask(app, ada)).status).toBe(503)
  const refused = await ask(app, ada)
  expect(refused.headers['retry-after']).toBe('1')
  expect(JSON.parse(refused.body.toString())).toMatchObject({ code: 'unavailable' })
  const { status } = await app.request('api.beta.localhost', {
    path: '/user',
    headers: { authorization: `Bearer ${other.token}` }
  })
  expect(status).toBe(200)
  for (const call of held) call.end()
  for (let n = 0; n < 5; n++) await ask(app, ada)
  expect(app.logged.filter(({ level }) => level === 'error')).toEqual([])
  expect(app.logged.filter(({ level }) => level === 'warn')).toMatchObject([
    {
      text: 'calls were refused for the moment: clients may try again',
      facts: { refused: 1 }
    }
  ])
})

test('a company that runs an import is served beside others, and the import takes no place', async () => {
  await using app = await makeApp()
  const ada = await app.signUp()
  await makeAdmins(app.owner)
  const { [acme]: company, 'beta.localhost': other } = app.companies
  if (!company || !other) throw new Error('no companies')
  const work = (handlers: ImportRowHandlers) =>
    workOnNextImport(app.deps, company, handlers, () => false)
  const file = { file_name: 'people.csv', rows: 1, bytes: 20, send_invitations: false }
  const { id } = await ada.call(createImport, file)
  await ada.call(storeImportRows, { id, from: 1, rows: [{ email: 'bob@example.com' }] })
  await ada.call(checkImport, { id })
  await work(userImportRowHandlers)
  await ada.call(runImport, { id, skip_refused: false })

  const begun = Promise.withResolvers<void>()
  const isOver = Promise.withResolvers<void>()
  const { apply } = userImportRowHandlers
  const running = work({
    ...userImportRowHandlers,
    async apply(...given) {
      begun.resolve()
      await isOver.promise
      return apply(...given)
    }
  })
  await begun.promise
  const visit = async () => (await app.gate.enter({ company: other })).end()
  await visit()
  const isPresent = setInterval(visit, 50)
  // all places but one that the company may have beside others on this machine
  const held = await Promise.all(
    Array.from({ length: Math.min(availableParallelism(), 16) - 1 }, () =>
      app.gate.enter({ company })
    )
  )
  try {
    for (let n = 0; n < 3; n++) expect((await ask(app, ada)).status).toBe(200)
    expect(await ada.call(getImport, { id })).toMatchObject({ state: 'running' })
  } finally {
    clearInterval(isPresent)
    for (const place of held) place.end()
    isOver.resolve()
  }
  await running
  expect(await ada.call(getImport, { id })).toMatchObject({ state: 'done', result: { created: 1 } })
})

test('a call that waits for a place leaves the line when its client goes', async () => {
  await using app = await makeApp()
  const ada = await app.signUp()
  const { [acme]: company } = app.companies
  if (!company) throw new Error('no acme')
  // a call of its company may have ended just now
  await expect.poll(() => app.logged.filter(({ text }) => text === 'api').length).toBeGreaterThan(3)
  const held = await Promise.all(Array.from({ length: 16 }, () => app.gate.enter({ company })))
  app.logged.length = 0
  const { socket } = await open(app)
  socket.write(headOf('GET', '/user', { authorization: `Bearer ${ada.token}` }))
  await setTimeout(50)
  expect(app.logged).toEqual([])
  socket.destroy()
  await expect.poll(() => app.logged).toMatchObject([{ text: 'api', facts: { status: 400 } }])
  for (const place of held) place.end()
  expect((await ask(app, ada)).status).toBe(200)
})
