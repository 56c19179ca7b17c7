import { randomUUID } from 'node:crypto'
import type { KyselyPlugin } from 'kysely'
import { expect, test } from 'vitest'
import { createDeposit } from '../../../src/contract/deposits.ts'
import { AppError } from '../../../src/contract/kit/errors.ts'
import { getOwnAccount } from '../../../src/contract/users.ts'
import { verify } from '../../../src/contract/verifications.ts'
import { errorForCaller } from '../../../src/server/api/kit/responses.ts'
import { inCompany, type Tx } from '../../../src/server/db/scope.ts'
import { endNextIdleUpload } from '../../../src/server/domain/deposits/idle-uploads.ts'
import { readUsageOfPersonAndGroups } from '../../../src/server/domain/limits/usage.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { createRandom } from '../../helpers/random.ts'
import { retryWhileBusy } from '../../helpers/retry-while-busy.ts'
import { runCount, seed } from '../../helpers/soak.ts'

// D-01

const rounds = runCount(1, 100)
const racers = runCount(24, 64)

const day = 86_400
const bytes = (length: number) => Buffer.alloc(length, 'v')

test(`lets exactly as many of ${racers} deposits at once in as requests are left (SEED=${seed})`, async () => {
  const random = createRandom(seed)
  await using app = await makeApp({ limits: { max_requests: 0 } })
  const people = [await app.signUp(), await app.signUp(), await app.signUp()]
  let limit = 0
  for (let round = 0; round < rounds; round++) {
    const room = random.integer(1, racers - 1)
    limit += room
    await setLimits(app, { max_requests: limit })
    const { accepted, refusals } = await race(app, people, () => bytes(10))
    expect(accepted).toBe(room)
    expect(new Set(refusals.map(refusal => refusal.code))).toEqual(
      new Set(['request_limit_reached'])
    )
    expect(await usageOf(app)).toMatchObject({ requests: { used: 0, reserved: limit } })
  }
  expect((await ownSum(people)).requests_used).toBe(limit)
})

test(`lets exactly as many of ${racers} deposits at once in as room is left (SEED=${seed})`, async () => {
  const random = createRandom(seed)
  await using app = await makeApp({ limits: { max_storage: 0 } })
  const people = [await app.signUp(), await app.signUp(), await app.signUp()]
  let taken = 0
  for (let round = 0; round < rounds; round++) {
    const size = random.integer(1, 5000)
    const room = random.integer(1, racers - 1)
    await setLimits(app, { max_storage: taken + room * size + random.integer(0, size - 1) })
    taken += room * size
    const { accepted, refusals } = await race(app, people, () => bytes(size))
    expect(accepted).toBe(room)
    expect(new Set(refusals.map(refusal => refusal.code))).toEqual(
      new Set(['storage_limit_reached'])
    )
    expect(await usageOf(app)).toMatchObject({ storage: { used: 0, reserved: taken } })
  }
  expect((await ownSum(people)).storage_used).toBe(taken)
})

test('takes from the group with most requests left, then from the one with more room', async () => {
  await using app = await makeApp({ limits: { max_requests: 3, max_storage: 1000 } })
  const ada = await app.signUp()
  const second = await addGroup(app, ada, { max_requests: 4, max_storage: 2000 })
  const chosen = []
  for (let n = 0; n < 7; n++) {
    await app.reserve(ada, bytes(10))
    const { rows } = await app.owner.query(
      'select group_id from upload order by created_at desc limit 1'
    )
    chosen.push(rows[0].group_id === second ? 'second' : 'first')
  }
  expect(chosen).toEqual(['second', 'second', 'first', 'second', 'first', 'second', 'first'])
})

test('takes from the other group what the one with most requests has no room for', async () => {
  await using app = await makeApp({ limits: { max_requests: 2, max_storage: 1000 } })
  const ada = await app.signUp()
  await addGroup(app, ada, { max_requests: 100, max_storage: 50 })
  await app.reserve(ada, bytes(500))
  expect((await ada.call(getOwnAccount, {})).usage_remaining).toEqual({
    requests: 101,
    storage: 550
  })
  await expect(app.reserve(ada, bytes(501))).rejects.toMatchObject({
    code: 'storage_limit_reached'
  })
})

