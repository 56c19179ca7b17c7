import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { ProcessedRequest } from '../../../src/contract/requests.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { makeBrowser } from '../../helpers/browser.ts'

const bytes = Buffer.alloc(64, 'tabs')

let app: TestApp
beforeAll(async () => {
  app = await makeApp()
})
afterAll(() => app[Symbol.asyncDispose]())

test('ten tabs share one stream, and all show a deposit', async () => {
  const { tabs, streams, person } = await open(10)
  await allLive(tabs)
  expect(streams()).toBe(1)
  const { request } = await app.reserve(person, bytes)
  await eventually(() => {
    for (const { ids } of tabs) expect(ids()).toContain(request.id)
  })
  expect(streams()).toBe(1)
})

test('hands the stream on when its tab is closed, and misses and doubles nothing', async () => {
  const { tabs, streams, person } = await open(3)
  await allLive(tabs)
  const made: string[] = []
  for (let round = 0; round < 3; round += 1) {
    made.push((await app.reserve(person, bytes)).request.id)
    if (round < 2) tabs[round]?.close()
    made.push((await app.reserve(person, bytes)).request.id)
  }
  const last = tabs[2]
  await eventually(() => expect(new Set(last?.ids())).toEqual(new Set(made)))
  const heard = last?.heard.map(({ id, seq }) => `${id} ${seq}`) ?? []
  expect(new Set(heard).size).toBe(heard.length)
  expect(streams()).toBe(1)
})

test('a visible tab takes the stream from one that is silent for 40 s, a hidden one does not', async () => {
  const { tabs, streams, browser, person } = await open(2)
  const [leader, follower] = tabs
  if (!leader || !follower) throw new Error('two tabs were opened')
  await allLive(tabs)
  leader.freeze()
  follower.show(false)
  const { request } = await app.reserve(person, bytes)
  browser.advance(41_000)
  expect(follower.calls.filter(isStream)).toHaveLength(0)
  follower.show(true)
  follower.wake()
  await eventually(() => expect(follower.ids()).toContain(request.id))
  expect(follower.calls.filter(isStream)).toHaveLength(1)
  await eventually(() => expect(streams()).toBe(1))
  // the one that wakes up follows, and catches up with what it slept through
  leader.thaw()
  leader.wake()
  const next = await app.reserve(person, bytes)
  await eventually(() => expect(leader.ids()).toContain(next.request.id))
  await eventually(() => expect(leader.ids()).toContain(request.id))
  expect(streams()).toBe(1)
})

test('a tab that slept while others heard loads what it missed', async () => {
  const { tabs, person } = await open(3)
  const sleeper = tabs[2]
  await allLive(tabs)
  sleeper?.freeze()
  const missed = await app.reserve(person, bytes)
  await eventually(() => expect(tabs[1]?.ids()).toContain(missed.request.id))
  sleeper?.thaw()
  const next = await app.reserve(person, bytes)
  await eventually(() => expect(sleeper?.ids()).toContain(next.request.id))
  await eventually(() => expect(sleeper?.ids()).toContain(missed.request.id))
})

test('gives the stream up when its page is left, and takes part again when that comes back', async () => {
  const { tabs, streams, person } = await open(2)
  const [first, second] = tabs
  await allLive(tabs)
  first?.hide()
  await eventually(() => expect(second?.calls.filter(isStream)).toHaveLength(1))
  const { request } = await app.reserve(person, bytes)
  await eventually(() => expect(second?.ids()).toContain(request.id))
  expect(first?.ids()).not.toContain(request.id)
  first?.wake()
  await eventually(() => expect(first?.ids()).toContain(request.id))
  expect(streams()).toBe(1)
})

test('reconnects at once after sleep, where the last tick is older than 45 s', async () => {
  const { tabs, streams, browser, person } = await open(1)
  const [tab] = tabs
  await allLive(tabs)
  const before = tab?.calls.filter(isStream).length ?? 0
  browser.sleep(60_000)
  const { request } = await app.reserve(person, bytes)
  tab?.wake()
  await eventually(() => expect(tab?.calls.filter(isStream)).toHaveLength(before + 1))
  await eventually(() => expect(tab?.ids()).toContain(request.id))
  expect(streams()).toBe(1)
})

