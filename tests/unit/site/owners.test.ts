import { expect, test } from 'vitest'
import { productTheme } from '../../../src/server/domain/installation/product-theme.ts'
import { createOwnerReader, type Owner, siteSecretHeader } from '../../../src/site/owners.ts'

const secret = 'a secret of the site that is long enough'

const owner: Owner = {
  company_id: '01978a5e-0000-7000-8000-000000000001',
  config: {
    id: '01978a5e-0000-7000-8000-000000000002',
    name: 'Acme',
    title: 'Acme',
    company: 'Acme SA',
    theme: productTheme,
    public: true,
    locale: 'en',
    demo: false,
    version: 1
  },
  checksPerMinute: 60,
  publicAddresses: []
}

/** Returns a reader, its clock in milliseconds, and what the API answers and was asked. */
function makeReader() {
  const api = { now: 0, asked: [] as string[], answer: async () => Response.json(owner) }
  const read = createOwnerReader(
    { apiUrl: 'http://10.0.0.5:4321', secret },
    {
      now: () => api.now,
      async fetch(input, init) {
        expect(new Headers(init?.headers).get(siteSecretHeader)).toBe(secret)
        api.asked.push(String(input))
        return api.answer()
      }
    }
  )
  const versionAt = async (now: number) => {
    api.now = now
    return (await read('docs.acme.fr'))?.config.version
  }
  const publish = (version: number) => {
    const config = { ...owner.config, version }
    api.answer = async () => Response.json({ ...owner, config })
  }
  return { api, read, versionAt, publish }
}

test('an answer holds for a second, and for two while the next one is on its way', async () => {
  const { api, versionAt, publish } = makeReader()
  expect(await versionAt(0)).toBe(1)
  publish(2)
  expect(await versionAt(999)).toBe(1)
  expect(api.asked).toEqual(['http://10.0.0.5:4321/docs.acme.fr'])
  expect(await versionAt(1000)).toBe(1)
  await expect.poll(() => versionAt(1001)).toBe(2)
  publish(3)
  expect(await versionAt(3001)).toBe(3)
})

test('callers at the same time share a question', async () => {
  const { api, read } = makeReader()
  await Promise.all([read('docs.acme.fr'), read('docs.acme.fr'), read('docs.beta.fr')])
  expect(api.asked).toHaveLength(2)
})

test('made-up hosts are asked for a few at a time, and known ones at once', async () => {
  const { api, read, versionAt, publish } = makeReader()
  expect(await versionAt(0)).toBe(1)
  const going: (() => void)[] = []
  const answer = () =>
    new Promise<Response>(resolve => {
      going.push(() => resolve(new Response(null, { status: 404 })))
    })
  api.answer = answer
  const made = Array.from({ length: 1500 }, (_, at) => read(`x${at}.example`).catch(error => error))
  expect(api.asked).toHaveLength(1 + 32)
  publish(2)
  expect(await versionAt(2500)).toBe(2)
  api.answer = answer
  expect(await Promise.race(made.slice(-1))).toMatchObject({ code: 'unavailable' })
  while (going.length > 0) {
    expect(going.length).toBeLessThanOrEqual(32)
    for (const end of going.splice(0)) end()
    await new Promise(setImmediate)
  }
  const answers = await Promise.all(made)
  expect(answers.filter(answer => answer === undefined)).toHaveLength(1032)
})

test('a host of nobody is asked for again after a second', async () => {
  const { api, versionAt, publish } = makeReader()
  api.answer = async () => new Response(null, { status: 404 })
  expect(await versionAt(0)).toBeUndefined()
  publish(1)
  expect(await versionAt(999)).toBeUndefined()
  expect(await versionAt(2000)).toBe(1)
})

test.each([
  ['fails', () => Promise.reject(new TypeError('fetch failed'))],
  ['refuses the secret', async () => new Response(null, { status: 403 })],
  ['answers garbage', async () => new Response('{"company_id":1}')],
  ['answers something else', async () => new Response('<!doctype html>')]
])('an API that %s leaves known hosts for ten minutes, and others unavailable', async (_, fail) => {
  const { api, read, versionAt, publish } = makeReader()
  await versionAt(0)
  api.answer = fail
  expect(await versionAt(1500)).toBe(1)
  expect(await versionAt(599_999)).toBe(1)
  await expect(read('docs.beta.fr')).rejects.toMatchObject({ code: 'unavailable' })
  await expect(versionAt(600_000)).rejects.toMatchObject({ code: 'unavailable' })
  publish(2)
  expect(await versionAt(600_001)).toBe(2)
})
