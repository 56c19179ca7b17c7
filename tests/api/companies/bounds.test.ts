import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createApiKey, createCompanyApiKey } from '../../../src/contract/api-keys.ts'
import { createCategory } from '../../../src/contract/company-categories.ts'
import { createDataSource } from '../../../src/contract/data-sources.ts'
import { createDomain } from '../../../src/contract/domains.ts'
import { addGroupUser, createGroup } from '../../../src/contract/groups.ts'
import { createImport, importLimits } from '../../../src/contract/imports.ts'
import { maxWaitingSignUps } from '../../../src/contract/kit/limits.ts'
import { changeUsers } from '../../../src/contract/members.ts'
import { createUser } from '../../../src/contract/users.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { confirmSessions, makeApiKey } from '../../helpers/cases.ts'
import { newEmail } from '../../helpers/client.ts'
import { makeSignUp } from '../../helpers/mailed.ts'
import { makeAdmins } from '../../helpers/matrix.ts'

let app: TestApp
let ada: TestPerson
beforeAll(async () => {
  app = await makeApp({ sendsMails: false })
  ada = await app.signUp()
  await makeAdmins(app.owner)
})
afterAll(() => app[Symbol.asyncDispose]())

const count = async (rows: string): Promise<number> => {
  const { rows: found } = await app.owner.query(
    `select count(*)::int as count from ${rows} and company_id = $1`,
    [ada.company]
  )
  return found[0].count
}
const text = () => randomUUID().slice(0, 8)
const setting = (name: keyof TestApp['deps']['settings']['bounds']) => (limit: number) => {
  app.deps.settings.bounds = { ...app.deps.settings.bounds, [name]: limit }
}

/** Creates rows until the company has `wanted` of them. */
const fillTo =
  (wanted: number, rows: string, insert: (missing: number) => Promise<unknown>) => async () =>
    insert(wanted - (await count(rows)))

const claims = 'domain where verified_at is null'
const companyKeys = 'api_key where group_id is not null'
const ownKeys = 'api_key where group_id is null'
const openImports = `import where state <> 'done'`

const kinds = {
  too_many_domains: {
    rows: 'domain where true',
    lower: setting('domains'),
    create: () => ada.call(createDomain, { host: `${text()}.example.com` })
  },
  too_many_claims: {
    rows: claims,
    fill: fillTo(19, claims, async missing => {
      for (let made = 0; made < missing; made++) {
        await ada.call(createDomain, { host: `${text()}.example.com` })
      }
    }),
    limit: 20,
    create: () => ada.call(createDomain, { host: `${text()}.example.com` })
  },
  too_many_groups: {
    rows: '"group" where true',
    lower: setting('groups'),
    create: () => ada.call(createGroup, { name: text() })
  },
  too_many_categories: {
    rows: 'category where true',
    lower: setting('categories'),
    create: () => ada.call(createCategory, { names: { en: text() } })
  },
  too_many_data_sources: {
    rows: 'data_source where true',
    lower: setting('dataSources'),
    create: () => ada.call(createDataSource, { name: text() })
  },
  too_many_people: {
    rows: '"user" where deleted_at is null',
    lower: setting('people'),
    create: () => ada.call(createUser, { email: newEmail() })
  },
  too_many_imports: {
    rows: openImports,
    fill: fillTo(19, openImports, async missing => {
      for (let made = 0; made < missing; made++) await newImport()
    }),
    limit: 20,
    create: () => newImport()
  },
  too_many_kept_imports: {
    rows: 'import where true',
    fill: async () => {
      await app.owner.query(`update import set state = 'done' where company_id = $1`, [ada.company])
      await fillTo(importLimits.kept - 1, 'import where true', missing =>
        app.owner.query(
          `insert into import (company_id, id, file_name, created_at, created_by, expires_at, host,
                               options, row_count, state)
           select $1, gen_random_uuid(), 'people.csv', now(), $2, now() + interval '1 day', '',
                  '{}', 1, 'done' from generate_series(1, $3)`,
          [ada.company, ada.id, missing]
        )
      )()
    },
    limit: importLimits.kept,
    create: () => newImport()
  },
  'too_many_keys of a company': {
    rows: companyKeys,
    fill: fillTo(99, companyKeys, async missing => {
      for (let made = 0; made < missing; made++) await makeApiKey(app, ada, { isCompanys: true })
    }),
    limit: 100,
    create: async () => {
      const { rows } = await app.owner.query(
        'select id from "group" where company_id = $1 and is_default',
        [ada.company]
      )
      return ada.call(createCompanyApiKey, {
        id: ada.company,
        group_id: rows[0].id,
        name: 'Scanner',
        scopes: ['verify']
      })
    }
  },
  'too_many_keys of a person': {
    rows: ownKeys,
    fill: fillTo(99, ownKeys, async missing => {
      for (let made = 0; made < missing; made++) await makeApiKey(app, ada)
    }),
    limit: 100,
    create: () => ada.call(createApiKey, { name: 'Scanner', scopes: ['verify'] })
  }
}