test('only one tab asks who is signed in again and again, and all know', async () => {
  const { tabs, browser } = await open(4)
  await allLive(tabs)
  const asks = ({ method, path }: Tab['calls'][number]) => method === 'GET' && path === '/user'
  const asked = () => tabs.map(({ calls }) => calls.filter(asks).length)
  expect(asked()).toEqual([1, 1, 1, 1])
  for (let beat = 1; beat <= 4; beat += 1) {
    const name = `Ada ${beat}`
    await app.owner.query('update "user" set username = $1', [name])
    browser.advance(30_000)
    // a leader whose word does not arrive in time would be taken for a frozen one
    await eventually(() => {
      for (const { users } of tabs) expect(users.$user.get()?.username).toBe(name)
    })
    expect(asked()).toEqual([1 + beat, 1, 1, 1])
  }
})

test('signs out in all tabs, and lets go of the stream', async () => {
  const { tabs, streams, browser } = await open(3)
  await allLive(tabs)
  await tabs[1]?.sessions.signOut()
  for (const { sessions, store, users } of tabs) {
    expect(sessions.$session.get()).toEqual({ status: 'out' })
    expect(store.$requests.get()).toEqual([])
    expect(users.$user.get()).toBeUndefined()
  }
  expect(streams()).toBe(0)
  expect([...browser.locks.values()].filter(({ holder }) => holder)).toEqual([])
})

function isStream({ path }: { path: string }): boolean {
  return path === '/process/sse'
}

type Tab = Awaited<ReturnType<typeof open>>['tabs'][number]

function eventually(check: () => void): Promise<void> {
  return vi.waitFor(check, { interval: 10 })
}

async function allLive(tabs: Tab[]): Promise<void> {
  await eventually(() => {
    for (const { store, users } of tabs) {
      expect(store.$streamConnectionState.get()).toBe('live')
      expect(store.$historyLoadStatus.get().status).toBe('ready')
      expect(users.$user.get()).toBeDefined()
    }
  })
}

/**
 * Opens the history in `count` tabs of one browser, in which a person is signed in. The tabs call
 * the real API.
 */
async function open(count: number) {
  const person = await app.signUp()
  // otherwise each tab saves the language of its page, and drops what it read meanwhile
  await app.owner.query(`update "user" set locale = 'en'`)
  const browser = makeBrowser({ now: Date.now() })
  browser.cookies.set('__Host-vidimus', { value: person.token, attributes: [] })
  // requests and not their signals: Node passes nothing on to the signal of one that is collected
  const open = new Set<Request>()
  const handle = async (request: Request) => {
    const response = await app.fetch(request)
    if (new URL(request.url).pathname !== '/process/sse' || !response.ok) return response
    const leave = () => void open.delete(request)
    open.add(request)
    request.signal.addEventListener('abort', leave)
    if (request.signal.aborted) leave()
    // the service may end it first
    const body = response.body?.pipeThrough(new TransformStream({ flush: leave }))
    return new Response(body, response)
  }
  const tabs = []
  for (let nr = 0; nr < count; nr += 1) tabs.push(await openTab(browser, person, handle))
  return { tabs, browser, person, streams: () => open.size }
}

async function openTab(
  browser: ReturnType<typeof makeBrowser>,
  person: TestPerson,
  handle: (request: Request) => Promise<Response>
) {
  const tab = browser.openTab(`http://${person.host}/en/history`, handle)
  vi.resetModules()
  const { setBrowserEnvironment } = await import('../../../src/stores/environment.ts')
  setBrowserEnvironment(tab.environment)
  const sessions = await import('../../../src/stores/sessions.ts')
  const users = await import('../../../src/stores/signed-in-user.ts')
  const store = await import('../../../src/stores/history/requests.ts')
  const heard: ProcessedRequest[] = []
  store.addRequestListener(request => heard.push(request))
  // before the next tab gets modules of its own: errors must be of the class that this one knows
  await sessions.loadApiCallCode()
  sessions.restoreSession()
  store.loadRequests()
  return {
    ...tab,
    sessions,
    users,
    store,
    heard,
    ids: () => store.$requests.get().map(({ id }) => id),
    /**
     * Closes the tab without a message to other tabs. They notice it only if they wait for its
     * locks.
     */
    close() {
      tab.hide()
      tab.freeze()
    }
  }
}
