import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { AppError } from '../../../../src/contract/kit/errors.ts'
import { toProblem } from '../../../../src/contract/kit/problems.ts'
import type { LogProgress, ProcessedRequest } from '../../../../src/contract/requests.ts'
import { compareNewestFirst, computeShownRows } from '../../../../src/stores/history/requests.ts'
import { createListStore } from '../../../../src/stores/lists/lists.ts'
import { makeBrowser, makeToken } from '../../../helpers/browser.ts'
import '../../../helpers/soak.ts'

const start = Date.parse('2026-05-03T12:00:00Z')

test('holds each request once, in its newest state, whatever the order of replay, events and list', () => {
  const change = fc.record({ nr: fc.integer({ min: 0, max: 5 }), seq: fc.integer({ min: 1 }) })
  const changes = fc.uniqueArray(change, { maxLength: 20, selector: ({ seq }) => seq })
  const deliveries = changes.chain(changes =>
    // each change at least once, some twice, in any order and in any packets
    fc.tuple(
      fc.constant(changes),
      fc.shuffledSubarray([...changes, ...changes], { minLength: 0 }),
      fc.shuffledSubarray(changes, { minLength: changes.length }),
      fc.infiniteStream(fc.integer({ min: 1, max: 4 }))
    )
  )
  fc.assert(
    fc.property(deliveries, ([changes, extra, all, sizes]) => {
      const arriving = [...extra, ...all].map(({ nr, seq }) => makeRequest(nr, seq))
      const heard = new Map<string, number>()
      const list = createListStore<ProcessedRequest>(async () => [], {
        live: {
          compare: compareNewestFirst,
          isNewer: (request, held) => request.seq > held.seq,
          matcher: () => undefined,
          onChange(changed) {
            for (const { id, seq } of changed) {
              expect(seq).toBeGreaterThan(heard.get(id) ?? 0)
              heard.set(id, seq)
            }
          }
        }
      })
      while (arriving.length > 0) list.merge(arriving.splice(0, sizes.next().value))
      const rows = list.$rows.get()
      const newest = new Map<string, number>()
      for (const { nr, seq } of changes) {
        const { id } = makeRequest(nr, seq)
        newest.set(id, Math.max(newest.get(id) ?? 0, seq))
      }
      expect(new Map(rows.map(({ id, seq }) => [id, seq]))).toEqual(newest)
      expect(rows).toEqual(rows.toSorted(compareNewestFirst))
      for (const request of rows) expect(list.find(request.id)).toBe(request)
      expect(heard).toEqual(newest)
    })
  )
})

test('sorts by time, then by id, newest first', () => {
  const [a, b, c] = [makeRequest(1, 1), { ...makeRequest(2, 1) }, makeRequest(3, 1)]
  b.created = a.created
  expect([a, b, c].sort(compareNewestFirst).map(({ id }) => id)).toEqual([c.id, b.id, a.id])
})

test('holds rows still: none comes or goes above the last, and each changes in place', () => {
  const nr = fc.integer({ min: 0, max: 30 })
  const some = fc
    .uniqueArray(nr)
    .map(all => all.map(each => makeRequest(each, 1)).sort(compareNewestFirst))
  fc.assert(
    fc.property(some, some, (before, present) => {
      const newest = (id: string) => present.find(each => each.id === id)
      const newer = present.map(each => ({ ...each, seq: 2 }))
      const shown = computeShownRows(before, newer, id => newer.find(each => each.id === id))
      expect(shown).toEqual(shown.toSorted(compareNewestFirst))
      expect(new Set(shown.map(({ id }) => id)).size).toBe(shown.length)
      for (const { id } of before) {
        expect(shown.find(each => each.id === id)?.seq).toBe(newest(id) ? 2 : 1)
      }
      const [top] = before
      const others = shown.filter(({ id }) => !before.some(each => each.id === id))
      const older = newer.filter(each => !top || compareNewestFirst(each, top) > 0)
      expect(others).toEqual(older.filter(({ id }) => !before.some(each => each.id === id)))
    })
  )
})

