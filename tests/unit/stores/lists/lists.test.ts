import { afterEach, beforeEach, expect, test } from 'vitest'
import { AppError } from '../../../../src/contract/kit/errors.ts'
import { setBrowserEnvironment } from '../../../../src/stores/environment.ts'
import { removeRow } from '../../../../src/stores/lists/list-changes.ts'
import { createListStore, isSameQuery } from '../../../../src/stores/lists/lists.ts'
import { beginSession, signOut } from '../../../../src/stores/sessions.ts'
import { makeBrowser, makeToken } from '../../../helpers/browser.ts'

interface Row {
  id: string
  name: string
}

beforeEach(async () => {
  const browser = makeBrowser()
  const tab = browser.openTab('http://localhost:4321/en', () => new Response(null, { status: 503 }))
  setBrowserEnvironment(tab.environment)
  await beginSession(makeToken({ sub: 'ada', exp: browser.now() / 1000 + 3600 }))
})
afterEach(async () => {
  await signOut()
  setBrowserEnvironment(undefined)
})

test('loads page by page, after the last row of the page before, and no row twice', async () => {
  const { list, server } = makeList(260)
  await list.open('acme', {})
  expect(namesOf(list)).toEqual(server.slice(0, 50).map(({ name }) => name))
  expect(list.$status.get()).toEqual({ status: 'ready', hasMore: true, more: 'idle' })
  // a row that moves up in the order of the server
  server.splice(0, 0, { id: 'new', name: 'new' })
  await list.loadMore()
  await list.loadMore()
  expect(new Set(namesOf(list)).size).toBe(260)
  expect(namesOf(list).at(-1)).toBe('row 260')
  expect(list.$status.get()).toEqual({ status: 'ready', hasMore: false, more: 'idle' })
})

test('keeps the old rows until those of a new query are there', async () => {
  const { list, hold } = makeList(20)
  await list.open('acme', {})
  const release = hold()
  const opened = list.open('acme', { q: 'row 7' })
  expect(list.$status.get()).toEqual({ status: 'loading' })
  expect(namesOf(list)).toHaveLength(20)
  release()
  await opened
  expect(namesOf(list)).toEqual(['row 7'])
})

test('shows no row of another owner, not even for a moment', async () => {
  const { list, hold } = makeList(20)
  await list.open('acme', {})
  const release = hold()
  const opened = list.open('orchard', {})
  expect(namesOf(list)).toEqual([])
  release()
  await opened
  expect(namesOf(list)).toHaveLength(20)
})

test('a late answer to an earlier query or refresh changes nothing', async () => {
  const { list, server, hold } = makeList(20)
  await list.open('acme', {})
  const releases = [hold(), hold()]
  const early = list.open('acme', { q: 'row 1' })
  const late = list.open('acme', { q: 'row 20' })
  releases[1]?.()
  await late
  releases[0]?.()
  await early
  expect(namesOf(list)).toEqual(['row 20'])

  await list.open('acme', {})
  const refreshes = [hold(), hold()]
  const first = list.refresh()
  server.splice(19, 1, { id: '20', name: 'row 20, renamed' })
  const second = list.refresh()
  refreshes[1]?.()
  await second
  refreshes[0]?.()
  expect(await first).toBe(false)
  expect(namesOf(list).at(-1)).toBe('row 20, renamed')
})

test('says why a refresh failed and keeps the rows', async () => {
  const { list, fail } = makeList(20)
  await list.open('acme', {})
  fail('unavailable')
  await list.open('acme', {})
  expect(namesOf(list)).toHaveLength(20)
  expect(list.$status.get()).toMatchObject({ status: 'ready', stale: { code: 'unavailable' } })
  await list.refresh()
  expect(list.$status.get()).toEqual({ status: 'ready', hasMore: false, more: 'idle' })
})

test('shows no rows of the old query where the new one failed, and can try again', async () => {
  const { list, fail } = makeList(20)
  await list.open('acme', {})
  fail('unavailable')
  await list.open('acme', { q: 'row 7' })
  expect(list.$status.get()).toMatchObject({ status: 'failed', error: { code: 'unavailable' } })
  expect(namesOf(list)).toEqual([])
  await list.load()
  expect(namesOf(list)).toEqual(['row 7'])
})

test('keeps what is there where a further page fails, and begins again where its place is gone', async () => {
  const { list, server, fail } = makeList(260)
  await list.open('acme', {})
  fail('unavailable')
  await list.loadMore()
  expect(list.$status.get()).toMatchObject({ status: 'ready', more: { error: {} } })
  expect(namesOf(list)).toHaveLength(50)
  server.splice(49, 1)
  await list.loadMore()
  expect(namesOf(list)).toEqual(server.slice(0, 50).map(({ name }) => name))
  await list.loadMore()
  expect(namesOf(list)).toHaveLength(250)
})

