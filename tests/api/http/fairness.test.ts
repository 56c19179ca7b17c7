import { connect, type Socket } from 'node:net'
import { availableParallelism } from 'node:os'
import { setImmediate as nextTurn, setTimeout } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import {
  checkImport,
  createImport,
  getImport,
  runImport,
  storeImportRows
} from '../../../src/contract/imports.ts'
import { poolOf } from '../../../src/server/db/open.ts'
import { userImportRowHandlers } from '../../../src/server/domain/accounts/user-import-row-handlers.ts'
import {
  type ImportRowHandlers,
  workOnNextImport
} from '../../../src/server/domain/imports/import-work.ts'
import { createGate } from '../../../src/server/http/gate.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import {
  batchContentType,
  batchForm,
  batchItem,
  smallFiles
} from '../../helpers/deposits/batches.ts'
import { openStream } from '../../helpers/event-stream.ts'
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

test('old events of a stream are read in a place for long reads', async () => {
  await using app = await makeApp()
  const ada = await app.signUp()
  await app.put(ada, Buffer.from('a document'))
  const { [acme]: company } = app.companies
  if (!company) throw new Error('no acme')
  const isOver = Promise.withResolvers<void>()
  const holder = await app.gate.enter({ company })
  // a company that is alone may have all of them
  const held = Array.from({ length: 4 }, () => holder.longRead(() => isOver.promise))
  const stream = await openStream(await app.listen(), ada, 0)
  expect((await stream.next())?.event).toBe('tick')
  await setTimeout(200)
  expect(stream.events).toHaveLength(1)
  isOver.resolve()
  await Promise.all(held)
  holder.end()
  expect(JSON.parse((await stream.next())?.data ?? '')).toMatchObject({ kind: 'deposit' })
  stream.close()
})

test('beside another company, a company takes in one piece of a body in a turn', async () => {
  await using app = await makeApp()
  const ada = await app.signUp()
  const { [acme]: company, 'beta.localhost': other } = app.companies
  if (!company || !other) throw new Error('no companies')
  ;(await app.gate.enter({ company: other })).end()
  const place = await app.gate.enter({ company })
  let taken = 0
  const all = Array.from({ length: 20 }, async () => {
    await place.takeTurn()
    taken++
  })
  for (let before = taken; taken < 20; ) {
    await nextTurn()
    expect(taken - before).toBeLessThanOrEqual(1)
    before = taken
  }
  await Promise.all(all)
  place.end()

  // every piece of an upload waits for such a turn
  const bytes = Buffer.alloc(300_000, 'x')
  const { enter } = app.gate
  app.gate.enter = async asked => {
    const place = await enter(asked)
    return {
      ...place,
      takeTurn() {
        taken++
        return place.takeTurn()
      }
    }
  }
  const turnsOf = async (upload: () => Promise<{ status: number }>) => {
    taken = 0
    expect((await upload()).status).toBeLessThan(300)
    return taken
  }
  expect(await turnsOf(() => app.put(ada, bytes))).toBeGreaterThan(1)
  const { upload } = await app.reserve(ada, bytes)
  expect(await turnsOf(() => app.patch(ada, upload, bytes))).toBeGreaterThan(1)
  const batch = () =>
    app.request(`api.${acme}`, {
      method: 'POST',
      path: '/deposit/batch',
      headers: { authorization: `Bearer ${ada.token}`, 'content-type': batchContentType },
      body: batchForm([batchItem(bytes, { category: ada.category, again: true })], [bytes])
    })
  expect(await turnsOf(batch)).toBeGreaterThan(1)
})

test('a company renders one page at a time, whatever the number of its domains, and leaves as much time to others', async () => {
  const gate = createGate()
  const isOver = Promise.withResolvers<void>()
  let begun = 0
  const render = (company_id: string, domain: string) =>
    gate.render({ company_id, domain }, async () => {
      begun++
      await isOver.promise
    })
  const all = Array.from({ length: 50 }, (_, n) => render('acme', `${n}.acme.fr`))
  await nextTurn()
  expect(begun).toBe(1)
  all.push(render('beta', 'beta.fr'))
  await nextTurn()
  expect(begun).toBe(2)
  await setTimeout(50)
  isOver.resolve()
  const ended = performance.now()
  await vi.waitUntil(() => begun > 2, { interval: 1 })
  expect(performance.now() - ended).toBeGreaterThan(40)
  await Promise.all(all)
})

test('the first batch of a company uses few connections, like any other call', async () => {
  await using app = await makeApp()
  const ada = await app.signUp()
  const { files, items } = smallFiles(50, { category: ada.category })
  const { status } = await app.request(`api.${acme}`, {
    method: 'POST',
    path: '/deposit/batch',
    headers: { authorization: `Bearer ${ada.token}`, 'content-type': batchContentType },
    body: batchForm(items, files)
  })
  expect(status).toBe(200)
  expect(poolOf(app.deps.db).totalCount).toBeLessThan(20)
})
