import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  addGroupCategory,
  addGroupUser,
  createGroup,
  getGroup,
  listGroups,
  removeGroupUser,
  updateGroup
} from '../../../src/contract/groups.ts'
import { AppError } from '../../../src/contract/kit/errors.ts'
import { getUsageByDay } from '../../../src/contract/overview.ts'
import { getOwnAccount } from '../../../src/contract/users.ts'
import { verify } from '../../../src/contract/verifications.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { batchForm, batchItem, postBatch } from '../../helpers/deposits/batches.ts'
import { makeAdmins } from '../../helpers/matrix.ts'
import { createRandom, type Random } from '../../helpers/random.ts'
import { retryWhileBusy } from '../../helpers/retry-while-busy.ts'
import { runCount, seed, testTimeout } from '../../helpers/soak.ts'

// What people, administrators and the database are told of the use of limits, whatever happened.

/**
 * Starts the API with a company of two administrators. Both are members of the default group and of
 * a second one. `second` has the settings of the second group.
 */
async function makeCompany(limits: object, second: object) {
  const app = await makeApp({ limits })
  const people = [await app.signUp(), await app.signUp()] as const
  const [ada] = people
  const company = ada.company
  await makeAdmins(app.owner)
  const [everyone] = await ada.call(listGroups, { id: company })
  const other = await ada.call(createGroup, {
    name: 'Second',
    features: ['deposit'],
    ...second
  })
  await ada.call(addGroupCategory, { groupId: other.id, category_id: ada.category })
  for (const { id } of people) await ada.call(addGroupUser, { groupId: other.id, user_id: id })
  return { app, people, company, groups: [everyone?.id ?? '', other.id] as const }
}

/** What an act has added to the used requests and bytes, or `refused` if a limit was reached. */
type Outcome = { requests: number; bytes: number } | 'refused'