const newImport = () =>
  ada.call(createImport, {
    file_name: 'people.csv',
    rows: 1,
    bytes: 10,
    send_invitations: false
  })

describe('parallel calls create no more than a company may have', () => {
  test.each(Object.entries(kinds))('%s', async (name, kind) => {
    const code = name.split(' ')[0]
    const before = app.deps.settings.bounds
    await confirmSessions(app)
    let limit: number
    if ('fill' in kind) {
      await kind.fill()
      limit = kind.limit
    } else {
      limit = (await count(kind.rows)) + 1
      kind.lower(limit)
    }
    const answers = await Promise.allSettled(Array.from({ length: 6 }, () => kind.create()))
    app.deps.settings.bounds = before
    expect(await count(kind.rows)).toBe(limit)
    const refused = answers.flatMap(answer => (answer.status === 'rejected' ? answer.reason : []))
    expect(refused).toHaveLength(5)
    for (const error of refused) {
      expect(error).toMatchObject({ status: 409, code, figures: { used: limit, limit } })
    }
  })
})

test('a bound that was lowered below what exists takes nothing away', async () => {
  const before = app.deps.settings.bounds
  const had = await count('"group" where true')
  setting('groups')(1)
  await expect(ada.call(createGroup, { name: text() })).rejects.toMatchObject({
    code: 'too_many_groups',
    figures: { used: had, limit: 1 }
  })
  app.deps.settings.bounds = before
  expect(await count('"group" where true')).toBe(had)
})

test('at most 10,000 sign-ups of a company wait, and the oldest lapse', async () => {
  await using mailing = await makeApp()
  const [first, second] = [await makeSignUp(mailing), await makeSignUp(mailing)]
  const acme = mailing.companies['acme.localhost']
  await mailing.owner.query(
    `insert into signup (company_id, id, email, username, locale, key_id, kdf, pub_enc, kek_id,
       created_at, expires_at)
     select company_id, gen_random_uuid(), 'w' || n || '@example.com', username, locale, key_id,
            kdf, pub_enc, kek_id, created_at + interval '1 ms', expires_at
       from signup, generate_series(1, $2) n where id = $1`,
    [first.id, maxWaitingSignUps - 2]
  )
  await mailing.owner.query(
    `update signup set created_at = created_at - interval '1 hour' where id = any ($1)`,
    [[first.id, second.id]]
  )
  const made = await Promise.all([makeSignUp(mailing), makeSignUp(mailing)])
  const { rows } = await mailing.owner.query(
    `select count(*)::int as all, count(*) filter (where id = any ($2))::int as old,
            count(*) filter (where id = any ($3))::int as new
       from signup where company_id = $1`,
    [acme, [first.id, second.id], made.map(({ id }) => id)]
  )
  expect(rows).toEqual([{ all: maxWaitingSignUps, old: 0, new: 2 }])
})

test('a person is a member of at most 100 groups', async () => {
  const person = await app.signUp()
  const { rows } = await app.owner.query(
    `insert into "group" (company_id, id, name, is_default, features, created_at)
     select $1, gen_random_uuid(), 'Choir ' || n, false, '{}', now() from generate_series(1, 101) n
     returning id`,
    [ada.company]
  )
  const ids: string[] = rows.map(({ id }) => id)
  await app.owner.query(
    `insert into group_user (company_id, group_id, user_id)
     select $1, unnest($3::uuid[]), $2`,
    [ada.company, person.id, ids.slice(0, 98)]
  )
  const join = (groupId: string | undefined) =>
    ada.call(addGroupUser, { groupId: groupId ?? '', user_id: person.id })
  const answers = await Promise.allSettled(ids.slice(98).map(join))
  // the default group is the first of them
  expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  const ofPerson = `group_user where user_id = '${person.id}'`
  expect(await count(ofPerson)).toBe(100)
  await join(ids[0])
  const outside = ids.slice(98).find((_, index) => answers[index]?.status === 'rejected') ?? ''
  await expect(join(outside)).rejects.toMatchObject({
    code: 'too_many_groups',
    figures: { used: 100, limit: 100 }
  })
  const [other, change] = [await app.signUp(), { action: 'add_to_group' as const }]
  expect(
    await ada.call(changeUsers, { ...change, group_id: outside, ids: [person.id, other.id] })
  ).toMatchObject({ done: [other.id], refused: [{ id: person.id, code: 'too_many_groups' }] })
  expect(await count(ofPerson)).toBe(100)
})
