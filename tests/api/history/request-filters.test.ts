import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDeposit } from '../../../src/contract/deposits.ts'
import { getRequest, listRequests, type ProcessedRequest } from '../../../src/contract/requests.ts'
import { verify } from '../../../src/contract/verifications.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { dropRowSecurity, stripCompanyConditions } from '../../helpers/matrix.ts'
import { errorWithCode } from '../../helpers/refusals.ts'

let app: TestApp
let ada: TestPerson
beforeAll(async () => {
  app = await makeApp()
  ada = await app.signUp()
})
afterAll(() => app[Symbol.asyncDispose]())

const bytes = Buffer.from('vidimus')
const sha256 = 'ab'.repeat(32)

test('finds documents by words of their names, whatever their case and accents', async () => {
  const eve = await app.signUp()
  for (const name of ['Bail été 2026.pdf', 'BAIL hiver.pdf', '100%_sûr.pdf', 'Договор.pdf']) {
    await app.reserve(eve, bytes, name)
  }
  await eve.call(verify, { items: [{ sha256 }] })
  const found = async (q: string) => {
    return (await eve.call(listRequests, { q })).map(({ name }) => name)
  }
  expect(await found('bail')).toEqual(['BAIL hiver.pdf', 'Bail été 2026.pdf'])
  expect(await found('2026 ETE')).toEqual(['Bail été 2026.pdf'])
  expect(await found('été')).toEqual(['Bail été 2026.pdf'])
  expect(await found('e\u0301te\u0301')).toEqual(['Bail été 2026.pdf'])
  expect(await found('договор')).toEqual(['Договор.pdf'])
  // signs that a pattern would give a meaning
  expect(await found('%_')).toEqual(['100%_sûr.pdf'])
  expect(await found('bail nothing')).toEqual([])
  expect(await found(' '), 'no word leaves all').toHaveLength(5)
})

test('filters by kind, state, category and time, alone and together, and pages through what is left', async () => {
  const eve = await app.signUp()
  const done = await app.deposit(eve, bytes, 'done.pdf')
  const { request: open } = await app.reserve(eve, bytes, 'open.pdf')
  await eve.call(verify, { items: [{ sha256 }] })
  const [check] = await eve.call(listRequests, { kind: 'verify' })
  const ids = async (input: object) => {
    return (await eve.call(listRequests, input)).map(({ id }) => id)
  }
  expect(await ids({})).toEqual([check?.id, open.id, done.id])
  expect(await ids({ kind: 'verify' })).toEqual([check?.id])
  expect(await ids({ state: 'uploading' })).toEqual([open.id])
  expect(await ids({ category: eve.category })).toEqual([open.id, done.id])
  expect(await ids({ category: eve.category, state: 'done' })).toEqual([done.id])
  expect(await ids({ category: eve.category, limit: 1, cursor: open.id })).toEqual([done.id])
  // from the moment on, and before the moment, in any zone
  expect(await ids({ from: open.created })).toEqual([check?.id, open.id])
  expect(await ids({ to: open.created })).toEqual([done.id])
  const zoned = `${new Date(Date.parse(open.created) + 7_200_000).toISOString().slice(0, -1)}+02:00`
  expect(await ids({ to: zoned })).toEqual([done.id])
  expect(await ids({ from: '9999-12-31T23:59:59Z' })).toEqual([])
  expect(await ids({ to: '0000-01-01T00:00:00Z' })).toEqual([])
})