test('settles without a deadlock once the planner knows the table', async () => {
  await using app = await makeApp({ limits: { max_requests: 10_000, max_storage: 100_000_000 } })
  const ada = await app.signUp()
  const deadlocks = async () => {
    await app.owner.query('select pg_stat_force_next_flush()')
    const { rows } = await app.owner.query(
      'select deadlocks::int as n from pg_stat_database where datname = current_database()'
    )
    return rows[0].n
  }
  await app.deposit(ada, bytes(10))
  // a scan of the table then meets storage first, an index would meet it second
  await app.owner.query(`update usage set used = used where kind = 'requests'`)
  await app.owner.query('vacuum analyze usage')
  // reservations race with the settlements of those before
  const calls = runCount(5, 40)
  const depositor = async () => {
    for (let n = 0; n < calls; n++) {
      const { upload } = await retryWhileBusy(() => app.reserve(ada, bytes(10)))
      await app.patch(ada, upload, bytes(10))
    }
  }
  const checker = async () => {
    const items = [{ sha256: '0'.repeat(64) }]
    for (let n = 0; n < calls; n++) await retryWhileBusy(() => ada.call(verify, { items }))
  }
  await Promise.all([...Array.from({ length: 6 }, depositor), checker(), checker()])
  expect(await deadlocks()).toBe(0)
  const wrong = app.logged.filter(({ level, facts }) => {
    const { code } = errorForCaller('err' in facts ? facts.err : undefined)
    return level === 'error' && code !== 'unavailable'
  })
  expect(wrong).toEqual([])
  expect(await ownOf(ada)).toEqual({
    requests_used: 1 + 6 * calls + 2 * calls,
    storage_used: 10 + 60 * calls
  })
  expect(await unevenUsage(app)).toEqual([])
}, 300_000)

test('shows what two people of one group used, each their own and both the group’s', async () => {
  await using app = await makeApp({ limits: { max_requests: 100, max_storage: 10_000 } })
  const ada = await app.signUp()
  const bob = await app.signUp()
  const nobody = await app.signUp()
  await app.deposit(ada, bytes(1000))
  await app.deposit(ada, bytes(300))
  await app.reserve(bob, bytes(200))
  const items = ['1', '2', '3'].map(digit => ({ sha256: digit.repeat(64) }))
  await bob.call(verify, { items })
  // a fingerprint takes no room
  await app.owner.query("update category set store = 'fingerprint'")
  const sha256 = '4'.repeat(64)
  await bob.call(createDeposit, {
    name: 'a.pdf',
    size: 50,
    media_type: 'application/pdf',
    original: sha256,
    stored: sha256,
    category: bob.category
  })

  expect(await ownOf(ada)).toEqual({ requests_used: 2, storage_used: 1300 })
  expect(await ownOf(bob)).toEqual({ requests_used: 5, storage_used: 200 })
  expect(await ownOf(nobody)).toEqual({ requests_used: 0, storage_used: 0 })
  expect(await unevenUsage(app)).toEqual([])
  for (const person of [ada, bob, nobody]) {
    const { usage } = await person.call(getOwnAccount, {})
    expect(usage).toMatchObject({ requests_used: 7, storage_used: 1500 })
  }

  // the figures follow the groups that a person has now
  const second = await addGroup(app, ada, { max_requests: 1000 })
  await app.owner.query('delete from group_user where user_id = $1 and group_id <> $2', [
    ada.id,
    second
  ])
  expect(await ownOf(ada)).toEqual({ requests_used: 0, storage_used: 0 })
  expect(await ownOf(bob)).toEqual({ requests_used: 5, storage_used: 200 })
})

test('charges nothing to a person whose group refuses', async () => {
  await using app = await makeApp({ limits: { max_requests: 2 } })
  const ada = await app.signUp()
  const check = (count: number) =>
    ada.call(verify, {
      items: Array.from({ length: count }, (_, n) => ({ sha256: `${n}`.repeat(64) }))
    })
  await expect(check(3)).rejects.toMatchObject({ code: 'request_limit_reached' })
  expect(await ownOf(ada)).toEqual({ requests_used: 0, storage_used: 0 })
  await check(1)
  await expect(check(2)).rejects.toMatchObject({ code: 'request_limit_reached' })
  expect(await ownOf(ada)).toEqual({ requests_used: 1, storage_used: 0 })

  // the second group takes what the first has no room for
  await addGroup(app, ada, { max_requests: 2 })
  await check(2)
  expect(await ownOf(ada)).toEqual({ requests_used: 3, storage_used: 0 })
  expect(await unevenUsage(app)).toEqual([])
})