describe('one act', () => {
  const acts = {
    /** Begins an upload and sends no bytes. */
    async reserve(app: TestApp, person: TestPerson, random: Random): Promise<Outcome> {
      const bytes = random.bytes(random.integer(1, 400))
      return counted(async () => {
        await app.reserve(person, bytes)
        return { requests: 1, bytes: bytes.length }
      })
    },
    async upload(app: TestApp, person: TestPerson, random: Random): Promise<Outcome> {
      const bytes = random.bytes(random.integer(1, 400))
      return counted(async () => {
        const { upload } = await app.reserve(person, bytes)
        const answer = await retryRaw(() => app.patch(person, upload, bytes))
        expect(answer.status).toBe(204)
        return { requests: 1, bytes: bytes.length }
      })
    },
    async cancel(app: TestApp, person: TestPerson, random: Random): Promise<Outcome> {
      const bytes = random.bytes(random.integer(1, 400))
      return counted(async () => {
        const { upload } = await app.reserve(person, bytes)
        expect((await app.tus(person, 'DELETE', upload)).status).toBe(204)
        return { requests: 0, bytes: 0 }
      })
    },
    /** Uploads other bytes than those that were announced, so the deposit fails. */
    async fail(app: TestApp, person: TestPerson, random: Random): Promise<Outcome> {
      const length = random.integer(8, 400)
      return counted(async () => {
        const { request, upload } = await app.reserve(person, random.bytes(length))
        await app.patch(person, upload, random.bytes(length))
        await app.until(person, request.id, ['failed'])
        return { requests: 0, bytes: 0 }
      })
    },
    async put(app: TestApp, person: TestPerson, random: Random): Promise<Outcome> {
      const bytes = random.bytes(random.integer(1, 400))
      const answer = await retryRaw(() => app.put(person, bytes))
      if (answer.status < 300) return { requests: 1, bytes: bytes.length }
      expect(refusals).toContain(codeOf(answer.body))
      return 'refused'
    },
    async batch(app: TestApp, person: TestPerson, random: Random): Promise<Outcome> {
      const count = random.integer(1, 4)
      const files = Array.from({ length: count }, () => random.bytes(random.integer(8, 400)))
      const items = files.map(bytes => batchItem(bytes, { category: person.category, again: true }))
      const { body } = await retryRaw(() => postBatch(app, person, batchForm(items, files)))
      const sum = { requests: 0, bytes: 0 }
      for (const [at, result] of body.results.entries()) {
        if (result.request) {
          sum.requests += 1
          sum.bytes += files[at]?.length ?? 0
        } else expect(refusals).toContain(result.problem.code)
      }
      return sum
    },
    async verify(_app: TestApp, person: TestPerson, random: Random): Promise<Outcome> {
      const count = random.integer(1, 3)
      const items = Array.from({ length: count }, () => ({
        sha256: random.bytes(32).toString('hex')
      }))
      return counted(async () => {
        await person.call(verify, { items })
        return { requests: count, bytes: 0 }
      })
    }
  }
  const names = Object.keys(acts) as (keyof typeof acts)[]

  test(
    `of each kind counts the same everywhere, after any history (SEED=${seed})`,
    async () => {
      const random = createRandom(seed)
      const { app, people, company, groups } = await makeCompany(
        { max_requests: 30, max_requests_interval: 'P1D', max_storage: 6000 },
        { max_requests: 20, max_requests_interval: 'P30D', max_storage: 4000 }
      )
      await using _app = app
      const [ada] = people
      const total = { requests: 0, bytes: 0, failed: 0 }
      for (let step = 0; step < runCount(30, 1000); step++) {
        if (random.chance(0.1)) {
          // a limit of an administrator counts for the next call
          const max_requests = random.pick([null, 0, random.integer(1, 80)])
          const max_storage = random.pick([null, random.integer(0, 12_000)])
          await ada.call(updateGroup, { id: random.pick(groups), max_requests, max_storage })
        }
        const name = random.pick(names)
        const outcome = await acts[name](app, random.pick(people), random)
        if (outcome === 'refused') continue
        total.requests += outcome.requests
        total.bytes += outcome.bytes
        if (name === 'fail') total.failed += 1
        if (step % 10 === 0) await expectSame()
      }
      await expectSame()
      for (const id of groups) await ada.call(updateGroup, { id, max_requests: 0 })
      for (const name of names) {
        expect([name, await acts[name](app, ada, random)]).toEqual([
          name,
          name === 'batch' ? { requests: 0, bytes: 0 } : 'refused'
        ])
      }
      await expectSame()

      async function expectSame(): Promise<void> {
        await untilSettled(app)
        const shown = await Promise.all(groups.map(id => ada.call(getGroup, { id })))
        const sum = (of: (group: (typeof shown)[number]) => number) =>
          shown.reduce((all, group) => all + of(group), 0)
        // the page of each group
        expect(sum(group => group.usage.requests_used)).toBe(total.requests)
        expect(sum(group => group.usage.storage_used)).toBe(total.bytes)
        for (const { usage, max_requests, max_storage } of shown) {
          const left = (limit: number | null, used: number) =>
            limit === null ? null : Math.max(0, limit - used)
          expect(usage.requests_remaining).toBe(left(max_requests, usage.requests_used))
          expect(usage.storage_remaining).toBe(left(max_storage, usage.storage_used))
        }
        // the drawer and the account page of each person
        const users = await Promise.all(people.map(person => person.call(getOwnAccount, {})))
        const allLeft = (of: (usage: (typeof shown)[number]['usage']) => number | null) =>
          shown.reduce<number | null>((all, { usage }) => {
            const more = of(usage)
            return all === null || more === null ? null : all + more
          }, 0)
        for (const { usage, usage_remaining } of users) {
          expect(usage).toMatchObject({
            requests_used: total.requests,
            storage_used: total.bytes,
            requests_remaining: allLeft(each => each.requests_remaining),
            storage_remaining: allLeft(each => each.storage_remaining)
          })
          expect(usage_remaining).toEqual({
            requests: usage?.requests_remaining,
            storage: usage?.storage_remaining
          })
        }
        const own = (of: 'requests_used' | 'storage_used') =>
          users.reduce((all, { usage }) => all + (usage?.own?.[of] ?? Number.NaN), 0)
        expect([own('requests_used'), own('storage_used')]).toEqual([total.requests, total.bytes])
        // the database, and the figures by day, which have nothing that is still open
        const { rows } = await app.owner.query(
          `select sum(used + reserved) filter (where kind = 'requests')::int as requests,
             sum(used + reserved) filter (where kind = 'storage')::int as bytes,
             sum(reserved) filter (where kind = 'requests')::int as open,
             sum(reserved) filter (where kind = 'storage')::int as room
           from usage`
        )
        const [stored] = rows
        expect(stored ?? { requests: 0, bytes: 0 }).toMatchObject({
          requests: total.requests,
          bytes: total.bytes
        })
        for (const group of [undefined, ...groups]) {
          const days = await ada.call(getUsageByDay, { id: company, group })
          const today = days.at(-1)
          if (group === undefined) {
            expect(today).toMatchObject({
              bytes: total.bytes - stored.room,
              failed: total.failed
            })
            expect((today?.deposits ?? 0) + (today?.verifications ?? 0)).toBe(
              total.requests - stored.open
            )
          }
        }
      }
    },
    testTimeout(240_000)
  )

  test('never takes more than is left, with many calls of all kinds at once', async () => {
    const { app, people, groups } = await makeCompany({ max_requests: 28 }, { max_requests: 12 })
    await using _app = app
    const [ada] = people
    const kinds = ['reserve', 'upload', 'put', 'batch', 'verify'] as const
    const random = createRandom(seed)
    const outcomes = await Promise.all(
      Array.from({ length: runCount(48, 200) }, (_, n) => {
        const act = acts[kinds[n % kinds.length] ?? 'reserve']
        return act(app, people[n % 2] ?? ada, random.fork())
      })
    )
    await untilSettled(app)
    const taken = outcomes.reduce((sum, each) => sum + (each === 'refused' ? 0 : each.requests), 0)
    const shown = await Promise.all(groups.map(id => ada.call(getGroup, { id })))
    expect(shown.map(({ usage }) => usage.requests_remaining)).toEqual([0, 0])
    expect(shown.map(({ usage }) => usage.requests_used)).toEqual([28, 12])
    expect(taken).toBe(40)
  }, 300_000)
})

