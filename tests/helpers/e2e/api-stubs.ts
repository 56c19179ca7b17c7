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
  await stand(page, method, path, async route => {
    const body = JSON.stringify({ title: code, status, code, instance: exampleId, ...more })
    const contentType = 'application/problem+json'
    await route.fulfill({ status, contentType, body, headers: cors(route) })
  })
}

/** Makes the browser receive this answer for a call of the API, from now on. */
export async function stubAnswer(
  page: Page,
  [method, path]: [Method, string],
  json: unknown
): Promise<void> {
  await stand(page, method, path, route => route.fulfill({ json, headers: cors(route) }))
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
  await stand(page, method, path, () => new Promise(() => {}))
}

/**
 * Lets all calls reach the API again. Call it before the page is opened anew or acts: Chromium never
 * sends a request that begins just when interception ends.
 */
export async function restoreApi(page: Page): Promise<void> {
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

async function stand(page: Page, method: Method, path: string, act: (route: Route) => unknown) {
  await page.route(new RegExp(String.raw`//api\.[^/]+${path}(?:\?|$)`), async (route, request) => {
    if (request.method() === method) await act(route)
    else await route.fallback()
  })
}

function cors(route: Route): Record<string, string> {
  return {
    'access-control-allow-origin': route.request().headers()['origin'] ?? '*',
    'access-control-expose-headers': 'retry-after'
  }
}