test('finds a deposit of a category that the person may no longer use', async () => {
  const eve = await app.signUp('beta.localhost')
  const { request } = await app.reserve(eve, bytes)
  await app.owner.query('delete from group_category where category_id = $1', [eve.category])
  const input = { category: eve.category }
  expect(await eve.call(listRequests, input)).toMatchObject([{ id: request.id }])
  expect(await eve.call(listRequests, { ...input, state: 'done' })).toEqual([])
  const bob = await app
    .call('beta.localhost', listRequests, input, {
      token: (await signUpWithout()).token
    })
    .catch(error => error)
  expect(bob).toMatchObject({ code: 'not_found' })

  async function signUpWithout() {
    await app.owner.query(
      `insert into group_category select company_id, id, $1 from "group"
        where company_id = $2 and is_default`,
      [eve.category, app.companies['beta.localhost']]
    )
    const person = await app.signUp('beta.localhost')
    await app.owner.query('delete from group_category where category_id = $1', [eve.category])
    return person
  }
})

test('tells that a picture was reduced, and from what, in every state', async () => {
  const picture = { w: 4000, h: 3000, type: 'image/jpeg', bytes: 3_000_000 }
  const opened = await ada.call(createDeposit, {
    name: 'photo.jpg',
    size: bytes.length,
    media_type: 'image/jpeg',
    original: 'cd'.repeat(32),
    stored: '1e3ee1a9bcb5e0ba3ae0a4d2d9ff87aa9eb3ec5f3f6d6e0f6b0d3f4b8e7d1a2c',
    category: ada.category,
    transform: {
      kind: 'image-recompress',
      quality: 70,
      tool: 'vidimus/1 canvas',
      from: picture,
      to: { w: 600, h: 450, type: 'image/jpeg', bytes: bytes.length }
    }
  })
  const request = 'request' in opened ? opened.request : opened.duplicate
  const reduced_from = { bytes: 3_000_000, w: 4000, h: 3000 }
  expect(request).toMatchObject({ size: bytes.length, reduced_from })
  expect(await ada.call(getRequest, { id: request.id })).toMatchObject({ reduced_from })
  const { request: plain } = await app.reserve(ada, bytes)
  expect(plain).not.toHaveProperty('reduced_from')
})

test('exports what the filter leaves, newest first, inert in spreadsheets', async () => {
  const eve = await app.signUp()
  await app.deposit(eve, bytes, '=cmd|"x",y.pdf')
  await app.deposit(eve, bytes, 'Été.pdf')
  await eve.call(verify, { items: [{ sha256 }, { sha256: 'cd'.repeat(32) }] })
  const { response, text } = await exported(eve, '?locale=fr')
  expect(response.headers.get('content-type')).toMatch(/^text\/csv; charset=utf-8/)
  expect(response.headers.get('content-disposition')).toMatch(
    /^attachment; filename="history-\d{4}-\d\d-\d\d\.csv"/
  )
  expect(text.startsWith('\ufeffid,kind,created,state,')).toBe(true)
  const [head, check, named, formula, end] = text.split('\r\n')
  expect(head?.split(',')).toContain('reduced_from_bytes')
  expect(check).toMatch(/,verify,.*,2,0,2,0,0$/)
  expect(named).toContain(',Été.pdf,Documents,')
  const column = head?.split(',').indexOf('sha256') ?? -1
  expect(named?.split(',')[column]).toBe(createHash('sha256').update(bytes).digest('hex'))
  expect(check?.split(',')[column]).toBe('')
  expect(formula).toContain(`,"'=cmd|""x"",y.pdf",Documents,`)
  expect(end).toBe('')
  const filtered = await exported(eve, '?kind=deposit&q=ete')
  expect(filtered.text.split('\r\n')).toHaveLength(3)
  expect((await exported(eve, '?state=lapsed')).text.split('\r\n')).toHaveLength(2)
})

