import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import * as z from 'zod/mini'
import { deleteOwnAccount } from '../../../src/contract/accounts.ts'
import { endpoint } from '../../../src/contract/kit/endpoint.ts'
import { getChallenge, logOut } from '../../../src/contract/sessions.ts'
import { confirmPassword } from '../../../src/contract/users.ts'
import type { ChallengePurpose } from '../../../src/core/keys/challenge.ts'
import { mountEndpoint } from '../../../src/server/api/kit/mount.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { requestOf } from '../../helpers/cases.ts'
import { makeKeys } from '../../helpers/keys.ts'
import { errorWithCode } from '../../helpers/refusals.ts'

// G-06

/** A call that works only if the caller has entered the password again in the last minutes. */
const change = endpoint({
  method: 'PUT',
  path: '/tests/change',
  access: 'user',
  confirmation: true,
  input: z.strictObject({ to: z.number() }),
  output: z.void()
})

/** The values of `to` in the calls that succeeded, in order. */
let changes: number[] = []
let app: TestApp
let ada: TestPerson
beforeAll(async () => {
  app = await makeApp({
    mount: api => mountEndpoint(api, change, async ({ to }) => void changes.push(to))
  })
})
afterAll(() => app[Symbol.asyncDispose]())
beforeEach(async () => {
  changes = []
  ada = await app.signUp()
})

test('is what a call waits for that declares it, and lasts five minutes', async () => {
  expect(change.errors).toEqual(['confirmation_required'])
  await expect(ada.call(change, { to: 1 })).rejects.toMatchObject({
    code: 'confirmation_required',
    status: 403
  })
  await ada.call(confirmPassword, await answer(ada))
  await ada.call(change, { to: 1 })
  app.wait(295)
  await ada.call(change, { to: 1 })
  expect(changes).toEqual([1, 1])
  app.wait(65)
  await expect(ada.call(change, { to: 1 })).rejects.toEqual(errorWithCode('confirmation_required'))
  await ada.call(confirmPassword, await answer(ada))
  await ada.call(change, { to: 1 })
})

test('is asked for before the input is read, and nothing changes', async () => {
  for (const input of [{ to: 1 }, { to: 'nonsense' }, {}]) {
    const headers = { authorization: `Bearer ${ada.token}` }
    const refused = await app.request(`api.${ada.host}`, requestOf(change, input, headers))
    expect(JSON.parse(refused.body.toString())).toMatchObject({
      status: 403,
      code: 'confirmation_required'
    })
  }
  expect(changes).toEqual([])
})

test('counts once for each challenge', async () => {
  const given = await answer(ada)
  await ada.call(confirmPassword, given)
  app.wait(360)
  const fresh = await answer(ada)
  await expect(ada.call(confirmPassword, given)).rejects.toEqual(errorWithCode('challenge_invalid'))
  await ada.call(confirmPassword, fresh)
  await expect(ada.call(confirmPassword, fresh)).rejects.toEqual(errorWithCode('challenge_invalid'))
  const parallel = await answer(ada)
  const results = await Promise.allSettled(
    Array.from({ length: 8 }, () => ada.call(confirmPassword, parallel))
  )
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
})

test('holds for the session of the call alone', async () => {
  const other = { token: await app.signIn(ada) }
  await ada.call(confirmPassword, await answer(ada), other)
  await expect(ada.call(change, { to: 1 })).rejects.toEqual(errorWithCode('confirmation_required'))
  await ada.call(change, { to: 2 }, other)
  expect(changes).toEqual([2])
})

test('is nobody else’s', async () => {
  const eve = await app.signUp()
  const given = await answer(ada)
  await expect(eve.call(confirmPassword, given)).rejects.toEqual(errorWithCode('challenge_invalid'))
  await expect(eve.call(change, { to: 1 })).rejects.toEqual(errorWithCode('confirmation_required'))
  // what eve tried has not used it up
  await ada.call(confirmPassword, given)
  await expect(eve.call(change, { to: 1 })).rejects.toEqual(errorWithCode('confirmation_required'))
})

test.each(['login', 'signup', 'rekey'] as const)(
  'takes no challenge of purpose %s, and is none for a change of the account',
  async purpose => {
    const given = await answer(ada, purpose)
    await expect(ada.call(confirmPassword, given)).rejects.toEqual(
      errorWithCode('challenge_invalid')
    )
    await expect(ada.call(deleteOwnAccount, await answer(ada))).rejects.toEqual(
      errorWithCode('challenge_invalid')
    )
    await expect(ada.call(change, { to: 1 })).rejects.toEqual(
      errorWithCode('confirmation_required')
    )
  }
)

test('needs the present password, and few guesses', async () => {
  const guess = async () => ada.call(confirmPassword, await answer({ ...ada, keys: makeKeys() }))
  for (let tries = 0; tries < 10; tries++) {
    await expect(guess()).rejects.toEqual(errorWithCode('password_wrong'))
  }
  await expect(guess()).rejects.toEqual(errorWithCode('rate_limited'))
  await expect(ada.call(confirmPassword, await answer(ada))).rejects.toEqual(
    errorWithCode('rate_limited')
  )
})

test('ends with the session', async () => {
  await ada.call(confirmPassword, await answer(ada))
  await ada.call(logOut, {})
  await expect(ada.call(change, { to: 1 })).rejects.toEqual(errorWithCode('unauthenticated'))
  const again = { token: await app.signIn(ada) }
  await expect(ada.call(change, { to: 3 }, again)).rejects.toEqual(
    errorWithCode('confirmation_required')
  )
})

test('does not count while the clock is set back', async () => {
  await ada.call(confirmPassword, await answer(ada))
  app.wait(-120)
  await expect(ada.call(change, { to: 1 })).rejects.toEqual(errorWithCode('confirmation_required'))
  app.wait(120)
})

/** Requests a challenge for a person and returns it signed, as the person's browser does. */
async function answer(
  { host, email, keys }: TestPerson,
  purpose: ChallengePurpose = 'confirm'
): Promise<{ challenge_response: string }> {
  const { challenge } = await app.call(host, getChallenge, { email, purpose })
  return { challenge_response: keys.respond(challenge) }
}
