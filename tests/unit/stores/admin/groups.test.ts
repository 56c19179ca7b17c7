import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Group } from '../../../../src/contract/groups.ts'
import type { Member } from '../../../../src/contract/members.ts'
import {
  $group,
  addGroupMember,
  addGroupMembers,
  groupCategories,
  groupMembers,
  openGroup,
  reloadGroup,
  updateGroup
} from '../../../../src/stores/admin/groups.ts'
import { setBrowserEnvironment } from '../../../../src/stores/environment.ts'
import { type ListStatus, wholeListState } from '../../../../src/stores/load-state.ts'
import { $route } from '../../../../src/stores/routes.ts'
import { beginSession, signOut } from '../../../../src/stores/sessions.ts'
import { makeBrowser, makeToken } from '../../../helpers/browser.ts'

const company = '0199f2a0-0000-7000-8000-00000000000c'
const people = `GET /company/${company}/users`
const one = '0199f2a0-0000-7000-8000-000000000001'
const two = '0199f2a0-0000-7000-8000-000000000002'
const mona: Member = {
  id: '0199f2a0-0000-7000-8000-00000000000a',
  version: 1,
  username: 'Mona',
  email: 'mona@example.com',
  locale: 'en',
  state: 'active',
  disabled: null,
  permissions: [],
  groups: [],
  created: '2026-05-03T12:00:00Z',
  last_seen: null
}

type Answer = () => Response | Promise<Response>
/** The answers of the server by method and path. It answers any other path with an empty list. */
let answers: Record<string, Answer>
let tab: ReturnType<ReturnType<typeof makeBrowser>['openTab']>

beforeEach(async () => {
  answers = {
    [`GET /group/${one}`]: () => Response.json(groupOf(one)),
    [`GET /group/${two}`]: () => Response.json(groupOf(two))
  }
  $route.open(`/en/admin/${company}/groups`)
  const browser = makeBrowser()
  tab = browser.openTab('http://localhost:4321/en', request => {
    const answer = answers[`${request.method} ${new URL(request.url).pathname}`]
    if (answer) return answer()
    return request.method === 'GET' ? Response.json([]) : new Response(null, { status: 204 })
  })
  setBrowserEnvironment(tab.environment)
  await beginSession(makeToken({ sub: 'ada', exp: browser.now() / 1000 + 3600 }))
})
afterEach(async () => {
  await signOut()
  setBrowserEnvironment(undefined)
})

test('a group that arrives after the sign-out is not shown', async () => {
  const release = hold(`GET /group/${one}`, groupOf(one))
  const opened = openGroup(one)
  await vi.waitFor(() => expect(callsOf(`/group/${one}`)).toHaveLength(1))
  await signOut()
  release()
  await opened
  expect($group.get()).toEqual({ status: 'loading' })
  expect(stateOf(groupMembers)).toEqual({ status: 'loading' })
  expect(stateOf(groupCategories)).toEqual({ status: 'loading' })
})

test('a member who was added to one group does not appear in the next one', async () => {
  await openGroup(one)
  const release = hold(`POST /group/${one}/user`, null)
  const added = addGroupMember(one, mona)
  await openGroup(two)
  release()
  await added
  expect(stateOf(groupMembers)).toMatchObject({ status: 'ready', rows: [] })
})

test('an older state that arrives late does not replace a newer one', async () => {
  await openGroup(one)
  const release = hold(`GET /group/${one}`, groupOf(one, { user_count: 1 }))
  const reloaded = reloadGroup(one)
  answers[`PUT /group/${one}`] = () => Response.json(groupOf(one, { version: 2, name: 'new' }))
  await updateGroup(one, { name: 'new' }, 1)
  release()
  await reloaded
  expect($group.get()).toMatchObject({ item: { name: 'new', version: 2 } })
})