test('tells figures and the end of the period with a refusal', async () => {
  await using app = await makeApp({
    limits: { max_requests: 1, max_requests_interval: 'P1D', max_storage: 100 }
  })
  const ada = await app.signUp()
  await expect(app.reserve(ada, bytes(101))).rejects.toMatchObject({
    code: 'storage_limit_reached',
    figures: { used: 0, limit: 100, resets_at: null }
  })
  await app.reserve(ada, bytes(100))
  const refusal = await app.reserve(ada, bytes(1)).catch(error => error)
  expect(refusal).toMatchObject({
    code: 'request_limit_reached',
    status: 429,
    figures: { used: 1, limit: 1 }
  })
  const midnight = new Date(refusal.figures.resets_at)
  expect(midnight.toISOString()).toMatch(/T00:00:00\.000Z$/)
  const left = (midnight.getTime() - Date.now()) / 1000
  expect(Math.abs(refusal.retryAfter - left)).toBeLessThan(60)
})

test('gives requests anew with the period and never gives room anew', async () => {
  await using app = await makeApp({
    limits: { max_requests: 2, max_requests_interval: 'P1D', max_storage: 100 }
  })
  const ada = await app.signUp()
  await app.deposit(ada, bytes(30))
  const late = await app.reserve(ada, bytes(30))
  const refusal = await app.reserve(ada, bytes(1)).catch(error => error)
  const left = (new Date(refusal.figures.resets_at).getTime() - Date.now()) / 1000
  app.wait(left - 60)
  const beforeMidnight = await app.signUp()
  await expect(app.reserve(beforeMidnight, bytes(1))).rejects.toMatchObject({
    code: 'request_limit_reached'
  })
  app.wait(61)
  expect((await beforeMidnight.call(getOwnAccount, {})).usage_remaining).toEqual({
    requests: 2,
    storage: 40
  })
  const token = await app.signIn(ada)
  const ownOfAda = async () => (await ada.call(getOwnAccount, {}, { token })).usage?.own
  expect(await ownOfAda()).toEqual({ requests_used: 0, storage_used: 60 })
  await expect(app.reserve(beforeMidnight, bytes(41))).rejects.toMatchObject({
    code: 'storage_limit_reached'
  })

  // what was reserved yesterday is charged to yesterday
  const again = { ...ada, token, call: beforeMidnight.call }
  expect((await app.patch(again, late.upload, bytes(30))).status).toBe(204)
  await until(app, 'select 1 from deposit having count(*) = 2')
  const { rows } = await app.owner.query(
    `select used::int, reserved::int from usage where kind = 'requests' order by period_start`
  )
  expect(rows[0]).toEqual({ used: 2, reserved: 0 })
  expect((await beforeMidnight.call(getOwnAccount, {})).usage_remaining.requests).toBe(2)
  expect(await ownOfAda()).toEqual({ requests_used: 0, storage_used: 60 })
})

test('returns what cancelled, failed and lapsed deposits held, once', async () => {
  await using app = await makeApp({ limits: { max_requests: 100, max_storage: 10_000 } })
  const ada = await app.signUp()
  const cancelled = await app.reserve(ada, bytes(100))
  const failed = await app.reserve(ada, bytes(200))
  await app.reserve(ada, bytes(400))
  expect(await usageOf(app)).toEqual(both({ used: 0, reserved: 3 }, { used: 0, reserved: 700 }))
  expect(await ownOf(ada)).toEqual({ requests_used: 3, storage_used: 700 })

  expect((await app.tus(ada, 'DELETE', cancelled.upload)).status).toBe(204)
  expect((await app.tus(ada, 'DELETE', cancelled.upload)).status).toBe(409)
  expect(await usageOf(app)).toEqual(both({ used: 0, reserved: 2 }, { used: 0, reserved: 600 }))

  await app.patch(ada, failed.upload, Buffer.alloc(200, 'x'))
  await app.until(ada, failed.request.id, ['failed'])
  expect(await usageOf(app)).toEqual(both({ used: 0, reserved: 1 }, { used: 0, reserved: 400 }))
  expect(await ownOf(ada)).toEqual({ requests_used: 1, storage_used: 400 })

  const { company } = ada
  app.wait(day - 3600)
  expect(await endNextIdleUpload(app.deps, company)).toBe(false)
  app.wait(3601)
  expect(await endNextIdleUpload(app.deps, company)).toBe(true)
  expect(await endNextIdleUpload(app.deps, company)).toBe(false)
  expect(await usageOf(app)).toEqual(both({ used: 0, reserved: 0 }, { used: 0, reserved: 0 }))
  const { usage } = await ada.call(getOwnAccount, {}, { token: await app.signIn(ada) })
  expect(usage?.own).toEqual({ requests_used: 0, storage_used: 0 })
})

