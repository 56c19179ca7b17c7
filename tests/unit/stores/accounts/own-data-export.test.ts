import { expect, test, vi } from 'vitest'
import { AppError } from '../../../../src/contract/kit/errors.ts'
import { toProblem } from '../../../../src/contract/kit/problems.ts'
import { makeBrowser, makeToken } from '../../../helpers/browser.ts'

const idOf = (n: number) => `01978a5e-0000-7000-8000-00000000000${n}`

test('joins the pages to one of the same shape, and tells how far it is', async () => {
  const { answers, exports, paths, progress, options } = await open()
  answers.push(page([1, 2], false), page([3, 4], false), page([5], true))
  const file = await exports.fetchOwnData(options)
  expect(paths()).toEqual([
    '/user/export',
    `/user/export?cursor=${idOf(2)}`,
    `/user/export?cursor=${idOf(4)}`
  ])
  expect(progress).toEqual([2, 4, 5])
  expect(file.type).toBe('application/json')
  expect(JSON.parse(await file.text())).toEqual(body([1, 2, 3, 4, 5], true))
})

test('asks once where one page holds all, be it empty', async () => {
  const { answers, exports, paths, options } = await open()
  answers.push(page([], true))
  expect(JSON.parse(await (await exports.fetchOwnData(options)).text())).toEqual(body([], true))
  expect(paths()).toEqual(['/user/export'])
})

test('answers no part of the data where a page in the middle fails', async () => {
  const { answers, exports, paths, options } = await open()
  answers.push(page([1], false), () => problem('unavailable'), page([2], true))
  await expect(exports.fetchOwnData(options)).rejects.toMatchObject({ code: 'unavailable' })
  expect(paths()).toHaveLength(2)
})

test('goes round no circle where a page without requests is not the last', async () => {
  const { answers, exports, paths, options } = await open()
  answers.push(page([], false))
  await expect(exports.fetchOwnData(options)).rejects.toMatchObject({ code: 'unexpected_answer' })
  expect(paths()).toHaveLength(1)
})

test('asks for no further page once it is called off', async () => {
  const { answers, exports, paths, options, stop } = await open()
  answers.push(() => {
    stop.abort()
    return page([1], false)()
  })
  await expect(exports.fetchOwnData(options)).rejects.toMatchObject({ name: 'AbortError' })
  expect(paths()).toHaveLength(1)
})

test('joins no pages of two people', async () => {
  const { answers, exports, paths, options, sessions } = await open()
  answers.push(
    async () => {
      await sessions.beginSession(tokenOf('eve'))
      return page([1], false)()
    },
    page([2], true)
  )
  await expect(exports.fetchOwnData(options)).rejects.toMatchObject({ code: 'unauthenticated' })
  expect(paths()).toHaveLength(1)
})

type Answer = () => Response | Promise<Response>

async function open() {
  const answers: Answer[] = []
  const browser = makeBrowser()
  browser.cookies.set('__Host-vidimus', { value: tokenOf('ada'), attributes: [] })
  const tab = browser.openTab('http://localhost:4321/en/me', async () => {
    const next = answers.shift()
    return next ? next() : problem('not_found')
  })
  vi.resetModules()
  const { setBrowserEnvironment } = await import('../../../../src/stores/environment.ts')
  setBrowserEnvironment(tab.environment)
  const sessions = await import('../../../../src/stores/sessions.ts')
  const exports = await import('../../../../src/stores/accounts/own-data-export.ts')
  sessions.restoreSession()
  const stop = new AbortController()
  const progress: number[] = []
  const onProgress = (count: number) => progress.push(count)
  return {
    answers,
    exports,
    sessions,
    progress,
    stop,
    options: { signal: stop.signal, onProgress },
    paths: () => tab.calls.map(({ path }) => path)
  }
}

function tokenOf(sub: string): string {
  return makeToken({ sub, exp: Date.parse('2026-05-03T13:00:00Z') / 1000 })
}

function page(ids: number[], complete: boolean): Answer {
  return () => Response.json(body(ids, complete))
}

function problem(code: 'unavailable' | 'not_found'): Response {
  const error = new AppError(code, code)
  return Response.json(toProblem(error), { status: error.status })
}

function body(ids: number[], complete: boolean) {
  return {
    account: {
      id: idOf(0),
      email: 'ada@example.com',
      username: 'Ada',
      initials: 'A',
      locale: 'en',
      features: [],
      permissions: [],
      company: { id: idOf(9), name: 'Acme' },
      usage_remaining: { requests: null, storage: null }
    },
    sessions: [],
    requests: ids.map(n => ({
      id: idOf(n),
      kind: 'deposit',
      created: '2026-05-03T11:00:00.000Z',
      seq: n,
      state: 'done'
    })),
    complete
  }
}