test('loads the list from the first tick on and takes up what comes live', async () => {
  const { store, stream, list } = await open()
  list.push(makeRequest(1, 1))
  store.loadRequests()
  store.loadRequests()
  expect(store.$historyLoadStatus.get()).toEqual({ status: 'loading' })
  stream.send('event: tick\nid: 1\ndata: {}\n\n')
  await vi.waitFor(() => expect(store.$historyLoadStatus.get().status).toBe('ready'))
  expect(store.$streamConnectionState.get()).toBe('live')
  stream.send(event(makeRequest(2, 2)))
  await vi.waitFor(() => expect(idsOf(store)).toEqual([2, 1]))
  stream.send(event({ ...makeRequest(1, 3), state: 'done' }))
  await vi.waitFor(() => expect(store.$requests.get()[1]?.state).toBe('done'))
  expect(stream.opened()).toBe(1)
})

test('tells listeners what is new or changed, and nothing twice', async () => {
  const { store, stream } = await open()
  const heard: number[] = []
  const stop = store.addRequestListener(({ seq }) => heard.push(seq))
  store.loadRequests()
  for (const seq of [5, 4, 5, 6]) stream.send(event(makeRequest(1, seq)))
  await vi.waitFor(() => expect(store.$requests.get()[0]?.seq).toBe(6))
  stop()
  stream.send(event(makeRequest(1, 7)))
  await vi.waitFor(() => expect(store.$requests.get()[0]?.seq).toBe(7))
  expect(heard).toEqual([5, 6])
})

test('pages on after the last request of the pages, not after one that came live', async () => {
  const { store, stream, list, tab } = await open()
  for (let nr = 1; nr <= 300; nr += 1) list.unshift(makeRequest(nr, nr))
  store.loadRequests()
  stream.send('event: tick\nid: 300\ndata: {}\n\n')
  await vi.waitFor(() => expect(store.$historyLoadStatus.get()).toMatchObject({ hasMore: true }))
  stream.send(event(makeRequest(3, 301)))
  await vi.waitFor(() => expect(idsOf(store)).toHaveLength(51))
  await store.loadMoreRequests()
  expect(tab.calls.at(-1)?.path).toBe(`/process?limit=200&cursor=${makeRequest(251, 251).id}`)
  expect(idsOf(store)).toHaveLength(251)
  await store.loadMoreRequests()
  expect(idsOf(store)).toEqual(Array.from({ length: 300 }, (_, index) => 300 - index))
  expect(store.$historyLoadStatus.get()).toMatchObject({ hasMore: false })
})

test('goes on paging where it was after the first page has come again', async () => {
  const { store, stream, list, tab } = await open()
  for (let nr = 1; nr <= 300; nr += 1) list.unshift(makeRequest(nr, nr))
  store.loadRequests()
  stream.send('event: tick\nid: 300\ndata: {}\n\n')
  await vi.waitFor(() => expect(idsOf(store)).toHaveLength(50))
  await store.loadMoreRequests()
  list.unshift(makeRequest(301, 301))
  stream.send('event: reset\nid: 301\ndata: {}\n\n')
  await vi.waitFor(() => expect(idsOf(store)).toHaveLength(251))
  await store.loadMoreRequests()
  expect(tab.calls.at(-1)?.path).toBe(`/process?limit=200&cursor=${makeRequest(51, 51).id}`)
  expect(idsOf(store)).toHaveLength(301)
})

test('closes the gap that a long absence leaves', async () => {
  const { store, stream, list } = await open()
  for (let nr = 1; nr <= 10; nr += 1) list.unshift(makeRequest(nr, nr))
  store.loadRequests()
  stream.send('event: tick\nid: 10\ndata: {}\n\n')
  await vi.waitFor(() => expect(idsOf(store)).toHaveLength(10))
  for (let nr = 11; nr <= 80; nr += 1) list.unshift(makeRequest(nr, nr))
  stream.send('event: reset\nid: 80\ndata: {}\n\n')
  await vi.waitFor(() => expect(idsOf(store)).toHaveLength(60))
  await store.loadMoreRequests()
  expect(idsOf(store)).toHaveLength(80)
})