test('keeps a day of peace for every byte that comes before an upload lapses', async () => {
  await using app = await makeApp()
  const ada = await app.signUp()
  const { request, upload } = await app.reserve(ada, bytes(100))
  const { company } = ada
  app.wait(0.9 * day)
  const token = await app.signIn(ada)
  expect((await app.patch({ ...ada, token }, upload, bytes(50))).status).toBe(204)
  await until(app, 'select 1 from upload where active_at > created_at') // noted after the answer
  app.wait(0.9 * day)
  expect(await endNextIdleUpload(app.deps, company)).toBe(false)
  app.wait(0.2 * day)
  expect(await endNextIdleUpload(app.deps, company)).toBe(true)
  const late = await app.patch({ ...ada, token: await app.signIn(ada) }, upload, bytes(50), 50)
  expect(late.status).toBe(410)
  expect(JSON.parse(late.body.toString())).toMatchObject({ code: 'lapsed' })
  const { rows } = await app.owner.query('select state, code from request where id = $1', [
    request.id
  ])
  expect(rows).toEqual([{ state: 'lapsed', code: 'lapsed' }])
})

test('lets a lowered limit stop new deposits and none that are under way', async () => {
  await using app = await makeApp({ limits: { max_requests: 5, max_storage: 1000 } })
  const ada = await app.signUp()
  const { request, upload } = await app.reserve(ada, bytes(500))
  await setLimits(app, { max_requests: 0, max_storage: 10 })
  expect((await ada.call(getOwnAccount, {})).usage_remaining).toEqual({ requests: 0, storage: 0 })
  await expect(app.reserve(ada, bytes(1))).rejects.toMatchObject({ code: 'request_limit_reached' })
  expect((await app.patch(ada, upload, bytes(500))).status).toBe(204)
  await app.until(ada, request.id, ['done'])
  expect(await usageOf(app)).toEqual(both({ used: 1, reserved: 0 }, { used: 500, reserved: 0 }))
})

test('charges one file that two people deposit to both deposits', async () => {
  await using app = await makeApp()
  const people = [await app.signUp(), await app.signUp()]
  await Promise.all(people.map(person => app.deposit(person, bytes(1000))))
  expect(await usageOf(app)).toEqual(both({ used: 2, reserved: 0 }, { used: 2000, reserved: 0 }))
  const { rows } = await app.owner.query('select refs from blob')
  expect(rows).toEqual([{ refs: 2 }])
})

test.each([
  ['P1D', 800],
  [null, 1]
])('counts the period of %s alone, however many there were', async (interval, periods) => {
  await using app = await makeApp({ limits: { max_requests: 5 } })
  const ada = await app.signUp()
  await app.owner.query(
    `update "group" set max_requests_interval = $1, created_at = created_at - ($2::int - 1) * coalesce($1, 'P1D')::interval`,
    [interval, periods]
  )
  await app.owner.query(
    `insert into usage (company_id, group_id, kind, period_start, used)
     select company_id, id, 'requests', date_trunc('day', created_at at time zone 'utc') at time zone 'utc' + n * coalesce($1, 'P1D')::interval, 100 + n
     from "group", generate_series(0, $2::int - 1) n`,
    [interval, periods]
  )
  const company_id = ada.company
  let rowsRead = 0
  const { total } = await inCompany(app.deps.db, company_id, tx => {
    const counter: KyselyPlugin = {
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        rowsRead += result.rows.length
        return result
      }
    }
    const counting = Object.assign(tx.withPlugin(counter), { companyId: company_id }) as Tx // as: reads only
    return readUsageOfPersonAndGroups(counting, {
      company_id,
      user_id: ada.id,
      now: app.deps.clock()
    })
  })
  expect(total.requests_used).toBe(100 + periods - 1)
  // those of the group, and the person's own
  expect(rowsRead).toBeLessThanOrEqual(3)
})