describe('a group', () => {
  let made: Awaited<ReturnType<typeof makeCompany>>
  beforeAll(async () => {
    made = await makeCompany({ max_requests: 5 }, { max_requests: 3 })
  })
  afterAll(() => made.app[Symbol.asyncDispose]())

  test('that allows the category is charged for a deposit, and any group for a verification', async () => {
    const { people, groups } = made
    const [ada] = people
    const third = await ada.call(createGroup, { name: 'Third', max_requests: 100 })
    await ada.call(addGroupUser, { groupId: third.id, user_id: ada.id })
    const used = async () =>
      Promise.all(
        [...groups, third.id].map(
          async id => (await ada.call(getGroup, { id })).usage.requests_used
        )
      )
    await made.app.reserve(ada, Buffer.from('a'))
    expect(await used()).toEqual([1, 0, 0])
    await ada.call(verify, { items: [{ sha256: '1'.repeat(64) }] })
    // the one with most requests left, although it allows no category
    expect(await used()).toEqual([1, 0, 1])
  })

  test('may use what a raised limit adds, and nothing beyond a lowered one, from the next call on', async () => {
    const { people, groups, app } = made
    const [, bob] = people
    const [first, second] = groups
    await bob.call(updateGroup, { id: second, max_requests: 0 })
    await bob.call(updateGroup, { id: first, max_requests: 1 })
    await expect(app.reserve(bob, Buffer.from('b'))).rejects.toMatchObject({
      code: 'request_limit_reached',
      figures: { used: 1, limit: 1, resets_at: null },
      retryAfter: undefined
    })
    await bob.call(updateGroup, { id: first, max_requests: 2 })
    await app.reserve(bob, Buffer.from('b'))
    await expect(app.reserve(bob, Buffer.from('b'))).rejects.toMatchObject({
      figures: { used: 2, limit: 2 }
    })
    await bob.call(updateGroup, { id: first, max_requests: null })
    await app.reserve(bob, Buffer.from('b'))
  })
})

// unit/core/limit-period.test.ts has the other windows
test('a window of thirty days ends to the millisecond', async () => {
  const limits = { max_requests: 2, max_requests_interval: 'P30D' } as const
  await using app = await makeApp({ limits })
  const boundary = Date.parse('2027-03-02T00:00:00Z')
  const next = '2027-04-01T00:00:00.000Z'
  let now = boundary - 1
  app.deps.clock = () => new Date(now)
  const ada = await app.signUp()
  await app.owner.query('update "group" set created_at = $1', ['2027-01-31T10:00:00Z'])
  const check = (count: number) =>
    ada.call(verify, {
      items: Array.from({ length: count }, (_, n) => ({ sha256: `${n}`.repeat(64) }))
    })
  await check(2)
  await expect(check(1)).rejects.toMatchObject({
    code: 'request_limit_reached',
    figures: { used: 2, limit: 2, resets_at: new Date(boundary).toISOString() },
    retryAfter: 1
  })
  for (now of [boundary, boundary + 1]) {
    expect((await ada.call(getOwnAccount, {})).usage).toMatchObject({ resets_at: next })
    await check(1)
  }
  await expect(check(1)).rejects.toMatchObject({
    figures: { used: 2, limit: 2, resets_at: next },
    retryAfter: Math.ceil((Date.parse(next) - now) / 1000)
  })
})