test('closes the gap even where an event has told of the last request before it', async () => {
  const { store, stream, list } = await open()
  for (let nr = 1; nr <= 10; nr += 1) list.unshift(makeRequest(nr, nr))
  store.loadRequests()
  stream.send('event: tick\nid: 10\ndata: {}\n\n')
  await vi.waitFor(() => expect(idsOf(store)).toHaveLength(10))
  for (let nr = 11; nr <= 80; nr += 1) list.unshift(makeRequest(nr, nr))
  stream.send(`${event(makeRequest(31, 31))}event: reset\nid: 80\ndata: {}\n\n`)
  await vi.waitFor(() => expect(idsOf(store)).toHaveLength(60))
  await store.loadMoreRequests()
  expect(idsOf(store)).toHaveLength(80)
})

test('reduces the list to a filter at once, asks for it, and lets live requests through it', async () => {
  const { store, stream, list, tab } = await open()
  for (let nr = 1; nr <= 10; nr += 1) list.unshift({ ...makeRequest(nr, nr), name: `Été ${nr}` })
  store.loadRequests()
  stream.send('event: tick\nid: 10\ndata: {}\n\n')
  await vi.waitFor(() => expect(idsOf(store)).toHaveLength(10))
  store.setRequestFilter({ q: 'ETE 1', state: 'uploading' })
  expect(idsOf(store)).toEqual([10, 1])
  expect(store.$historyLoadStatus.get().status).toBe('loading')
  await vi.waitFor(() => expect(store.$historyLoadStatus.get().status).toBe('ready'))
  const asked = tab.calls.map(({ path }) => path).filter(path => path.includes('q='))
  expect(asked).toEqual(['/process?limit=50&q=ETE+1&state=uploading'])
  stream.send(event({ ...makeRequest(11, 11), name: 'été 11' }))
  stream.send(event({ ...makeRequest(12, 12), name: 'été 2' }))
  await vi.waitFor(() => expect(idsOf(store)).toEqual([11, 10, 1]))
  stream.send(event({ ...makeRequest(10, 13), name: 'été 10', state: 'done' }))
  await vi.waitFor(() => expect(idsOf(store)).toEqual([11, 1]))
  store.setRequestFilter({})
  expect(idsOf(store)).toHaveLength(12)
  expect(stream.opened()).toBe(1)
})

test('drops the answer for a filter that has been changed since', async () => {
  const { store, stream, list, tab } = await open()
  for (let nr = 1; nr <= 60; nr += 1) list.unshift(makeRequest(nr, nr))
  store.loadRequests()
  stream.send('event: tick\nid: 60\ndata: {}\n\n')
  await vi.waitFor(() => expect(idsOf(store)).toHaveLength(50))
  store.setRequestFilter({ kind: 'verify' })
  store.setRequestFilter({ state: 'failed' })
  await vi.waitFor(() => expect(store.$historyLoadStatus.get().status).toBe('ready'))
  await store.loadMoreRequests()
  expect(tab.calls.at(-1)?.path).toBe(
    `/process?limit=200&cursor=${makeRequest(11, 11).id}&state=failed`
  )
})

test('takes up what changed outside the filter when it reloads', async () => {
  const { store, stream, list } = await open()
  const heard: string[] = []
  store.addRequestListener(({ state }) => heard.push(state))
  list.push(makeRequest(1, 1))
  store.loadRequests()
  stream.send('event: tick\nid: 1\ndata: {}\n\n')
  await vi.waitFor(() => expect(idsOf(store)).toEqual([1]))
  store.setRequestFilter({ state: 'uploading' })
  await vi.waitFor(() => expect(store.$historyLoadStatus.get().status).toBe('ready'))
  list[0] = { ...makeRequest(1, 9), state: 'done' }
  stream.send('event: reset\nid: 9\ndata: {}\n\n')
  await vi.waitFor(() => expect(heard).toEqual(['uploading', 'done']))
})

test('shows the list even when the stream is refused', async () => {
  const { store, stream, list } = await open()
  list.push(makeRequest(1, 1))
  stream.refuse('unavailable')
  store.loadRequests()
  await vi.waitFor(() => expect(idsOf(store)).toEqual([1]))
  expect(store.$streamConnectionState.get()).toBe('unreachable')
})

