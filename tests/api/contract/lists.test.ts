import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listCompanyCategories } from '../../../src/contract/company-categories.ts'
import {
  addGroupUser,
  createGroup,
  listGroups,
  removeGroupUser
} from '../../../src/contract/groups.ts'
import { listUsers, type Member } from '../../../src/contract/members.ts'
import { listSessions } from '../../../src/contract/sessions.ts'
import { foldText } from '../../../src/core/text/search-words.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { requestOf } from '../../helpers/cases.ts'
import { statementsOf } from '../../helpers/database.ts'
import { makeAdmins } from '../../helpers/matrix.ts'
import { countRowsRead } from '../../helpers/plans.ts'

const people = 3000

let app: TestApp
let ada: TestPerson
let company: string
beforeAll(async () => {
  app = await makeApp()
  ada = await app.signUp()
  company = app.companies[ada.host] ?? ''
  await makeAdmins(app.owner)
  await addPeople(people)
  await app.owner.query('analyze "user", group_user, user_key')
})
afterAll(() => app[Symbol.asyncDispose]())

/**
 * Adds people who share four names, so that often only their ids decide the order. Every tenth
 * joins the default group.
 */
async function addPeople(count: number): Promise<void> {
  await app.owner.query(
    `with made as (
       insert into "user" (company_id, id, email, username, tokens_valid_after, created_at)
       select $1, gen_random_uuid(), 'p' || n || '@example.com',
              (array['Élodie Durand', 'élodie durand', 'Zoë Ångström', 'Иван Петров'])[1 + n % 4],
              now(), timestamptz '2026-01-01' + (n % 7) * interval '1 microsecond'
         from generate_series(1, $2::int) n returning company_id, id, email
     )
     insert into group_user (company_id, group_id, user_id)
     select made.company_id, g.id, made.id from made join "group" g using (company_id)
      where is_default and email like '%0@%'`,
    [company, count]
  )
}

/**
 * Reads all pages of the list of people, one after the other. Calls `between` after each page but
 * the last.
 */
async function readAll(
  input: Partial<Parameters<typeof page>[0]>,
  between: (read: Member[]) => Promise<void> = async () => {}
): Promise<Member[]> {
  const read: Member[] = []
  for (let cursor: string | undefined; ; ) {
    const { items, link } = await page({ limit: 200, ...input, ...(cursor && { cursor }) })
    read.push(...items)
    const next = /cursor=([\w-]+)[^>]*>; rel="next"$/.exec(link ?? '')?.[1]
    expect(next, 'the link names the last item').toBe(link && items.at(-1)?.id)
    if (next === undefined) return read
    cursor = next
    await between(read)
  }
}

async function page(
  input: Partial<Record<'q' | 'sort' | 'cursor' | 'group' | 'email', string>> & { limit?: number }
): Promise<{ items: Member[]; link: string | undefined }> {
  const headers = { authorization: `Bearer ${ada.token}` }
  const answer = await app.request(
    `api.${ada.host}`,
    requestOf(listUsers, { id: company, ...input }, headers)
  )
  expect(answer.status, answer.body.toString()).toBe(200)
  const link = answer.headers['link']
  return { items: JSON.parse(answer.body.toString()), link: Array.isArray(link) ? link[0] : link }
}

