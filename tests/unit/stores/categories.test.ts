import { expect, test, vi } from 'vitest'
import { makeBrowser, makeToken } from '../../helpers/browser.ts'

const start = Date.parse('2026-05-03T12:00:00Z')

test('drops the categories of a session that ended while they were loading', async () => {
  const answers: ((names: string) => void)[] = []
  const browser = makeBrowser({ now: start })
  const signInAs = (sub: string) => {
    const value = makeToken({ sub, exp: start / 1000 + 3600 })
    browser.cookies.set('__Host-vidimus', { value, attributes: [] })
  }
  signInAs('ada')
  const tab = browser.openTab('http://localhost:4321/en/deposit', request => {
    if (new URL(request.url).pathname !== '/category') return new Response(null, { status: 204 })
    return new Promise(resolve => {
      answers.push(name => resolve(Response.json([categoryOf(name)])))
    })
  })
  vi.resetModules()
  const { setBrowserEnvironment } = await import('../../../src/stores/environment.ts')
  setBrowserEnvironment(tab.environment)
  const sessions = await import('../../../src/stores/sessions.ts')
  const store = await import('../../../src/stores/categories.ts')
  sessions.restoreSession()
  const first = store.loadCategories()
  signInAs('eve')
  tab.wake()
  const second = store.loadCategories()
  await vi.waitFor(() => expect(answers).toHaveLength(2))
  answers[0]?.('of ada')
  await first
  expect(store.$categories.get()).toEqual({ status: 'loading' })
  answers[1]?.('of eve')
  await second
  expect(store.$categories.get()).toMatchObject({ categories: [{ names: { en: 'of eve' } }] })
})

test('takes new categories with each load of the person, and keeps what is chosen', async () => {
  const browser = makeBrowser({ now: start })
  const value = makeToken({ sub: 'ada', exp: start / 1000 + 3600 })
  browser.cookies.set('__Host-vidimus', { value, attributes: [] })
  let listed = [categoryOf('leases')]
  const tab = browser.openTab('http://localhost:4321/en/deposit', request => {
    if (new URL(request.url).pathname === '/category') return Response.json(listed)
    return new Response(null, { status: 204 })
  })
  vi.resetModules()
  const { setBrowserEnvironment } = await import('../../../src/stores/environment.ts')
  setBrowserEnvironment(tab.environment)
  const sessions = await import('../../../src/stores/sessions.ts')
  const { $user } = await import('../../../src/stores/signed-in-user.ts')
  const store = await import('../../../src/stores/categories.ts')
  sessions.restoreSession()
  const stop = store.watchCategories()
  const names = () => {
    const state = store.$categories.get()
    return state.status === 'ready' ? state.categories.map(({ names: { en } }) => en) : []
  }
  await vi.waitFor(() => expect(names()).toEqual(['leases']))
  // the new one comes first, as the default category does
  listed = [{ ...categoryOf('diplomas'), id: '0199f2a0-0000-7000-8000-000000000002' }, ...listed]
  $user.set(personOf('Ada'))
  $user.set(personOf('Ada'))
  await vi.waitFor(() => expect(names()).toEqual(['diplomas', 'leases']))
  expect(store.$categories.get()).toMatchObject({ chosen: categoryOf('leases').id })

  listed = listed.slice(0, 1)
  tab.wake()
  await vi.waitFor(() => expect(names()).toEqual(['diplomas']))
  expect(store.$categories.get()).toMatchObject({ chosen: listed[0]?.id })
  stop()
  listed = []
  tab.wake()
  $user.set(personOf('Ada'))
  await new Promise(resolve => setTimeout(resolve, 20))
  expect(names()).toEqual(['diplomas'])
})

function personOf(username: string) {
  return {
    id: '0199f2a0-0000-7000-8000-000000000003',
    email: 'ada@example.com',
    username,
    initials: 'A',
    locale: 'en' as const,
    features: ['deposit'],
    permissions: [],
    company: { id: '0199f2a0-0000-7000-8000-000000000004', name: 'Acme' },
    usage_remaining: { requests: null, storage: null }
  }
}

function categoryOf(name: string) {
  return {
    id: '0199f2a0-0000-7000-8000-000000000001',
    names: { en: name, fr: name },
    visibility: 'public',
    keep_originals: 'person',
    default: false,
    store: 'file',
    media_types: null,
    retention: null
  }
}
