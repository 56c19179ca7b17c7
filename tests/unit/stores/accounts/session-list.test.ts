import { expect, test, vi } from 'vitest'
import { AppError } from '../../../../src/contract/kit/errors.ts'
import { toProblem } from '../../../../src/contract/kit/problems.ts'
import { type ListStatus, wholeListState } from '../../../../src/stores/load-state.ts'
import { makeBrowser, makeToken } from '../../../helpers/browser.ts'

const session = (id: number, current: boolean) => ({
  id: `01978a5e-0000-7000-8000-00000000000${id}`,
  agent: 'Firefox',
  created_at: '2026-05-03T11:00:00.000Z',
  last_seen_at: '2026-05-03T11:30:00.000Z',
  current
})
const [mine, other] = [session(1, true), session(2, false)]

test('loads the list, keeps it on a reload and says what failed', async () => {
  const { answers, list } = await open()
  await list.loadSessions()
  expect(stateOf(list.sessionList)).toMatchObject({ status: 'ready', rows: [mine, other] })
  answers['GET /user/session'] = () => problem('unavailable')
  await list.loadSessions()
  expect(stateOf(list.sessionList)).toMatchObject({
    status: 'failed',
    error: { code: 'unavailable' }
  })
})

test('ends a session and reads the list anew, also where it was over already', async () => {
  const { answers, calls, list } = await open()
  await list.endSession(other.id)
  expect(calls()).toEqual([`DELETE /user/session/${other.id}`, 'GET /user/session'])
  answers[`DELETE /user/session/${other.id}`] = () => problem('not_found')
  await expect(list.endSession(other.id)).resolves.toBeUndefined()
  answers[`DELETE /user/session/${other.id}`] = () => problem('unavailable')
  await expect(list.endSession(other.id)).rejects.toMatchObject({ code: 'unavailable' })
})

test('forgets the list at sign-out, and what arrives after it', async () => {
  const { answers, list, sessions } = await open()
  const late = Promise.withResolvers<Response>()
  answers['GET /user/session'] = () => late.promise
  const loading = list.loadSessions()
  await sessions.signOut()
  late.resolve(Response.json([mine]))
  await loading
  expect(stateOf(list.sessionList)).toEqual({ status: 'loading' })
})

async function open() {
  const answers: Record<string, () => Response | Promise<Response>> = {
    'GET /user/session': () => Response.json([mine, other]),
    [`DELETE /user/session/${other.id}`]: () => new Response(null, { status: 204 }),
    'POST /user/logout': () => new Response(null, { status: 204 })
  }
  const browser = makeBrowser()
  const exp = Date.parse('2026-05-03T13:00:00Z') / 1000
  browser.cookies.set('__Host-vidimus', {
    value: makeToken({ sub: 'ada', exp }),
    attributes: []
  })
  const tab = browser.openTab('http://localhost:4321/en/me', request => {
    const { pathname } = new URL(request.url)
    return answers[`${request.method} ${pathname}`]?.() ?? problem('not_found')
  })
  vi.resetModules()
  const { setBrowserEnvironment } = await import('../../../../src/stores/environment.ts')
  setBrowserEnvironment(tab.environment)
  const sessions = await import('../../../../src/stores/sessions.ts')
  const list = await import('../../../../src/stores/accounts/session-list.ts')
  sessions.restoreSession()
  return {
    answers,
    list,
    sessions,
    calls: () => tab.calls.map(({ method, path }) => `${method} ${path}`)
  }
}

function problem(code: 'unavailable' | 'not_found'): Response {
  const error = new AppError(code, code)
  return Response.json(toProblem(error), { status: error.status })
}

function stateOf(list: { $rows: { get(): readonly object[] }; $status: { get(): ListStatus } }) {
  return wholeListState(list.$rows.get(), list.$status.get())
}
