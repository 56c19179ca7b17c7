import { join } from 'node:path'
import { expect, test } from 'vitest'
import { getOwnAccount } from '../../../src/contract/users.ts'
import { rotateTokenKey } from '../../../src/server/adapters/keys.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'

//

const people = 4

test('signs nobody out while the token key is changed under load', async () => {
  await using app = await makeApp()
  const directory = join(app.folder, 'keys')
  const stop = new AbortController()
  const load = makeLoad()
  const clients = await Promise.all(Array.from({ length: people }, () => app.signUp()))
  const running = clients.map(person => load.run(app, person, stop.signal))
  await load.more(40)
  const quiet = await app.signUp()
  for (let rotation = 0; rotation < 2; rotation++) {
    const token = await app.signIn(quiet)
    const { kid } = await rotateTokenKey({ directory, clock: app.deps.clock })
    await app.deps.keys.reload()
    expect(app.deps.keys.signingKey().kid).not.toBe(kid)
    await load.more(40)
    app.wait(10 * 60 + 1)
    expect(app.deps.keys.signingKey().kid).toBe(kid)
    // renewed by the new key, while tokens of the old one are still about
    await load.more(40)
    app.wait(25 * 60)
    await app.deps.keys.reload()
    // not used since before the change
    await expect(quiet.call(getOwnAccount, {}, { token })).resolves.toHaveProperty('id', quiet.id)
    await load.more(40)
    expect(load.kids).toContain(kid)
  }
  stop.abort()
  await Promise.all(running)
  expect(load.refused).toEqual([])
  expect(load.kids.size).toBe(3)
})

/**
 * Creates a load: each client calls `GET /user` repeatedly, uses the new tokens that it gets, and
 * sometimes signs in again.
 */
function makeLoad() {
  const kids = new Set<string>()
  const refused: string[] = []
  let calls = 0
  return {
    kids,
    refused,
    async run(app: TestApp, person: TestPerson, signal: AbortSignal): Promise<void> {
      let { token } = person
      for (let nr = 1; !signal.aborted; nr++) {
        kids.add(kidOf(token))
        await person.call(getOwnAccount, {}, { token }).then(
          user => {
            token = user.access_token ?? token
          },
          (error: unknown) => refused.push(String(error))
        )
        // the clock may be put forward between a challenge and its answer, which is then too late
        if (nr % 10 === 0) token = await app.signIn(person).catch(() => app.signIn(person))
        calls++
      }
    },
    /** Waits until all clients together have made `count` more calls. */
    async more(count: number): Promise<void> {
      for (const until = calls + count; calls < until; ) {
        await new Promise(resolve => setImmediate(resolve))
      }
    }
  }
}

function kidOf(token: string): string {
  return JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid
}
