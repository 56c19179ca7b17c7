import { createHash, randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createContentLink } from '../../../src/contract/deposits.ts'
import { logOut } from '../../../src/contract/sessions.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'

const bytes = randomBytes(3000)
let app: TestApp
let ada: TestPerson
let id: string
beforeAll(async () => {
  app = await makeApp()
  ada = await app.signUp()
  id = (await app.deposit(ada, bytes, 'été "1".pdf')).deposit_id ?? ''
})
afterAll(() => app[Symbol.asyncDispose]())

describe('a link to a content', () => {
  test('stands for its person’s token, once and again within its minute', async () => {
    const { url, expires } = await ada.call(createContentLink, { id })
    expect(url).toMatch(/^\/deposit\/[\w-]{22}\/content\?link=[\w-]{91}$/)
    expect(new Date(expires).getTime() - Date.now()).toBeLessThanOrEqual(60_000)
    for (let times = 0; times < 2; times++) {
      const answer = await get(url)
      expect(answer.status).toBe(200)
      expect(answer.body.equals(bytes)).toBe(true)
      expect(answer.headers).toMatchObject({
        'content-length': '3000',
        'accept-ranges': 'bytes',
        'content-disposition': `attachment; filename="_t_ _1_.pdf"; filename*=UTF-8''%C3%A9t%C3%A9%20_1_.pdf`,
        'repr-digest': `sha-256=:${createHash('sha256').update(bytes).digest('base64')}:`,
        'content-security-policy': "sandbox; default-src 'none'",
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store'
      })
    }
  })

  test('ends after a minute, at sign-out and with the person', async () => {
    await using own = await makeApp()
    const people = [await own.signUp(), await own.signUp(), await own.signUp()]
    const links = []
    for (const person of people) {
      const done = await own.deposit(person, randomBytes(10))
      links.push(await person.call(createContentLink, { id: done.deposit_id ?? '' }))
    }
    const [late, out, disabled] = links.map(({ url }) => url)
    const mark = { reason: 'abuse', since: '2026-01-01T00:00:00.000Z' }
    await people[1]?.call(logOut, {})
    await own.owner.query('update "user" set disabled = $2 where id = $1', [people[2]?.id, mark])
    const ask = (path = '') => own.request('api.acme.localhost', { path })
    expect((await ask(out)).status).toBe(403)
    expect((await ask(disabled)).status).toBe(403)
    expect((await ask(late)).status).toBe(200)
    own.wait(61)
    const refused = await ask(late)
    expect(refused.status).toBe(403)
    expect(JSON.parse(refused.body.toString())).toMatchObject({ code: 'link_invalid' })
    // a browser that follows it stays on its page
    expect(refused.headers['content-disposition']).toContain('attachment')
  })

  test('opens its one deposit on its one host, and no change of it opens any', async () => {
    const { url } = await ada.call(createContentLink, { id })
    const other = (await app.deposit(ada, randomBytes(10))).deposit_id ?? ''
    expect((await get(url.replace(id, other))).status).toBe(403)
    const abroad = await app.request('api.beta.localhost', { path: url })
    expect(abroad.status).toBe(403)
    const link = url.split('link=')[1] ?? ''
    for (let at = 0; at < link.length; at++) {
      const changed = `${link.slice(0, at)}${link[at] === 'A' ? 'B' : 'A'}${link.slice(at + 1)}`
      expect((await get(url.replace(link, changed))).status, `${at}`).toBe(403)
    }
  })

  test('opens nothing else than the content', async () => {
    const { url } = await ada.call(createContentLink, { id })
    const query = url.split('?')[1]
    for (const path of [`/deposit/${id}?${query}`, `/user?${query}`, `/process?${query}`]) {
      expect((await get(path)).status, path).toBe(401)
    }
  })

  test('is given for one’s own deposits only', async () => {
    const grace = await app.signUp()
    await expect(grace.call(createContentLink, { id })).rejects.toMatchObject({ code: 'not_found' })
  })
})

describe('a part of a content', () => {
  test.each([
    ['bytes=0-99', 0, 99],
    ['bytes=2990-', 2990, 2999],
    ['bytes=-1', 2999, 2999]
  ])('is sent for %s', async (range, start, end) => {
    const answer = await content({ range })
    expect(answer.status).toBe(206)
    expect(answer.headers['content-range']).toBe(`bytes ${start}-${end}/3000`)
    expect(answer.body.equals(bytes.subarray(start, end + 1))).toBe(true)
  })

  test('is the whole for several ranges, and for a copy that is another', async () => {
    expect((await content({ range: 'bytes=0-1,4-5' })).status).toBe(200)
    expect((await content({ range: 'bytes=0-1', 'if-range': '"x"' })).status).toBe(200)
    const { etag = '' } = (await content({})).headers
    expect((await content({ range: 'bytes=0-1', 'if-range': etag })).status).toBe(206)
  })

  test('is refused beyond the end, with the size', async () => {
    const answer = await content({ range: 'bytes=3000-' })
    expect(answer.status).toBe(416)
    expect(answer.headers['content-range']).toBe('bytes */3000')
  })

  test('is not sent to who has it', async () => {
    const { etag = '' } = (await content({})).headers
    const again = await content({ 'if-none-match': `"x", W/${etag}` })
    expect(again.status).toBe(304)
    expect(again.body).toHaveLength(0)
  })
})

function get(path: string) {
  return app.request('api.acme.localhost', { path })
}

function content(headers: Record<string, string>) {
  return app.content(ada, id, headers)
}