test('exports for spreadsheets in the words, dates and separator of the language', async () => {
  const eve = await app.signUp()
  await app.deposit(eve, bytes, 'Bail ; été.pdf')
  await eve.call(verify, { items: [{ sha256 }] })
  const { text } = await exported(
    eve,
    '?locale=fr&format=spreadsheet&time_zone=Europe%2FParis&kind=deposit'
  )
  const [head, deposit] = text.split('\r\n')
  expect(head).toMatch(/^\ufeffRéférence;Type;Date \(Europe\/Paris\);État;Motif;Document;/)
  expect(deposit).toMatch(
    /^[^;]{36};Dépôt;\d\d\/\d\d\/\d{4} \d\d:\d\d:\d\d;Enregistré;;"Bail ; été.pdf";Documents;/
  )
  const english = await exported(eve, '?locale=en&format=spreadsheet')
  const [title, check] = english.text.split('\r\n')
  expect(title).toMatch(/^\ufeffReference,Type,Date \(UTC\),State,/)
  expect(check).toMatch(/^[^,]{36},Verification,\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,Verified,/)
  expect(text).not.toMatch(/done|verify|spreadsheet\./)
})

test('exports each request once, however many there are', async () => {
  const eve = await app.signUp()
  await app.owner.query(
    `insert into request (company_id, id, user_id, kind, state, seq, created_at, facts)
     select $1, gen_random_uuid(), $2, 'verify', 'done', n, date_trunc('second', now()) - (n / 7) * interval '1 s', '{}'
       from generate_series(1, 2500) n`,
    [app.companies['acme.localhost'], eve.id]
  )
  const { text } = await exported(eve, '')
  const ids = text
    .split('\r\n')
    .slice(1, -1)
    .map(line => line.slice(0, 36))
  expect(new Set(ids).size).toBe(2500)
  expect(ids).toHaveLength(2500)
})

test('logs no word of a search', async () => {
  const from = app.logged.length
  await ada.call(listRequests, { q: 'secret-words' })
  await exported(ada, '?q=secret-words')
  expect(app.logged.length).toBeGreaterThan(from)
  expect(JSON.stringify(app.logged)).not.toContain('secret-words')
})

async function exported({ host, token }: TestPerson, search: string) {
  const response = await app.fetch(
    new Request(`http://api.${host}/process/export${search}`, {
      headers: { authorization: `Bearer ${token}` }
    })
  )
  const read = new TextDecoder('utf-8', { ignoreBOM: true })
  return { response, text: read.decode(await response.arrayBuffer()) }
}

/** Returns all pages of a list. Finds each next page only by the header `Link`. */
async function follow({ host, token }: TestPerson, first: string) {
  const pages: { id: string; user_id?: string }[][] = []
  let path: string | undefined = first
  while (path !== undefined) {
    const headers = { authorization: `Bearer ${token}` }
    const answer = await app.request(`api.${host}`, { path, headers })
    expect(answer.status, answer.body.toString()).toBe(200)
    pages.push(JSON.parse(answer.body.toString()))
    const [, next] = /^<(.*)>; rel="next"$/.exec(String(answer.headers['link'] ?? '')) ?? []
    expect(next === undefined).toBe(answer.headers['link'] === undefined)
    path = next
  }
  return pages
}

test('leads from page to page with the same filter, and from the last one nowhere', async () => {
  const eve = await app.signUp()
  const made: string[] = []
  for (const name of ['a b.pdf', 'b.pdf', 'c b.pdf', 'other.pdf', 'd b.pdf']) {
    const { request } = await app.reserve(eve, bytes, name)
    if (name !== 'other.pdf') made.unshift(request.id)
  }
  const pages = await follow(eve, '/process?limit=2&q=b&from=2020-01-01T00%3A00%3A00%2B01%3A00')
  expect(pages.map(page => page.map(({ id }) => id))).toEqual([made.slice(0, 2), made.slice(2)])
  expect(await follow(eve, '/process?q=nothing')).toEqual([[]])
  const { body } = await app.request('api.acme.localhost', { path: '/openapi.json' })
  const { headers } = JSON.parse(body.toString()).paths['/process'].get.responses['200']
  expect(headers).toHaveProperty('Link')
})

const layers = {
  'every layer': async () => undefined,
  'queries alone': ({ owner }: TestApp) => dropRowSecurity(owner),
  'row-level security alone': async ({ deps }: TestApp) => void stripCompanyConditions(deps.db)
}

