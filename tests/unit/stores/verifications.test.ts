import { createHash } from 'node:crypto'
import { expect, test, vi } from 'vitest'
import { AppError, toProblem } from '../../../src/contract/errors.ts'
import { makeBrowser, makeToken } from '../../helpers/browser.ts'

const start = Date.parse('2026-05-03T12:00:00Z')

test('asks about the fingerprint of a file, and sends nothing else of it', async () => {
  const { store, tab } = await open()
  await store.checkFiles([fileOf('a secret', 'letter.txt')])
  expect(tab.calls.map(({ method, path, body }) => ({ method, path, body }))).toEqual([
    { method: 'POST', path: '/verify', body: { items: [{ sha256: hashOf('a secret') }] } }
  ])
  expect(store.$checks.get()).toMatchObject([
    {
      name: 'letter.txt',
      size: 8,
      sha256: hashOf('a secret'),
      state: { step: 'done', answer: { sha256: hashOf('a secret'), verdict: 'not_found' } }
    }
  ])
})

test.for([
  ['signed out', false, [20, 20, 5]],
  ['signed in', true, [45]]
] as const)('asks in groups as large as may be, %s', async ([, isSignedIn, sizes]) => {
  const { store, tab } = await open({ isSignedIn })
  await store.checkFiles(Array.from({ length: 45 }, (_, index) => fileOf(`file ${index}`)))
  const bodies = tab.calls.filter(({ path }) => path === '/verify').map(({ body }) => body)
  expect(bodies.map(itemCount)).toEqual(sizes)
  expect(store.$checks.get().every(({ state }) => state.step === 'done')).toBe(true)
  expect(store.$checks.get()[0]?.sha256).toBe(hashOf('file 0'))
})

test('checks a pasted fingerprint, and tells what is none', async () => {
  const { store } = await open()
  expect(store.checkFingerprint('not a fingerprint')).toBe(false)
  expect(store.$checks.get()).toEqual([])
  expect(store.checkFingerprint(`SHA256:${hashOf('x').toUpperCase()}`)).toBe(true)
  await vi.waitFor(() => expect(store.$checks.get()[0]?.state.step).toBe('done'))
  expect(store.$checks.get()[0]).toMatchObject({ name: undefined, sha256: hashOf('x') })
})

test('keeps what was dropped together together, the newest first', async () => {
  const { store } = await open()
  await store.checkFiles([fileOf('1'), fileOf('2')])
  await store.checkFiles([fileOf('3')])
  const [third, first, second] = store.$checks.get()
  expect(third?.sha256).toBe(hashOf('3'))
  expect(first?.batch).toBe(second?.batch)
  expect(third?.batch).not.toBe(first?.batch)
})

test('asks nothing about an empty file or one that cannot be read, and the rest goes on', async () => {
  const { store, tab, errors } = await open()
  const gone = fileOf('gone')
  gone.arrayBuffer = () => Promise.reject(new errors.AppError('file_unreadable', 'test'))
  await store.checkFiles([fileOf(''), gone, fileOf('here')])
  expect(store.$checks.get().map(({ state }) => codeOf(state))).toEqual([
    'file_empty',
    'file_unreadable',
    undefined
  ])
  expect(tab.calls.map(({ body }) => itemCount(body))).toEqual([1])
})

test('tries again what failed, without reading the file again', async () => {
  const { store, tab, fail } = await open()
  const file = fileOf('once')
  const read = vi.spyOn(file, 'arrayBuffer')
  fail('lookup_limited')
  await store.checkFiles([file])
  expect(store.$checks.get().map(({ state }) => codeOf(state))).toEqual(['lookup_limited'])
  fail(undefined)
  await store.retryChecks()
  expect(store.$checks.get()[0]?.state.step).toBe('done')
  expect(read).toHaveBeenCalledOnce()
  expect(tab.calls).toHaveLength(2)
})

test('asks no further once the limit is reached', async () => {
  const { store, tab, fail } = await open()
  fail('lookup_limited')
  await store.checkFiles(Array.from({ length: 45 }, (_, index) => fileOf(`file ${index}`)))
  expect(tab.calls.map(({ body }) => itemCount(body))).toEqual([20])
  expect(store.$checks.get().every(({ state }) => codeOf(state) === 'lookup_limited')).toBe(true)
})

