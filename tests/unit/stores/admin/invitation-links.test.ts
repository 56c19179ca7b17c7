import { afterEach, beforeEach, expect, test } from 'vitest'
import type { OwnAccount } from '../../../../src/contract/users.ts'
import { createInvitationLinkFile } from '../../../../src/stores/admin/invitation-links.ts'
import { setBrowserEnvironment } from '../../../../src/stores/environment.ts'
import { $route } from '../../../../src/stores/routes.ts'
import { beginSession, signOut } from '../../../../src/stores/sessions.ts'
import { makeBrowser, makeToken } from '../../../helpers/browser.ts'

const company = '0199f2a0-0000-7000-8000-00000000000c'
const until = '2026-05-06T12:00:00.000Z'
const idOf = (n: number) => `0199f2a0-0000-7000-8000-${String(n).padStart(12, '0')}`

let tab: ReturnType<ReturnType<typeof makeBrowser>['openTab']>
const ada: OwnAccount = {
  id: idOf(1000),
  email: 'ada@example.com',
  username: 'Ada Lovelace',
  initials: 'AL',
  locale: 'en',
  features: [],
  permissions: ['admin'],
  company: { id: company, name: 'Acme' },
  usage_remaining: { requests: null, storage: null },
  confirmed: true
}

let isConfirmed: boolean
/** The call, counted from 1, that is refused because the password is needed again. */
let refusedCall: number

beforeEach(async () => {
  refusedCall = 0
  isConfirmed = true
  $route.open(`/en/admin/${company}/users`)
  const browser = makeBrowser()
  tab = browser.openTab('http://localhost:4321/en', request => {
    const { confirmed, ...unconfirmed } = ada
    if (request.url.endsWith('/user'))
      return Response.json(isConfirmed ? { ...unconfirmed, confirmed } : unconfirmed)
    if (!request.url.endsWith('/user/links')) return new Response(null, { status: 204 })
    const n = linkCalls().length
    if (n === refusedCall) {
      const type = { 'content-type': 'application/problem+json' }
      const problem = { code: 'confirmation_required', status: 403 }
      return Response.json(problem, { status: 403, headers: type })
    }
    const person = {
      id: idOf(n),
      username: `Person ${n}`,
      email: `${n}@example.com`,
      link: `#${n}`
    }
    return Response.json({ links: [person], until, next: n < 3 ? idOf(n) : null })
  })
  setBrowserEnvironment(tab.environment)
  await beginSession(makeToken({ sub: 'ada', exp: browser.now() / 1000 + 3600 }))
})
afterEach(async () => {
  await signOut()
  setBrowserEnvironment(undefined)
})

test('the links of all calls are in the file', async () => {
  // a list selects all that match with their number, which is no part of the call
  const selected = { filter: { q: 'x' }, count: 3 }
  const { content, ...file } = await createInvitationLinkFile(selected, () => {})
  expect(file).toEqual({ count: 3, until })
  expect(await linesOf(content)).toHaveLength(4)
  expect(linkCalls()).toEqual([
    { filter: { q: 'x' } },
    { filter: { q: 'x' }, cursor: idOf(1) },
    { filter: { q: 'x' }, cursor: idOf(2) }
  ])
})

test('nothing is sent where the server says that the password is needed first', async () => {
  isConfirmed = false
  const creating = createInvitationLinkFile({ filter: {} }, () => {})
  await expect(creating).rejects.toMatchObject({ code: 'confirmation_required' })
  expect(linkCalls()).toEqual([])
})

test('links that exist when a later call fails are saved, and the rest can be asked for', async () => {
  refusedCall = 2
  const file = await createInvitationLinkFile({ filter: { q: 'x' } }, () => {})
  expect(file.stopped).toMatchObject({
    error: { code: 'confirmation_required' },
    rest: { filter: { q: 'x' }, cursor: idOf(1) }
  })
  expect(await linesOf(file.content)).toEqual([
    expect.any(String),
    `Person 1,1@example.com,#1,${until}`
  ])
  if (!file.stopped) throw new Error('nothing remains')
  const { count, stopped } = await createInvitationLinkFile(file.stopped.rest, () => {})
  expect([count, stopped]).toEqual([1, undefined])
  expect(linkCalls().at(-1)).toEqual({ filter: { q: 'x' }, cursor: idOf(1) })
})

test('the rest of chosen people are those whom no call has treated', async () => {
  refusedCall = 2
  const ids = Array.from({ length: 201 }, (_, n) => idOf(n))
  const { count, stopped } = await createInvitationLinkFile({ ids }, () => {})
  expect([count, stopped?.rest]).toEqual([1, { ids: [idOf(200)] }])
})

test('a failure before the first link is thrown', async () => {
  refusedCall = 1
  const file = createInvitationLinkFile({ filter: {} }, () => {})
  await expect(file).rejects.toMatchObject({ code: 'confirmation_required' })
})

function linkCalls(): unknown[] {
  return tab.calls.filter(({ path }) => path.endsWith('/user/links')).map(({ body }) => body)
}

async function linesOf(content: Blob): Promise<string[]> {
  return (await content.text()).trim().split('\r\n')
}