describe('the pages of a list', () => {
  test.each(['name', '-name', 'email', '-email', 'created', '-created'])(
    'hold everybody once, by %s',
    async sort => {
      const read = await readAll({ sort })
      expect(new Set(read.map(({ id }) => id)).size).toBe(people + 1)
      const keys = read.map(({ id, username, email, created }) => {
        if (sort.endsWith('created')) return [created]
        return sort.endsWith('email') ? [email] : [foldText(`${username} ${email}`), id]
      })
      const sorted = keys.map(String).toSorted()
      expect(keys.map(String)).toEqual(sort.startsWith('-') ? sorted.toReversed() : sorted)
    }
  )

  test('repeat and skip nobody while others come and go', async () => {
    let round = 0
    const before = await readAll({ sort: 'name' })
    const gone = new Set<string>()
    const read = await readAll({ sort: 'name', limit: 100 }, async soFar => {
      if (++round > 5) return
      const passed = soFar.at(-50)?.id
      await app.owner.query(`update "user" set deleted_at = now() where id = $1`, [passed])
      if (passed) gone.add(passed)
      await app.owner.query(
        `insert into "user" (company_id, id, email, username, tokens_valid_after, created_at)
         values ($1, gen_random_uuid(), $2, 'AAA before every page', now(), now())`,
        [company, `early-${round}@example.com`]
      )
    })
    expect(read.map(({ id }) => id)).toEqual(before.map(({ id }) => id))
    await app.owner.query(`update "user" set deleted_at = null where id = any ($1)`, [[...gone]])
    await app.owner.query(`delete from "user" where email like 'early-%'`)
  })

  test('begin again where the person of the cursor was deleted', async () => {
    const { items } = await page({ limit: 2 })
    const cursor = items[1]?.id ?? ''
    await app.owner.query('update "user" set deleted_at = now() where id = $1', [cursor])
    const refused = ada.call(listUsers, { id: company, cursor })
    await expect(refused).rejects.toMatchObject({ code: 'not_found' })
    await app.owner.query('update "user" set deleted_at = null where id = $1', [cursor])
    expect((await page({ limit: 2 })).items).toEqual(items)
  })

  test('go on after an item that the filter no longer has', async () => {
    const [everyone] = await ada.call(listGroups, { id: company, q: 'everyone' })
    const group = everyone?.id ?? ''
    const members = await readAll({ group })
    const cursor = members[1]?.id ?? ''
    await ada.call(removeGroupUser, { groupId: group, userId: cursor })
    const { items } = await page({ limit: 2, group, cursor })
    expect(items).toEqual(members.slice(2, 4))
    await ada.call(addGroupUser, { groupId: group, user_id: cursor })
  })

  test('are found by words in any order, without case and accents', async () => {
    const quarter = people / 4
    expect(await readAll({ q: 'DURAND elo' })).toHaveLength(quarter * 2)
    expect(await readAll({ q: 'angstrom ZOE' })).toHaveLength(quarter)
    expect(await readAll({ q: 'иван ПЕТРОВ' })).toHaveLength(quarter)
    expect(await readAll({ q: 'p987@' })).toMatchObject([{ email: 'p987@example.com' }])
    expect(await readAll({ q: '100%_' })).toEqual([])
  })

  test('compare names in the database as they compare what is searched for', async () => {
    const names = [
      'Élodie ÅNGSTRÖM',
      'ŁUKASZ Øre',
      'Иван ЙОЖИН',
      'Ірина ЇЖАК',
      'ΓΙΩΡΓΟΣ Πέτρου',
      'ﬁn ÆSIR'
    ]
    const { rows } = await app.owner.query(
      'select fold_text(name) as folded from unnest($1::text[]) as name',
      [names]
    )
    // the last sigma of a Greek word in capitals is the one difference
    expect(rows.map(row => row.folded)).toEqual(names.map(name => foldText(name).replace('ς', 'σ')))
  })

  test('are those of one group', async () => {
    const [group] = await ada.call(listGroups, { id: company, q: 'everyone' })
    const members = await readAll({ group: group?.id ?? '', sort: '-email' })
    expect(members).toHaveLength(people / 10 + 1)
    expect(group?.user_count).toBe(people / 10 + 1)
  })

  test('have the one person of an e-mail, in any case and with no other words', async () => {
    expect(await readAll({ email: 'P123@Example.COM' })).toMatchObject([
      { email: 'p123@example.com' }
    ])
    expect(await readAll({ email: '123@example.com' })).toEqual([])
    const [group] = await ada.call(listGroups, { id: company, q: 'everyone' })
    const inGroup = { group: group?.id ?? '' }
    expect(await readAll({ email: 'p120@example.com', ...inGroup })).toHaveLength(1)
    expect(await readAll({ email: 'p123@example.com', ...inGroup })).toEqual([])
    expect(await readAll({ email: 'p123@example.com', q: 'nobody' })).toEqual([])
  })

  test.each([
    [{ limit: 0 }, 'limit'],
    [{ limit: 201 }, 'limit'],
    [{ sort: 'password' }, 'sort'],
    [{ sort: '--name' }, 'sort'],
    [{ cursor: 'x' }, 'cursor'],
    [{ q: '' }, 'q'],
    [{ email: 'p123' }, 'email'],
    [{ page: '2' }, 'page']
  ])('are refused for %j', async (input, field) => {
    const headers = { authorization: `Bearer ${ada.token}` }
    const answer = await app.request(
      `api.${ada.host}`,
      requestOf(listUsers, { id: company, ...input }, headers)
    )
    expect(JSON.parse(answer.body.toString()).fields).toHaveProperty([field])
  })

  test('hold groups, categories and sessions too', async () => {
    for (const name of ['Beta', 'alpha', 'Émile', 'Delta']) await ada.call(createGroup, { name })
    const byName = await ada.call(listGroups, { id: company })
    expect(byName.map(({ name }) => name)).toEqual(['alpha', 'Beta', 'Delta', 'Émile', 'Everyone'])
    const cursor = byName[2]?.id ?? ''
    const before = await ada.call(listGroups, { id: company, sort: '-name', cursor, limit: 1 })
    expect(before.map(({ name }) => name)).toEqual(['Beta'])
    expect(await ada.call(listCompanyCategories, { id: company, q: 'DOCU' })).toHaveLength(1)

    for (let more = 0; more < 3; more++) await app.signIn(ada)
    const sessions = await ada.call(listSessions, {})
    expect(sessions[0]?.current).toBe(true)
    const first = await ada.call(listSessions, { limit: 2 })
    const rest = await ada.call(listSessions, { cursor: first[1]?.id ?? '' })
    expect([...first, ...rest]).toEqual(sessions)
  })
})

test.each(['name', '-name', 'email', '-created'] as const)(
  'a page by %s reads no more of the table than it shows',
  async sort => {
    const middle = (await readAll({ sort })).at(people / 2)?.id ?? ''
    const acme = app.companies[ada.host]
    if (!acme) throw new Error('no company')
    const statements = await statementsOf(app.deps.db, /from "user"/, () =>
      ada.call(listUsers, { id: company, sort, cursor: middle, limit: 50 })
    )
    const rows = await Promise.all(
      statements.map(statement => countRowsRead(app.deps.db, acme, statement))
    )
    expect(statements.length).toBeGreaterThan(0)
    // the row of the cursor, one row more than the page, and the key of each
    for (const count of rows) expect(count).toBeLessThanOrEqual(110)
  }
)

test('a search by e-mail reads no more of the table than it shows', async () => {
  const acme = app.companies[ada.host]
  if (!acme) throw new Error('no company')
  const statements = await statementsOf(app.deps.db, /from "user"/, () =>
    ada.call(listUsers, { id: company, email: 'p432@example.com' })
  )
  const rows = await Promise.all(
    statements.map(statement => countRowsRead(app.deps.db, acme, statement))
  )
  expect(statements.length).toBeGreaterThan(0)
  // the entry of the index; the person and the key
  for (const count of rows) expect(count).toBeLessThanOrEqual(2)
})
