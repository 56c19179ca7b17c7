import type { APIResponse, Page, Route } from '@playwright/test'
import { type ErrorCode, errorCodes } from '../../../src/contract/kit/errors.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH'

/** Makes the browser receive an error of the API for a call, from now on. */
export async function stubError(
  page: Page,
  [method, path]: [Method, string],
  code: ErrorCode,
  more: object = {}
): Promise<void> {
  const status = errorCodes[code]
  const json = { title: code, status, code, instance: exampleId, ...more }
  await stand(page, { method, path, status, mediaType: 'application/problem+json', json })
}

/** Makes the browser receive this answer for a call of the API, from now on. */
export async function stubAnswer(
  page: Page,
  [method, path]: [Method, string],
  json: unknown
): Promise<void> {
  await stand(page, { method, path, status: 200, mediaType: 'application/json', json })
}

/**
 * From now on, answers `GET /user` with an example person, so that the page shows this person as
 * signed in. `changes` replaces some of the person's fields.
 */
export async function stubUser(page: Page, changes: object): Promise<void> {
  await stubAnswer(page, ['GET', '/user'], {
    id: exampleId,
    email: 'ada@example.com',
    username: 'Ada Lovelace',
    initials: 'AL',
    locale: 'en',
    features: [],
    permissions: [],
    company: { id: exampleId, name: 'Acme' },
    usage_remaining: { requests: null, storage: null },
    ...changes
  })
}

/** Leaves a call of the API without an answer, from now on. */
export async function leaveUnanswered(page: Page, [method, path]: [Method, string]): Promise<void> {
  await stand(page, { method, path })
}

/**
 * Lets all calls reach the API again, and ends the routes of the page. Call it before the page is
 * opened anew or acts: Chromium never sends a request that begins just when a route ends.
 */
export async function restoreApi(page: Page): Promise<void> {
  const stubs = await stubsOf.get(page)
  stubs?.splice(0)
  await page.unrouteAll({ behavior: 'ignoreErrors' })
}

/**
 * Sends the call of a page to 127.0.0.1 and keeps the host in a header. Playwright sends it from
 * this process, which may not be able to resolve the host. Never answers a page that closes
 * meanwhile, so that the end of a test does not fail it.
 */
export async function fetchLocally(route: Route): Promise<{ response: APIResponse; body: Buffer }> {
  const url = new URL(route.request().url())
  const headers = { ...route.request().headers(), host: url.host }
  url.hostname = '127.0.0.1'
  try {
    const response = await route.fetch({ url: url.href, headers })
    return { response, body: await response.body() }
  } catch (cause) {
    if (!/closed|disposed|Test ended/.test(String(cause))) throw cause
    return new Promise(() => {})
  }
}

const exampleId = '01978a5e-0000-7000-8000-00000000000a'

interface Stub {
  method: Method
  path: string
  /** Without a status, the call is left without an answer. */
  status?: number
  mediaType?: string
  json?: unknown
}

/** The stubs of each page, the latest first. */
const stubsOf = new WeakMap<Page, Promise<Stub[]>>()

async function stand(page: Page, stub: Stub): Promise<void> {
  const stubs = stubsOf.get(page) ?? interceptApi(page)
  stubsOf.set(page, stubs)
  const all = await stubs
  all.unshift(stub)
}

/**
 * Begins to answer the calls of a page by the returned stubs. Not by `page.route`, which turns the
 * browser's cache off, so that each visit of a page would take twice the processor time.
 */
async function interceptApi(page: Page): Promise<Stub[]> {
  const stubs: Stub[] = []
  const session = await page.context().newCDPSession(page)
  session.on('Fetch.requestPaused', ({ requestId, request }) => {
    const stub = stubs.find(({ method, path }) => {
      const pattern = new RegExp(String.raw`//api\.[^/]+${path}(?:\?|$)`)
      return method === request.method && pattern.test(request.url)
    })
    if (stub && !stub.status) return
    const answered = stub?.status
      ? session.send('Fetch.fulfillRequest', {
          requestId,
          responseCode: stub.status,
          responseHeaders: [
            { name: 'content-type', value: stub.mediaType ?? '' },
            { name: 'access-control-allow-origin', value: request.headers['Origin'] ?? '*' },
            { name: 'access-control-expose-headers', value: 'retry-after' }
          ],
          body: Buffer.from(JSON.stringify(stub.json)).toString('base64')
        })
      : session.send('Fetch.continueRequest', { requestId })
    // the page may have cancelled the request meanwhile
    answered.catch(() => {})
  })
  await session.send('Fetch.enable', { patterns: [{ urlPattern: '*://api.*' }] })
  return stubs
}
