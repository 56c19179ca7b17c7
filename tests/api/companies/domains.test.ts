import { afterAll, beforeAll, expect, test } from 'vitest'
import { getDomainConfig, updateDomain } from '../../../src/contract/domains.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { domainIdOf } from '../../helpers/cases.ts'

const host = 'acme.localhost'

let app: TestApp
let admin: TestPerson
let id: string
beforeAll(async () => {
  app = await makeApp()
  admin = await app.signUp()
  await app.owner.query(`update "user" set permissions = '{admin}' where id = $1`, [admin.id])
  id = await domainIdOf(app.owner, host)
})
afterAll(() => app[Symbol.asyncDispose]())

test('replaces the fields it names, and counts the version', async () => {
  const before = await app.call(host, getDomainConfig, { domain: host })
  const colors = { dark: true, primary: '#aa3311' }
  const changed = await admin.call(updateDomain, { id, title: '  Deeds ', theme: { colors } })
  const { theme, version } = before
  expect(changed).toMatchObject({ theme: { ...theme, colors }, title: 'Deeds' })
  expect(await app.call(host, getDomainConfig, { domain: host })).toEqual({
    ...before,
    title: 'Deeds',
    theme: { ...theme, colors },
    version: version + 1
  })
})

test('keeps a picture in its canonical form, and none that acts', async () => {
  const xmlns = 'xmlns="http://www.w3.org/2000/svg"'
  const logo = `<svg ${xmlns} viewBox='0 0 1 1'><path d="M0 0"></path></svg>`
  const { theme } = await admin.call(updateDomain, { id, theme: { logo } })
  expect(theme.logo).toBe(`<svg ${xmlns} viewBox="0 0 1 1"><path d="M0 0"/></svg>`)
  for (const favicon of [
    `<svg ${xmlns} onload="alert(1)"/>`,
    `<svg ${xmlns}><script/></svg>`,
    ''
  ]) {
    await expect(
      admin.call(updateDomain, { id, title: 'Lost', theme: { favicon } })
    ).rejects.toMatchObject({
      code: 'svg_refused',
      fields: { favicon: { rule: 'svg' } }
    })
  }
  const after = await app.call(host, getDomainConfig, { domain: host })
  expect(after.theme).toEqual(theme)
  expect(after.title).not.toBe('Lost')
})

test('sets the contact and takes it away', async () => {
  const named = await admin.call(updateDomain, { id, contact: 'help@acme.example' })
  expect(named.contact).toBe('help@acme.example')
  const bare = await admin.call(updateDomain, { id, contact: null })
  expect(bare.contact).toBeNull()
  expect('contact' in (await app.call(host, getDomainConfig, { domain: host }))).toBe(false)
})

test('links to the company’s own pages at the foot of every page, by https only', async () => {
  const [privacy, terms] = ['https://acme.example/privacy', 'https://acme.example/terms?v=2']
  const named = await admin.call(updateDomain, { id, privacy, terms })
  expect(named).toMatchObject({ privacy, terms })
  expect(await app.call(host, getDomainConfig, { domain: host })).toMatchObject({ privacy, terms })
  for (const address of ['http://acme.example', 'javascript:alert(1)', 'https://a b', 'https://']) {
    await expect(admin.call(updateDomain, { id, privacy: address })).rejects.toMatchObject({
      code: 'invalid_input',
      fields: { privacy: { rule: 'web_address' } }
    })
  }
  const long = `https://acme.example/${'a'.repeat(500)}`
  await expect(admin.call(updateDomain, { id, privacy: long })).rejects.toMatchObject({
    fields: { privacy: { rule: 'max', limit: 500 } }
  })
  const bare = await admin.call(updateDomain, { id, privacy: null, terms: null })
  expect(bare).toMatchObject({ privacy: null, terms: null })
})

test('changes only the version that the caller has seen', async () => {
  const { version } = await app.call(host, getDomainConfig, { domain: host })
  const put = (ifMatch: string) =>
    app.request(`api.${host}`, {
      method: 'PUT',
      path: `/domain/${id}`,
      headers: {
        authorization: `Bearer ${admin.token}`,
        'content-type': 'application/json',
        'if-match': ifMatch
      },
      body: JSON.stringify({ name: 'Acme' })
    })
  const first = await put(`"${version}"`)
  expect(first.headers['etag']).toBe(`"${version + 1}"`)
  expect((await put(`"${version}"`)).status).toBe(412)
  expect((await put('*')).status).toBe(200)
  expect((await put('seven')).status).toBe(400)
})

test('is not sent again to a caller who has this version', async () => {
  const { version } = await app.call(host, getDomainConfig, { domain: host })
  const get = (known: string) =>
    app.request(`api.${host}`, { path: `/${host}`, headers: { 'if-none-match': known } })
  for (const known of [`"${version}"`, `W/"${version}"`, `"0", "${version}"`, '*']) {
    const answer = await get(known)
    expect([answer.status, answer.body.length], known).toEqual([304, 0])
    expect(answer.headers['etag']).toBe(`"${version}"`)
  }
  for (const known of ['"0"', `${version}`, '']) expect((await get(known)).status, known).toBe(200)
})

test('is for administrators, and for domains of their own company', async () => {
  const person = await app.signUp()
  await expect(person.call(updateDomain, { id, title: 'Mine' })).rejects.toMatchObject({
    code: 'forbidden'
  })
  const other = await domainIdOf(app.owner, 'beta.localhost')
  await expect(admin.call(updateDomain, { id: other, title: 'Mine' })).rejects.toMatchObject({
    code: 'not_found'
  })
})