describe.each(Object.entries(layers))('all of a company, held together by %s', (_name, weaken) => {
  let company: TestApp
  let people: TestPerson[]
  const mine = (list: ProcessedRequest[], { id }: TestPerson) =>
    list.filter(each => each.user_id === id).length
  beforeAll(async () => {
    company = await makeApp()
    const hosts = ['acme.localhost', 'acme.localhost', 'beta.localhost', 'beta.localhost']
    people = await Promise.all(hosts.map(host => company.signUp(host)))
    for (let round = 0; round < 3; round++) {
      for (const person of people) await company.reserve(person, bytes, `${person.host}.pdf`)
    }
    const admins = [people[0]?.id, people[2]?.id]
    await company.owner.query(`update "user" set permissions = '{admin}' where id = any($1)`, [
      admins
    ])
    await weaken(company)
  })
  afterAll(() => company[Symbol.asyncDispose]())

  test('is listed for its administrators, newest first and page by page, and nothing of another', async () => {
    const [admin, colleague, otherAdmin, stranger] = people
    if (!admin || !colleague || !otherAdmin || !stranger) throw new Error('four have signed up')
    const all = await admin.call(listRequests, { scope: 'company' })
    expect(all).toHaveLength(6)
    expect([mine(all, admin), mine(all, colleague)]).toEqual([3, 3])
    expect(all.every(({ name }) => name === 'acme.localhost.pdf')).toBe(true)
    const paged: typeof all = []
    for (let cursor: string | undefined; paged.length < 6; cursor = paged.at(-1)?.id) {
      const page = await admin.call(listRequests, { scope: 'company', limit: 4, cursor })
      expect(page.length).toBeGreaterThan(0)
      paged.push(...page)
    }
    expect(paged).toEqual(all)
    expect(all.map(({ created }) => created)).toEqual(
      all
        .map(({ created }) => created)
        .toSorted()
        .reverse()
    )
    const theirs = await otherAdmin.call(listRequests, { scope: 'company' })
    expect([mine(theirs, otherAdmin), mine(theirs, stranger), theirs.length]).toEqual([3, 3, 6])
    const cursor = theirs[0]?.id
    await expect(admin.call(listRequests, { scope: 'company', cursor })).rejects.toEqual(
      errorWithCode('not_found')
    )
    const { category } = stranger
    await expect(admin.call(listRequests, { scope: 'company', category })).rejects.toEqual(
      errorWithCode('not_found')
    )
    expect(await admin.call(listRequests, { scope: 'company', q: 'beta' })).toEqual([])
  })

  test('is told to nobody else, and the own list names nobody', async () => {
    const [admin, colleague] = people
    if (!admin || !colleague) throw new Error('four have signed up')
    const asked = () => colleague.call(listRequests, { scope: 'company' })
    await expect(asked()).rejects.toEqual(errorWithCode('forbidden'))
    const own = await admin.call(listRequests, { scope: 'own' })
    expect(own).toEqual(await admin.call(listRequests, {}))
    expect([own.length, own.some(each => 'user_id' in each)]).toEqual([3, false])
    const [theirs] = await colleague.call(listRequests, { limit: 1 })
    await expect(admin.call(listRequests, { cursor: theirs?.id })).rejects.toEqual(
      errorWithCode('not_found')
    )
  })
})

test('all of a company is listed for nobody who is an administrator no longer', async () => {
  const eve = await app.signUp()
  const set = (permissions: string) =>
    app.owner.query('update "user" set permissions = $2 where id = $1', [eve.id, permissions])
  await set('{admin}')
  expect(await eve.call(listRequests, { scope: 'company', limit: 1 })).toHaveLength(1)
  await set('{}')
  await expect(eve.call(listRequests, { scope: 'company' })).rejects.toEqual(
    errorWithCode('forbidden')
  )
})