test('loads as many rows as asked, or as it can, and tells when others are asked for', async () => {
  const { list, server, hold, fail } = makeList(700)
  await list.open('acme', {})
  const release = hold()
  const scrolling = list.loadMore()
  const loading = list.loadUpTo(400)
  release()
  await scrolling
  expect(await loading).toBe(true)
  expect(namesOf(list)).toHaveLength(450)
  fail('offline')
  expect(await list.loadUpTo(10_000)).toBe(true)
  expect(namesOf(list)).toHaveLength(450)
  expect(await list.loadUpTo(10_000)).toBe(true)
  expect(namesOf(list)).toHaveLength(server.length)
})

test('a refresh closes the gap that new rows leave, and drops rows that are gone', async () => {
  const { list, server } = makeList(120)
  await list.open('acme', {})
  await list.loadMore()
  server.splice(10, 1)
  await list.refresh()
  expect(namesOf(list)).toHaveLength(119)
  server.unshift(...Array.from({ length: 60 }, (_, nr) => ({ id: `new ${nr}`, name: `new ${nr}` })))
  await list.refresh()
  expect(namesOf(list)).toHaveLength(50)
  await list.loadMore()
  expect(namesOf(list)).toEqual(server.map(({ name }) => name))
})

test('a refresh that replaces all rows forgets those of the pages before it', async () => {
  const { list, server } = makeList(120)
  await list.open('acme', {})
  await list.loadMore()
  server.unshift(...Array.from({ length: 60 }, (_, nr) => ({ id: `new ${nr}`, name: `new ${nr}` })))
  await list.refresh()
  server.splice(0, 60)
  await list.refresh()
  expect(namesOf(list)).toEqual(server.slice(0, 50).map(({ name }) => name))
})

test('hides a row at once, and shows it again where it could not be deleted', async () => {
  const { list } = makeList(3)
  await list.open('acme', {})
  const refused = Promise.withResolvers<void>()
  const removed = removeRow(list, '2', () => refused.promise)
  expect(namesOf(list)).toEqual(['row 1', 'row 3'])
  refused.reject(new AppError('email_taken', 'taken'))
  await expect(removed).rejects.toMatchObject({ code: 'email_taken' })
  expect(namesOf(list)).toEqual(['row 1', 'row 2', 'row 3'])
})

test('after a sign-out nothing is left, and nothing comes late', async () => {
  const { list, hold } = makeList(20)
  await list.open('acme', { q: 'row 7' })
  const release = hold()
  const late = list.refresh()
  const refused = Promise.withResolvers<void>()
  const change = removeRow(list, '7', () => refused.promise)
  await signOut()
  release()
  refused.reject(new AppError('unauthenticated', 'signed out'))
  await late
  await expect(change).rejects.toThrow()
  expect(list.$rows.get()).toEqual([])
  expect(list.$query.get()).toEqual({})
  expect(list.$status.get()).toEqual({ status: 'idle' })
})

/** Creates a list and its server, whose rows are searched by their name. */
function makeList(count: number) {
  const server: Row[] = Array.from({ length: count }, (_, nr) => ({
    id: `${nr + 1}`,
    name: `row ${nr + 1}`
  }))
  const held: Promise<void>[] = []
  const failures: AppError['code'][] = []
  const list = createListStore<Row, { q?: string }>(async ({ q }, { limit, cursor }) => {
    const code = failures.shift()
    const rows = server.filter(({ name }) => q === undefined || name === q)
    await held.shift()
    if (code) throw new AppError(code, code)
    const at = rows.findIndex(({ id }) => id === cursor)
    if (cursor !== undefined && at < 0) throw new AppError('not_found', 'no such cursor')
    return rows.slice(at + 1, at + 1 + limit)
  })
  return {
    list,
    server,
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>()
      held.push(promise)
      return resolve
    },
    fail: (code: AppError['code']) => failures.push(code)
  }
}

function namesOf(list: { $rows: { get(): readonly Row[] } }): string[] {
  return list.$rows.get().map(({ name }) => name)
}

test('compares queries by their values, and takes a missing value for undefined', () => {
  expect(isSameQuery({ q: 'ada', group: undefined }, { q: 'ada' })).toBe(true)
  expect(isSameQuery({ q: 'ada' }, { group: undefined, q: 'ada' })).toBe(true)
  expect(isSameQuery({ q: 'ada' }, { q: 'ada', group: 'a' })).toBe(false)
  expect(isSameQuery({ q: 'ada', group: 'a' }, { q: 'ada' })).toBe(false)
})