test('says why the list failed, and loads it on demand', async () => {
  const { store, stream, fail } = await open()
  fail('unavailable')
  store.loadRequests()
  stream.send('event: tick\nid: 1\ndata: {}\n\n')
  await vi.waitFor(() => expect(store.$historyLoadStatus.get().status).toBe('failed'))
  fail(undefined)
  await store.reloadHistory()
  expect(store.$historyLoadStatus.get()).toEqual({ status: 'ready', hasMore: false, more: 'idle' })
})

test('turns records into sealed ones as the stream tells how far the log is signed', async () => {
  const { store, stream, list } = await open()
  list.push(makeRecord(3, 3), makeRecord(2, 2), makeRecord(1, 1))
  store.loadRequests()
  stream.send('event: tick\nid: 3\ndata: {}\n\n')
  await vi.waitFor(() => expect(idsOf(store)).toEqual([3, 2, 1]))
  const heard: (string | undefined)[] = []
  store.addRequestListener(({ rung }) => heard.push(rung))
  const [early, late] = ['2026-05-03T12:00:01.000Z', '2026-05-03T12:00:02.000Z']
  // at its beginning, a connection cannot tell since when
  stream.send(sealed({ size: 2, at: early }))
  await vi.waitFor(() => expect(sealsOf(store)).toEqual(['recorded', 'recorded', 'sealed']))
  stream.send(sealed({ size: 3, at: late }))
  await vi.waitFor(() => expect(sealsOf(store)).toEqual(['recorded', `sealed ${late}`, 'sealed']))
  expect(heard).toEqual(['sealed', 'sealed'])
  // told before the record itself, whose copies know nothing of it
  stream.send(sealed({ size: 6, at: early }))
  stream.send(event(makeRecord(5, 5)))
  await vi.waitFor(() => expect(sealsOf(store)[0]).toBe(`sealed ${early}`))
  stream.send(event({ ...makeRecord(5, 6), erased: late, leaf_index: undefined }))
  await vi.waitFor(() => expect(store.$requests.get()[0]?.erased).toBe(late))
  expect(sealsOf(store)[0]).toBe(`sealed ${early}`)
  await store.reloadHistory()
  expect(sealsOf(store)[0]).toBe(`sealed ${early}`)
})

test('says while the log is frozen that sealing is paused, and loads the list when it goes on', async () => {
  const { store, stream, list } = await open()
  list.push(makeRecord(2, 2), makeRecord(1, 1))
  store.loadRequests()
  stream.send('event: tick\nid: 2\ndata: {}\n\n')
  const at = '2026-05-03T12:00:01.000Z'
  stream.send(sealed({ size: 2, at, paused: true }))
  await vi.waitFor(() => expect(sealsOf(store)).toEqual(['sealing_paused', 'sealed']))
  // mended, so that a record has another place in the log
  list[0] = makeRecord(2, 2, 7)
  stream.send(sealed({ size: 3, at }))
  await vi.waitFor(() => expect(store.$requests.get()[0]?.leaf_index).toBe(7))
  expect(sealsOf(store)).toEqual(['recorded', 'sealed'])
})

test('loads the list again when the log has a successor, whose indexes begin anew', async () => {
  const { store, stream, list } = await open()
  list.push(makeRecord(2, 2, 900))
  store.loadRequests()
  stream.send('event: tick\nid: 2\ndata: {}\n\n')
  stream.send(sealed({ size: 900, at: '2026-05-03T12:00:01.000Z' }))
  await vi.waitFor(() => expect(sealsOf(store)).toEqual(['recorded']))
  list[0] = makeRecord(2, 2, 1)
  stream.send(sealed({ size: 2, at: '2026-05-03T12:00:02.000Z' }))
  await vi.waitFor(() => expect(sealsOf(store)).toEqual(['sealed']))
})