/**
 * Makes `racers` reservations at the same time, by the people in turn. Returns the number of accepted
 * ones, and the errors of the others.
 */
async function race(app: TestApp, people: TestPerson[], content: () => Uint8Array) {
  const calls = Array.from({ length: racers }, (_, n) => {
    const person = people[n % people.length]
    if (!person) return Promise.reject(new Error('nobody races'))
    return retryWhileBusy(() => app.reserve(person, content()))
  })
  const settled = await Promise.allSettled(calls)
  const refusals = settled
    .filter(each => each.status === 'rejected')
    .map(({ reason }) => {
      if (!(reason instanceof AppError)) throw reason
      return reason
    })
  return { accepted: racers - refusals.length, refusals }
}

interface Limits {
  max_requests?: number | null
  max_storage?: number | null
}

async function setLimits(app: TestApp, limits: Limits): Promise<void> {
  for (const [column, limit] of Object.entries(limits)) {
    await app.owner.query(`update "group" set ${column} = $1`, [limit])
  }
}

/** Adds a second group for a person, which may use the person's category. Returns its id. */
async function addGroup(app: TestApp, person: TestPerson, limits: Limits): Promise<string> {
  const id = randomUUID()
  const { max_requests = null, max_storage = null } = limits
  await app.owner.query(
    `insert into "group" (company_id, id, name, features, max_requests, max_storage, created_at)
     select company_id, $1, 'Second', '{deposit}', $2, $3, now() from "user" where id = $4`,
    [id, max_requests, max_storage, person.id]
  )
  await app.owner.query(
    'insert into group_user (company_id, group_id, user_id) select company_id, $1, id from "user" where id = $2',
    [id, person.id]
  )
  await app.owner.query(
    'insert into group_category (company_id, group_id, category_id) select company_id, $1, id from category where id = $2',
    [id, person.category]
  )
  return id
}

async function ownOf(person: Pick<TestPerson, 'call'>) {
  return (await person.call(getOwnAccount, {})).usage?.own
}

/**
 * Returns each period of a group in which the group's usage is not the sum of the usage of its
 * people. Such a period would be an error.
 */
async function unevenUsage(app: TestApp): Promise<unknown[]> {
  const { rows } = await app.owner.query(
    `select group_id, kind, period_start, used::int, own::int from usage
     full join (
       select company_id, group_id, kind, period_start, sum(used) as own from user_usage group by 1, 2, 3, 4
     ) people using (company_id, group_id, kind, period_start)
     where coalesce(used, 0) <> coalesce(own, 0)`
  )
  return rows
}

async function ownSum(people: TestPerson[]) {
  const all = await Promise.all(people.map(ownOf))
  const sum = (of: 'requests_used' | 'storage_used') =>
    all.reduce((total, own) => total + (own?.[of] ?? Number.NaN), 0)
  return { requests_used: sum('requests_used'), storage_used: sum('storage_used') }
}

interface Figures {
  used: number
  reserved: number
}

const both = (requests: Figures, storage: Figures) => ({ requests, storage })

async function usageOf(app: TestApp): Promise<Record<string, Figures>> {
  const { rows } = await app.owner.query(
    'select kind, sum(used)::int as used, sum(reserved)::int as reserved from usage group by kind'
  )
  return Object.fromEntries(rows.map(({ kind, used, reserved }) => [kind, { used, reserved }]))
}

async function until(app: TestApp, statement: string): Promise<void> {
  for (let tries = 0; tries < 3000; tries++) {
    const { rows } = await app.owner.query(statement)
    if (rows.length > 0) return
    await new Promise(resolve => setTimeout(resolve, 10))
  }
  throw new Error(`no row: ${statement}`)
}