test('a group that is deleted during a call is not charged: another one is, or the call is refused', async () => {
  const { app, people, company, groups } = await makeCompany({ max_requests: 50 }, {})
  await using _app = app
  const [ada, bob] = people
  const used = () =>
    Promise.all(groups.map(async id => (await bob.call(getGroup, { id })).usage.requests_used))
  const leave = (groupId: string) => bob.call(removeGroupUser, { groupId, userId: ada.id })
  await leave(groups[1])

  /**
   * Creates a group of Ada that has the most requests left. Deletes it in a transaction that
   * commits only while `act` waits for the group's rows. Returns the result of `act`.
   */
  async function whileDeleting<T>(act: () => Promise<T>): Promise<T> {
    const name = randomUUID()
    const { id } = await bob.call(createGroup, { name, features: ['deposit'], max_requests: 900 })
    await bob.call(addGroupUser, { groupId: id, user_id: ada.id })
    await bob.call(addGroupCategory, { groupId: id, category_id: ada.category })
    const client = await app.owner.connect()
    try {
      await client.query('begin')
      for (const table of ['group_user', 'group_category']) {
        await client.query(`delete from ${table} where group_id = $1`, [id])
      }
      await client.query('delete from "group" where company_id = $1 and id = $2', [company, id])
      const called = Promise.allSettled([act()])
      await expect.poll(() => countLockWaits(app)).toBe(1)
      await client.query('commit')
      const [outcome] = await called
      if (outcome.status === 'rejected') throw outcome.reason
      return outcome.value
    } finally {
      client.release(true)
    }
  }

  await whileDeleting(() => app.reserve(ada, Buffer.from('a')))
  expect(await used()).toEqual([1, 0])
  await leave(groups[0])
  const reserving = whileDeleting(() => app.reserve(ada, Buffer.from('b')))
  await expect(reserving).rejects.toMatchObject({ code: 'unavailable', retryAfter: 1 })
  const bytes = Buffer.from('c')
  const form = batchForm([batchItem(bytes, { category: ada.category })], [bytes])
  const batch = await whileDeleting(() => postBatch(app, ada, form))
  expect(batch).toMatchObject({ status: 503, body: { code: 'unavailable' } })
  expect(await used()).toEqual([1, 0])
  expect(app.logged.filter(({ level }) => level === 'error')).toEqual([])
})

async function countLockWaits(app: TestApp): Promise<number> {
  const { rows } = await app.owner.query(
    `select count(*)::int as waits from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`
  )
  return rows[0].waits
}

const refusals = ['request_limit_reached', 'storage_limit_reached']

/**
 * Runs an act, and repeats it while the server is busy. Returns `refused` if a limit is reached.
 */
async function counted(act: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await retryWhileBusy(act)
  } catch (error) {
    if (error instanceof AppError && refusals.includes(error.code)) return 'refused'
    throw error
  }
}

/**
 * Sends a request, and repeats it while the server is busy or the caller has too many requests at
 * the same time.
 */
async function retryRaw<Answer extends { status: number; body: unknown }>(
  send: () => Promise<Answer>
): Promise<Answer> {
  for (;;) {
    const answer = await send()
    const isBusy = answer.status === 503 || codeOf(answer.body) === 'rate_limited'
    if (!isBusy) return answer
    await new Promise(resolve => setTimeout(resolve, 200))
  }
}

function codeOf(body: unknown): string | undefined {
  return Object(Buffer.isBuffer(body) && body.length > 0 ? JSON.parse(body.toString()) : body).code
}

/** Waits until every upload whose bytes have arrived has become a deposit. */
async function untilSettled(app: TestApp): Promise<void> {
  for (let tries = 0; tries < 3000; tries++) {
    const { rows } = await app.owner.query("select 1 from upload where state = 'received' limit 1")
    if (rows.length === 0) return
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  throw new Error('uploads are left')
}