test('of two answers with the same version the one asked for later stays', async () => {
  await openGroup(one)
  const release = hold(`GET /group/${one}`, groupOf(one, { user_count: 1 }))
  const early = reloadGroup(one)
  await vi.waitFor(() => expect(callsOf(`/group/${one}`)).toHaveLength(2))
  answers[`GET /group/${one}`] = () => Response.json(groupOf(one, { user_count: 2 }))
  await reloadGroup(one)
  release()
  await early
  expect($group.get()).toMatchObject({ item: { user_count: 2 } })
})

test('a group that somebody else has deleted is shown as missing when it is saved', async () => {
  await openGroup(one)
  answers[`PUT /group/${one}`] = () => refusal(404, 'not_found')
  await expect(updateGroup(one, { name: 'new' }, 1)).rejects.toMatchObject({ code: 'not_found' })
  expect($group.get()).toEqual({ status: 'missing' })
})

test('the rows stay when further ones cannot be loaded', async () => {
  await openGroup(one)
  const many = Array.from({ length: 50 }, (_, nr) => ({
    ...mona,
    id: mona.id.slice(0, -2) + (nr + 10)
  }))
  answers[people] = () => Response.json(many)
  await groupMembers.load()
  await addGroupMember(one, mona)
  answers[people] = () => refusal(500, 'internal')
  await groupMembers.loadMore()
  expect(stateOf(groupMembers)).toMatchObject({
    status: 'ready',
    rows: [mona, ...many],
    more: { error: { code: 'internal' } }
  })
})

test('the members that were searched for last are shown, whichever answer comes last', async () => {
  await openGroup(one)
  let release = () => {}
  answers[people] = () =>
    new Promise(resolve => {
      release = () => resolve(Response.json([]))
    })
  const early = groupMembers.open(one, { q: 'nobody' })
  answers[people] = () => Response.json([mona])
  await groupMembers.open(one, { q: 'mona' })
  release()
  await early
  expect(groupMembers.$query.get()).toEqual({ q: 'mona' })
  expect(stateOf(groupMembers)).toMatchObject({ status: 'ready', rows: [mona] })
  expect(callsOf('q=mona')).toHaveLength(1)
  // another group begins without a search
  await openGroup(two)
  expect(groupMembers.$query.get()).toEqual({})
})

test('people are found by their whole e-mail, and an unknown one does not stop the others', async () => {
  await openGroup(one)
  const found = [[], [mona]]
  answers[people] = () => Response.json(found.shift() ?? [])
  const emails = ['nobody@example.com', mona.email]
  // the page may be left meanwhile
  const additions = await addGroupMembers(one, emails, () => $route.open('/en/verify'))
  expect(additions).toMatchObject([
    { email: 'nobody@example.com', error: { code: 'not_found' } },
    { email: mona.email, error: undefined }
  ])
  const asked = callsOf('/users').map(call => new URLSearchParams(call.path.split('?')[1]))
  expect(asked.map(each => each.get('email')).filter(Boolean)).toEqual([
    'nobody@example.com',
    mona.email
  ])
})

function groupOf(id: string, changes: Partial<Group> = {}): Group {
  return {
    id,
    version: 1,
    name: 'old',
    features: ['deposit'],
    max_requests: null,
    max_requests_interval: null,
    max_storage: null,
    is_default: false,
    created: '2026-05-03T12:00:00Z',
    user_count: 0,
    category_count: 0,
    usage: {
      requests_used: 0,
      requests_remaining: null,
      storage_used: 0,
      storage_remaining: null,
      resets_at: null
    },
    ...changes
  }
}

/** Delays the answer to a call until the returned function is called. */
function hold(call: string, body: unknown): () => void {
  const { promise, resolve } = Promise.withResolvers<void>()
  answers[call] = () =>
    promise.then(() => (body ? Response.json(body) : new Response(null, { status: 204 })))
  return resolve
}

function refusal(status: number, code: string): Response {
  return Response.json({ status, code }, { status })
}

function callsOf(path: string) {
  return tab.calls.filter(call => call.path.includes(path))
}

function stateOf(list: { $rows: { get(): readonly object[] }; $status: { get(): ListStatus } }) {
  return wholeListState(list.$rows.get(), list.$status.get())
}