test('does not ask about a check that was stopped', async () => {
  const { store, tab } = await open()
  const running = store.checkFiles([fileOf('stopped'), fileOf('kept')])
  store.cancelCheck(store.$checks.get()[0]?.id ?? 0)
  await running
  expect(store.$checks.get().map(({ sha256 }) => sha256)).toEqual([hashOf('kept')])
  expect(tab.calls.map(({ body }) => itemCount(body))).toEqual([1])
})

test('forgets the visit at sign-out', async () => {
  const { store, sessions } = await open({ isSignedIn: true })
  await store.checkFiles([fileOf('mine')])
  await sessions.signOut()
  expect(store.$checks.get()).toEqual([])
})

test('keeps the checks when the session ends by itself, and says why one has no answer', async () => {
  const { store, sessions, fail } = await open({ isSignedIn: true })
  await store.checkFiles([fileOf('answered')])
  fail('unauthenticated')
  await store.checkFiles([fileOf('unanswered')])
  expect(sessions.$session.get().status).toBe('out')
  expect(store.$checks.get().map(({ state }) => codeOf(state))).toEqual([
    'unauthenticated',
    undefined
  ])
  expect(store.$checks.get().map(store.mayRetry)).toEqual([true, false])
})

test.for([
  ['ada', 1],
  ['eve', 0]
] as const)('after a session ended, shows the checks of ada to %s: %i', async ([sub, left]) => {
  const { store, sessions, tab, signInAs } = await open({ isSignedIn: true })
  await store.checkFiles([fileOf('of ada')])
  sessions.heed(new AppError('unauthenticated', 'test'), sessions.sessionToken())
  signInAs(sub)
  tab.wake()
  expect(sessions.$session.get().status).toBe('in')
  expect(store.$checks.get()).toHaveLength(left)
})

test('asks about many files in hundreds, so that the first answers come early', async () => {
  const { store, tab } = await open({ isSignedIn: true })
  await store.checkFiles(Array.from({ length: 250 }, (_, index) => fileOf(`file ${index}`)))
  const bodies = tab.calls.filter(({ path }) => path === '/verify').map(({ body }) => body)
  expect(bodies.map(itemCount)).toEqual([100, 100, 50])
})

/** A tab with fresh stores whose API knows no file. */
async function open({ isSignedIn = false } = {}) {
  const browser = makeBrowser({ now: start })
  const signInAs = (sub: string) => {
    const value = makeToken({ sub, exp: start / 1000 + 3600 })
    browser.cookies.set('__Host-vidimus', { value, attributes: [] })
  }
  if (isSignedIn) signInAs('ada')
  let failure: 'lookup_limited' | 'unauthenticated' | undefined
  const tab = browser.openTab('http://localhost:4321/en/verify', async request => {
    if (new URL(request.url).pathname !== '/verify') return new Response(null, { status: 204 })
    if (failure) {
      const body = toProblem(new AppError(failure, 'test'))
      return Response.json(body, { status: body.status })
    }
    const { items } = await request.json()
    return Response.json({
      items: items.map(({ sha256 }: { sha256: string }) => ({
        sha256,
        verdict: 'not_found',
        company: 'Acme',
        at: '2026-05-03T12:00:00.000Z',
        findings: []
      }))
    })
  })
  vi.resetModules()
  const { setEnvironment } = await import('../../../src/stores/environment.ts')
  setEnvironment(tab.environment)
  const sessions = await import('../../../src/stores/sessions.ts')
  const errors = await import('../../../src/contract/errors.ts')
  const store = await import('../../../src/stores/verifications.ts')
  sessions.startSession()
  const fail = (code: typeof failure) => {
    failure = code
  }
  return { tab, sessions, store, errors, fail, signInAs }
}

function fileOf(text: string, name = 'file.txt'): File {
  return new File([text], name)
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function itemCount(body: unknown): number {
  return (body as { items: unknown[] }).items.length // as: the store made it
}

function codeOf(state: { step: string; error?: { code: string } }): string | undefined {
  return state.error?.code
}
