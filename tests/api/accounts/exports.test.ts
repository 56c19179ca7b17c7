import { afterAll, beforeAll, expect, test } from 'vitest'
import { exportOwnData } from '../../../src/contract/exports.ts'
import { listRequests } from '../../../src/contract/requests.ts'
import { listSessions } from '../../../src/contract/sessions.ts'
import { getOwnAccount } from '../../../src/contract/users.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'

let app: TestApp
let ada: TestPerson
beforeAll(async () => {
  app = await makeApp()
  ada = await app.signUp()
})
afterAll(() => app[Symbol.asyncDispose]())

test('answers what the calls of the account, the sessions and the history answer', async () => {
  await app.signIn(ada)
  await app.deposit(ada, Buffer.from('one'), 'one.pdf')
  await app.deposit(ada, Buffer.from('two'), 'two.pdf')
  await app.deposit(await app.signUp(), Buffer.from('three'), 'three.pdf')
  const found = await ada.call(exportOwnData, {})
  expect(found).toEqual({
    account: await ada.call(getOwnAccount, {}),
    sessions: await ada.call(listSessions, {}),
    requests: await ada.call(listRequests, {}),
    complete: true
  })
  expect(found.sessions).toHaveLength(2)
  expect(found.requests.map(({ name }) => name)).toEqual(['two.pdf', 'one.pdf'])
})

test('carries no token, not even where the account would renew one', async () => {
  const eve = await app.signUp()
  app.wait(30 * 60)
  expect(await eve.call(getOwnAccount, {})).toHaveProperty('access_token')
  const response = await app.request('api.acme.localhost', {
    path: '/user/export',
    headers: { authorization: `Bearer ${eve.token}` }
  })
  expect(response.status).toBe(200)
  expect(response.body.toString()).not.toMatch(/access_token|eyJ/)
})

test.for([
  [200, 1],
  [201, 2],
  [401, 3]
])('answers %i requests on %i pages, newest first', async ([count = 0, pages = 0]) => {
  const eve = await app.signUp()
  const { id } = await app.deposit(eve, Buffer.from(`${count}`))
  await app.owner.query(
    `insert into request (company_id, id, user_id, kind, state, code, seq, created_at, facts)
     select company_id, gen_random_uuid(), user_id, kind, state, code, seq,
            created_at - n * interval '1 s', facts
       from request, generate_series(1, $2) n where id = $1`,
    [id, count - 1]
  )
  const seen = [await eve.call(exportOwnData, {})]
  for (let last = seen.at(-1); last && !last.complete && seen.length < 9; last = seen.at(-1)) {
    const cursor = last.requests.at(-1)?.id
    seen.push(await eve.call(exportOwnData, { cursor }))
  }
  expect(seen.map(({ complete }) => complete)).toEqual([...Array(pages - 1).fill(false), true])
  const requests = seen.flatMap(page => page.requests)
  expect(new Set(requests.map(each => each.id)).size).toBe(count)
  const times = requests.map(({ created }) => created)
  expect(times).toEqual(times.toSorted().reverse())
})