test('forgets all and closes the stream at sign-out', async () => {
  const { store, stream, list, sessions } = await open()
  list.push(makeRequest(1, 1))
  store.loadRequests()
  stream.send('event: tick\nid: 1\ndata: {}\n\n')
  await vi.waitFor(() => expect(idsOf(store)).toEqual([1]))
  await sessions.signOut()
  expect(store.$requests.get()).toEqual([])
  expect(store.$historyLoadStatus.get()).toEqual({ status: 'idle' })
  expect(stream.isAborted()).toBe(true)
  store.loadRequests()
  expect(stream.opened()).toBe(1)
})

function makeRequest(nr: number, seq: number): ProcessedRequest {
  return {
    id: `01978a5e-0000-7000-8000-${String(nr).padStart(12, '0')}`,
    kind: 'deposit',
    created: new Date(start + nr * 1000).toISOString(),
    seq,
    state: 'uploading'
  }
}

function makeRecord(nr: number, seq: number, leaf_index = nr): ProcessedRequest {
  return { ...makeRequest(nr, seq), state: 'done', rung: 'recorded', leaf_index }
}

function sealed(progress: LogProgress): string {
  return `event: sealed\ndata: ${JSON.stringify(progress)}\n\n`
}

function sealsOf(
  store: Pick<typeof import('../../../../src/stores/history/requests.ts'), '$requests'>
) {
  return store.$requests.get().map(({ rung, sealed: at }) => [rung, at].filter(Boolean).join(' '))
}

function event(request: ProcessedRequest): string {
  return `id: ${request.seq}\ndata: ${JSON.stringify(request)}\n\n`
}

/**
 * Opens a signed-in tab with new stores. The API has the requests of `list`. The test writes the
 * stream.
 */
async function open() {
  const list: ProcessedRequest[] = []
  const sent: string[] = []
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  let opened = 0
  let refusal: 'unavailable' | undefined
  let failure: 'unavailable' | undefined
  // not its signal: Node passes nothing on to the signal of a request that is collected
  let streaming: Request | undefined
  const browser = makeBrowser({ now: start })
  const token = makeToken({ sub: 'ada', exp: start / 1000 + 3600 })
  browser.cookies.set('__Host-vidimus', { value: token, attributes: [] })
  const tab = browser.openTab('http://localhost:4321/en/history', request => {
    const { pathname, searchParams } = new URL(request.url)
    if (pathname === '/process/sse') {
      opened += 1
      if (refusal) return problem(refusal)
      streaming = request
      const body = new ReadableStream<Uint8Array>({
        start(own) {
          controller = own
          for (const text of sent.splice(0)) own.enqueue(Buffer.from(text))
        }
      })
      return new Response(body)
    }
    if (pathname === '/process') {
      if (failure) return problem(failure)
      const cursor = searchParams.get('cursor')
      const from = cursor ? list.findIndex(({ id }) => id === cursor) + 1 : 0
      return Response.json(list.slice(from, from + Number(searchParams.get('limit'))))
    }
    return new Response(null, { status: 204 })
  })
  vi.resetModules()
  const { setBrowserEnvironment } = await import('../../../../src/stores/environment.ts')
  setBrowserEnvironment(tab.environment)
  const sessions = await import('../../../../src/stores/sessions.ts')
  const store = await import('../../../../src/stores/history/requests.ts')
  // loaded at the first use, which on a busy machine takes longer than a test waits
  await Promise.all([
    sessions.loadApiCallCode(),
    import('../../../../src/stores/history/request-stream.ts')
  ])
  sessions.restoreSession()
  const stream = {
    send(text: string) {
      if (controller) controller.enqueue(Buffer.from(text))
      else sent.push(text)
    },
    refuse: (code: 'unavailable') => {
      refusal = code
    },
    opened: () => opened,
    isAborted: () => streaming?.signal.aborted ?? false
  }
  const fail = (code: 'unavailable' | undefined) => {
    failure = code
  }
  return { tab, sessions, store, stream, list, fail }
}

function idsOf(store: typeof import('../../../../src/stores/history/requests.ts')): number[] {
  return store.$requests.get().map(({ id }) => Number(id.slice(-12)))
}

function problem(code: 'unavailable'): Response {
  const body = toProblem(new AppError(code, 'test'))
  return Response.json(body, { status: body.status })
}
