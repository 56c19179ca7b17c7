import { createHash } from 'node:crypto'
import { expect, test, vi } from 'vitest'
import { AppError, type ErrorCode } from '../../../src/contract/kit/errors.ts'
import { toProblem } from '../../../src/contract/kit/problems.ts'
import { makeBrowser, makeToken } from '../../helpers/browser.ts'

const start = Date.parse('2026-05-03T12:00:00Z')

test('asks about the fingerprint of a file, and sends nothing else of it', async () => {
  const { store, tab } = await open()
  await store.verifyFiles([fileOf('a secret', 'letter.txt')])
  expect(tab.calls.map(({ method, path, body }) => ({ method, path, body }))).toEqual([
    { method: 'POST', path: '/verify', body: { items: [{ sha256: hashOf('a secret') }] } }
  ])
  expect(store.$verifications.get()).toMatchObject([
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
  await store.verifyFiles(Array.from({ length: 45 }, (_, index) => fileOf(`file ${index}`)))
  const bodies = tab.calls.filter(({ path }) => path === '/verify').map(({ body }) => body)
  expect(bodies.map(itemCount)).toEqual(sizes)
  expect(store.$verifications.get().every(({ state }) => state.step === 'done')).toBe(true)
  expect(store.$verifications.get()[0]?.sha256).toBe(hashOf('file 0'))
})

test.for([
  ['a line of sha256sum', (hash: string) => `${hash}  a.pdf\n`, ['a.pdf']],
  [
    'lines with line ends of Windows, in upper case and in binary mode',
    (hash: string) => `${hash.toUpperCase()} *a.pdf\r\n${hash}  b c.pdf\r\n`,
    ['a.pdf', 'b c.pdf']
  ],
  ['the form with a tag', (hash: string) => `SHA256 (a (1).pdf) = ${hash}`, ['a (1).pdf']]
] as const)('takes %s, with the names', async ([, text, names]) => {
  const { store } = await open()
  expect(store.startVerifyingFingerprintsIn(text(hashOf('x'))).found).toHaveLength(names.length)
  await vi.waitFor(() =>
    expect(store.$verifications.get().every(check => !store.isAwaitingResult(check))).toBe(true)
  )
  expect(store.$verifications.get().map(({ name }) => name)).toEqual(names)
  expect(new Set(store.$verifications.get().map(({ sha256 }) => sha256))).toEqual(
    new Set([hashOf('x')])
  )
  expect(new Set(store.$verifications.get().map(({ subject }) => subject))).toEqual(
    new Set(['fingerprint'])
  )
})

test('takes the answer out of view with a paste that is refused', async () => {
  const { store } = await open()
  await store.verifyFiles([fileOf('1')])
  expect(store.$shownBatch.get()).toBe(store.$verifications.get()[0]?.batch)
  expect(store.startVerifyingFingerprintsIn('no fingerprint').found).toEqual([])
  expect(store.$shownBatch.get()).toBeUndefined()
  expect(store.$verifications.get()).toHaveLength(1)
})

test('says when it goes on, and goes on by itself', async () => {
  const { store, browser, tab, fail } = await open()
  fail('lookup_limited', 42)
  const checking = store.verifyFiles(Array.from({ length: 45 }, (_, nr) => fileOf(`file ${nr}`)))
  await vi.waitFor(() => expect(store.$verificationRetryPause.get()?.until).toBe(start + 42_000))
  // files are fingerprinted meanwhile
  await vi.waitFor(() =>
    expect(store.$verifications.get().every(({ sha256 }) => sha256)).toBe(true)
  )
  fail(undefined)
  browser.advance(42_000)
  await checking
  expect(store.$verificationRetryPause.get()).toBeUndefined()
  expect(store.$verifications.get().every(({ state }) => state.step === 'done')).toBe(true)
  expect(tab.calls.map(({ body }) => itemCount(body))).toEqual([20, 20, 20, 5])
})

test.for(['offline', 'unavailable'] as const)('goes on by itself after %s', async code => {
  const { store, browser, tab, fail } = await open({ isSignedIn: true })
  fail(code)
  const checking = store.verifyFiles([fileOf('x')])
  for (const seconds of [0, 1, 3, 5, 10, 20, 20, 20]) {
    await vi.waitFor(() => expect(store.$verificationRetryPause.get()?.error.code).toBe(code))
    browser.advance(seconds * 1000)
  }
  await vi.waitFor(() => expect(store.$verificationRetryPause.get()).toBeDefined())
  fail(undefined)
  if (code === 'offline') tab.wake()
  else browser.advance(20_000)
  await checking
  expect(store.$verifications.get()[0]?.state.step).toBe('done')
})

test('does not wait for days, nor where the server names no time', async () => {
  const { store, fail } = await open()
  for (const seconds of [undefined, 3 * 86_400]) {
    fail('lookup_limited', seconds)
    await store.verifyFiles([fileOf('x')])
    expect(codeOf(store.$verifications.get()[0]?.state)).toBe('lookup_limited')
  }
})

test('stops a long check, and takes it up again where it stopped', async () => {
  const { store, tab, fail } = await open()
  fail('lookup_limited', 42)
  const checking = store.verifyFiles(Array.from({ length: 25 }, (_, nr) => fileOf(`file ${nr}`)))
  await vi.waitFor(() => expect(store.$verificationRetryPause.get()).toBeDefined())
  store.stopVerifications()
  await checking
  expect(store.$verificationRetryPause.get()).toBeUndefined()
  expect(new Set(store.$verifications.get().map(({ state }) => state.step))).toEqual(
    new Set(['stopped'])
  )
  expect(tab.calls).toHaveLength(1)
  fail(undefined)
  await store.retryVerifications()
  expect(new Set(store.$verifications.get().map(({ state }) => state.step))).toEqual(
    new Set(['done'])
  )
})

test('does not wait any longer once the person has signed in', async () => {
  const { store, tab, fail, signInAs } = await open()
  fail('lookup_limited', 3600)
  const checking = store.verifyFiles([fileOf('x')])
  await vi.waitFor(() => expect(store.$verificationRetryPause.get()).toBeDefined())
  fail(undefined)
  signInAs('ada')
  tab.wake()
  await checking
  expect(store.$verifications.get()[0]?.state.step).toBe('done')
})

test('goes on with what the end of a session had interrupted', async () => {
  const { store, tab, fail, signInAs } = await open({ isSignedIn: true })
  fail('unauthenticated')
  await store.verifyFiles([fileOf('x')])
  expect(codeOf(store.$verifications.get()[0]?.state)).toBe('unauthenticated')
  fail(undefined)
  signInAs('ada')
  tab.wake()
  await vi.waitFor(() => expect(store.$verifications.get()[0]?.state.step).toBe('done'))
})

test('checks a pasted fingerprint, and tells what is none', async () => {
  const { store } = await open()
  expect(store.startVerifyingFingerprintsIn('not a fingerprint').found).toEqual([])
  expect(store.$verifications.get()).toEqual([])
  store.startVerifyingFingerprintsIn(`SHA256:${hashOf('x').toUpperCase()}`)
  await vi.waitFor(() => expect(store.$verifications.get()[0]?.state.step).toBe('done'))
  expect(store.$verifications.get()[0]).toMatchObject({ name: undefined, sha256: hashOf('x') })
})

test('keeps what was dropped together together, the newest first', async () => {
  const { store } = await open()
  await store.verifyFiles([fileOf('1'), fileOf('2')])
  await store.verifyFiles([fileOf('3')])
  const [third, first, second] = store.$verifications.get()
  expect(third?.sha256).toBe(hashOf('3'))
  expect(first?.batch).toBe(second?.batch)
  expect(third?.batch).not.toBe(first?.batch)
})

test('asks nothing about an empty file or one that cannot be read, and the rest goes on', async () => {
  const { store, tab, errors } = await open()
  const gone = fileOf('gone')
  gone.arrayBuffer = () => Promise.reject(new errors.AppError('file_unreadable', 'test'))
  await store.verifyFiles([fileOf(''), gone, fileOf('here')])
  expect(store.$verifications.get().map(({ state }) => codeOf(state))).toEqual([
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
  await store.verifyFiles([file])
  expect(store.$verifications.get().map(({ state }) => codeOf(state))).toEqual(['lookup_limited'])
  fail(undefined)
  await store.retryVerifications()
  expect(store.$verifications.get()[0]?.state.step).toBe('done')
  expect(read).toHaveBeenCalledOnce()
  expect(tab.calls).toHaveLength(2)
})

test('asks no further once the limit is reached', async () => {
  const { store, tab, fail } = await open()
  fail('lookup_limited')
  await store.verifyFiles(Array.from({ length: 45 }, (_, index) => fileOf(`file ${index}`)))
  expect(tab.calls.map(({ body }) => itemCount(body))).toEqual([20])
  expect(store.$verifications.get().every(({ state }) => codeOf(state) === 'lookup_limited')).toBe(
    true
  )
})

test('does not ask about a check that was stopped', async () => {
  const { store, tab } = await open()
  const running = store.verifyFiles([fileOf('stopped'), fileOf('kept')])
  store.removeVerification(store.$verifications.get()[0]?.id ?? 0)
  await running
  expect(store.$verifications.get().map(({ sha256 }) => sha256)).toEqual([hashOf('kept')])
  expect(tab.calls.map(({ body }) => itemCount(body))).toEqual([1])
})

test('keeps names of checked files in this browser, for their owner and until sign-out', async () => {
  const { store, sessions, browser, tab, signInAs } = await open({ isSignedIn: true })
  const { $verifiedFileNamesByRequest } = await import('../../../src/stores/verified-file-names.ts')
  await store.verifyFiles([fileOf('1', 'one.pdf'), fileOf('2', 'two.pdf')])
  expect([...$verifiedFileNamesByRequest.get().values()]).toEqual([['one.pdf', 'two.pdf']])
  expect(JSON.stringify(tab.calls)).not.toContain('one.pdf')
  expect([...browser.storage.values()].join()).toContain('one.pdf')

  // the session ends by itself: the same person finds them again, another one does not
  sessions.handleAuthError(new AppError('unauthenticated', 'test'), sessions.sessionToken())
  expect($verifiedFileNamesByRequest.get().size).toBe(0)
  signInAs('ada')
  tab.wake()
  expect($verifiedFileNamesByRequest.get().size).toBe(1)
  await sessions.beginSession(makeToken({ sub: 'eve', exp: start / 1000 + 3600 }))
  expect($verifiedFileNamesByRequest.get().size).toBe(0)
  expect([...browser.storage.values()].join()).not.toContain('one.pdf')

  await store.verifyFiles([fileOf('3', 'three.pdf')])
  expect([...browser.storage.values()].join()).toContain('three.pdf')
  await sessions.signOut()
  expect([...browser.storage.values()].join()).not.toContain('three.pdf')
})

test('forgets the visit at sign-out', async () => {
  const { store, sessions } = await open({ isSignedIn: true })
  await store.verifyFiles([fileOf('mine')])
  await sessions.signOut()
  expect(store.$verifications.get()).toEqual([])
})

test('keeps the checks when the session ends by itself, and says why one has no answer', async () => {
  const { store, sessions, fail } = await open({ isSignedIn: true })
  await store.verifyFiles([fileOf('answered')])
  fail('unauthenticated')
  await store.verifyFiles([fileOf('unanswered')])
  expect(sessions.$session.get().status).toBe('out')
  expect(store.$verifications.get().map(({ state }) => codeOf(state))).toEqual([
    'unauthenticated',
    undefined
  ])
  expect(store.$verifications.get().map(store.canRetry)).toEqual([true, false])
})

test.for([
  ['ada', 1],
  ['eve', 0]
] as const)('after a session ended, shows the checks of ada to %s: %i', async ([sub, left]) => {
  const { store, sessions, tab, signInAs } = await open({ isSignedIn: true })
  await store.verifyFiles([fileOf('of ada')])
  sessions.handleAuthError(new AppError('unauthenticated', 'test'), sessions.sessionToken())
  signInAs(sub)
  tab.wake()
  expect(sessions.$session.get().status).toBe('in')
  expect(store.$verifications.get()).toHaveLength(left)
})

test('asks about many files in hundreds, so that the first answers come early', async () => {
  const { store, tab } = await open({ isSignedIn: true })
  await store.verifyFiles(Array.from({ length: 250 }, (_, index) => fileOf(`file ${index}`)))
  const bodies = tab.calls.filter(({ path }) => path === '/verify').map(({ body }) => body)
  expect(bodies.map(itemCount)).toEqual([100, 100, 50])
})

/**
 * Opens a tab with new stores. Its API finds no document, or fails with the error that the test
 * sets.
 */
async function open({ isSignedIn = false } = {}) {
  const browser = makeBrowser({ now: start })
  const signInAs = (sub: string) => {
    const value = makeToken({ sub, exp: start / 1000 + 3600 })
    browser.cookies.set('__Host-vidimus', { value, attributes: [] })
  }
  if (isSignedIn) signInAs('ada')
  let failure: AppError | undefined
  const tab = browser.openTab('http://localhost:4321/en/verify', async request => {
    if (new URL(request.url).pathname !== '/verify') return new Response(null, { status: 204 })
    if (failure) {
      if (failure.code === 'offline') throw new TypeError('no network')
      const body = toProblem(failure)
      const { retryAfter } = failure
      const headers = retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }
      return Response.json(body, { status: body.status, headers })
    }
    const { items } = await request.json()
    return Response.json({
      ...(request.headers.has('authorization') ? { request_id: crypto.randomUUID() } : {}),
      items: items.map(({ sha256 }: { sha256: string }) => ({
        sha256,
        verdict: 'not_found',
        company: 'Acme',
        at: '2026-05-03T12:00:00.000Z',
        findings: [],
        records: 0,
        sources: []
      })),
      sources: []
    })
  })
  vi.resetModules()
  const { setBrowserEnvironment } = await import('../../../src/stores/environment.ts')
  setBrowserEnvironment(tab.environment)
  const sessions = await import('../../../src/stores/sessions.ts')
  const errors = await import('../../../src/contract/kit/errors.ts')
  const store = await import('../../../src/stores/verifications.ts')
  sessions.restoreSession()
  const fail = (code: ErrorCode | undefined, retryAfter?: number) => {
    const details = retryAfter === undefined ? {} : { retryAfter }
    failure = code && new AppError(code, 'test', details)
  }
  return { browser, tab, sessions, store, errors, fail, signInAs }
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

function codeOf(state?: { step: string; error?: { code: string } }): string | undefined {
  return state?.error?.code
}
