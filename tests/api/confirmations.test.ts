import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { deleteUser } from '../../src/contract/accounts.ts'
import { updateDomain } from '../../src/contract/domains.ts'
import { endpoints } from '../../src/contract/index.ts'
import { getChallenge, logOut } from '../../src/contract/sessions.ts'
import { confirmPassword } from '../../src/contract/users.ts'
import type { ChallengePurpose } from '../../src/core/keys/challenge.ts'
import { makeApp, type TestApp, type TestPerson } from '../helpers/app.ts'
import { domainOf } from '../helpers/cases.ts'
import { makeKeys } from '../helpers/keys.ts'

// G-06

let app: TestApp
let domain: string
let ada: TestPerson
beforeAll(async () => {
  app = await makeApp()
  domain = await domainOf(app.owner, 'acme.localhost')
})
afterAll(() => app[Symbol.asyncDispose]())
beforeEach(async () => {
  ada = await signUp()
})

test('is what a call waits for that declares it, and lasts five minutes', async () => {
  expect(endpoints.updateDomain).toMatchObject({
    confirmation: true,
    errors: expect.arrayContaining(['confirmation_required'])
  })
  await expect(change(ada)).rejects.toMatchObject({ code: 'confirmation_required', status: 403 })
  await ada.call(confirmPassword, await answer(ada))
  await change(ada)
  app.wait(295)
  await change(ada)
  app.wait(65)
  await expect(change(ada)).rejects.toMatchObject({ code: 'confirmation_required' })
  await ada.call(confirmPassword, await answer(ada))
  await change(ada)
})

test('is asked for before anything is looked up, and nothing changes', async () => {
  const before = await domains()
  for (const id of [randomUUID(), domain]) {
    await expect(ada.call(updateDomain, { id, title: 'Changed' })).rejects.toMatchObject({
      code: 'confirmation_required'
    })
  }
  expect(await domains()).toEqual(before)
})

test('counts once for each challenge', async () => {
  const given = await answer(ada)
  await ada.call(confirmPassword, given)
  app.wait(360)
  const fresh = await answer(ada)
  await expect(ada.call(confirmPassword, given)).rejects.toMatchObject({
    code: 'challenge_invalid'
  })
  await ada.call(confirmPassword, fresh)
  await expect(ada.call(confirmPassword, fresh)).rejects.toMatchObject({
    code: 'challenge_invalid'
  })
  const parallel = await answer(ada)
  const results = await Promise.allSettled(
    Array.from({ length: 8 }, () => ada.call(confirmPassword, parallel))
  )
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
})

test('holds for the session of the call alone', async () => {
  const other = { token: await app.signIn(ada) }
  await ada.call(confirmPassword, await answer(ada), other)
  await expect(change(ada)).rejects.toMatchObject({ code: 'confirmation_required' })
  await ada.call(updateDomain, { id: domain, title: 'Other' }, other)
})

test('is nobody else’s', async () => {
  const eve = await signUp()
  const given = await answer(ada)
  await expect(eve.call(confirmPassword, given)).rejects.toMatchObject({
    code: 'challenge_invalid'
  })
  await expect(change(eve)).rejects.toMatchObject({ code: 'confirmation_required' })
  // what eve tried has not used it up
  await ada.call(confirmPassword, given)
  await expect(change(eve)).rejects.toMatchObject({ code: 'confirmation_required' })
})

test.each(['login', 'signup', 'rekey'] as const)(
  'takes no challenge of purpose %s, and is none for a change of the account',
  async purpose => {
    const given = await answer(ada, purpose)
    await expect(ada.call(confirmPassword, given)).rejects.toMatchObject({
      code: 'challenge_invalid'
    })
    await expect(ada.call(deleteUser, await answer(ada))).rejects.toMatchObject({
      code: 'challenge_invalid'
    })
    await expect(change(ada)).rejects.toMatchObject({ code: 'confirmation_required' })
  }
)

test('needs the present password, and few guesses', async () => {
  const guess = async () => ada.call(confirmPassword, await answer({ ...ada, keys: makeKeys() }))
  for (let tries = 0; tries < 10; tries++) {
    await expect(guess()).rejects.toMatchObject({ code: 'password_wrong' })
  }
  await expect(guess()).rejects.toMatchObject({ code: 'rate_limited' })
  await expect(ada.call(confirmPassword, await answer(ada))).rejects.toMatchObject({
    code: 'rate_limited'
  })
})

test('ends with the session', async () => {
  await ada.call(confirmPassword, await answer(ada))
  await ada.call(logOut, {})
  await expect(change(ada)).rejects.toMatchObject({ code: 'unauthenticated' })
  const again = { token: await app.signIn(ada) }
  await expect(ada.call(updateDomain, { id: domain, title: 'Again' }, again)).rejects.toMatchObject(
    { code: 'confirmation_required' }
  )
})

test('does not count while the clock is set back', async () => {
  await ada.call(confirmPassword, await answer(ada))
  app.wait(-120)
  await expect(change(ada)).rejects.toMatchObject({ code: 'confirmation_required' })
  app.wait(120)
})

async function signUp(): Promise<TestPerson> {
  const person = await app.signUp()
  await app.owner.query(`update "user" set permissions = '{admin}' where id = $1`, [person.id])
  return person
}

/** The answer of somebody to a challenge, as their browser gives it. */
async function answer(
  { host, email, keys }: TestPerson,
  purpose: ChallengePurpose = 'confirm'
): Promise<{ challenge_response: string }> {
  const { challenge } = await app.call(host, getChallenge, { email, purpose })
  return { challenge_response: keys.respond(challenge) }
}

async function change(person: TestPerson): Promise<void> {
  await person.call(updateDomain, { id: domain, title: 'Changed' })
}

async function domains(): Promise<object[]> {
  const { rows } = await app.owner.query('select * from domain where id = $1', [domain])
  return rows
}
