import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { endpoints, nonJsonEndpoints } from '../../../src/contract/index.ts'
import { hasJsonBody, type NonJsonEndpoint } from '../../../src/contract/kit/endpoint.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { confirmSessions, domainIdOf, makeImportedRegister } from '../../helpers/cases.ts'
import { batchContentType } from '../../helpers/deposits/batches.ts'
import {
  examplePathOf,
  fieldSchemasOf,
  type HeavyBody,
  makeHeavyBodies,
  makeHeavyForms
} from '../../helpers/deposits/heavy-bodies.ts'
import { makeOperators } from '../../helpers/matrix.ts'
import { diplomaColumns } from '../../helpers/registers.ts'
import { isSoak, testTimeout } from '../../helpers/soak.ts'

let app: TestApp
let ada: TestPerson
let known: Record<string, Record<string, unknown>>
beforeAll(async () => {
  app = await makeApp()
  ada = await app.signUp()
  await makeOperators(app.owner)
  known = {
    updateDomain: { id: await domainIdOf(app.owner, 'acme.localhost') },
    createDeposit: { category: ada.category },
    createRegisterImport: {
      id: await makeImportedRegister(app.owner, ada.company),
      columns: diplomaColumns
    }
  }
})
afterAll(() => app[Symbol.asyncDispose]())

/**
 * Size of the smaller body in bytes. The larger body has twice as many, and both are below the
 * limit of 256 kB. A normal run sees what would take 32 ms at that limit.
 */
const bytes = isSoak ? 120_000 : 60_000
/**
 * A call that takes fewer milliseconds is not compared: other work on the machine changes such
 * times too much.
 */
const floorMs = 8

const taking = Object.entries(endpoints).filter(([, endpoint]) => hasJsonBody(endpoint))

/** The first call with each field. A normal run makes the field heavy only there, a soak in all. */
const firstCalls = new Map<string, string>()
for (const [name, endpoint] of taking) {
  for (const field of Object.values(fieldSchemasOf(endpoint))) {
    if (!firstCalls.has(field)) firstCalls.set(field, name)
  }
}

test.each(taking)(
  '%s: twice the body takes at most three times the time',
  async (name, endpoint) => {
    if (endpoint.confirmation) await confirmSessions(app)
    const path = examplePathOf(endpoint, known[name])
    const fields = fieldSchemasOf(endpoint)
    const isFilled = (field: string) => isSoak || firstCalls.get(fields[field] ?? '') === name
    const bodiesOf = (size: number) => makeHeavyBodies(endpoint, known[name] ?? {}, size, isFilled)
    // made only where a larger one takes long enough to be compared
    let small: HeavyBody[] | undefined
    for (const [at, { what, text }] of bodiesOf(2 * bytes).entries()) {
      let [once, twice] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
      // The least of several times counts, because other work on the machine can only add to them.
      for (let tries = 1; tries <= 5; tries++) {
        twice = Math.min(twice, await timeOf(what, text))
        if (twice <= floorMs) break
        small ??= bodiesOf(bytes)
        once = Math.min(once, await timeOf(what, small[at]?.text ?? ''))
        // clearly less than asserted, so that one slow pair of times does not end the tries
        if (tries > 1 && ratioOf(once, twice) < 2.5) break
      }
      if (twice <= floorMs) continue
      const times = `${once.toFixed(0)} ms, then ${twice.toFixed(0)} ms`
      expect(ratioOf(once, twice), `${what}: ${times}`).toBeLessThan(3)
    }

    /** Returns the processor time of one call in milliseconds. */
    async function timeOf(what: string, text: string): Promise<number> {
      const before = process.threadCpuUsage()
      await post(what, text)
      const { user, system } = process.threadCpuUsage(before)
      return (user + system) / 1000
    }

    function ratioOf(once: number, twice: number): number {
      return twice / Math.max(floorMs, once)
    }

    async function post(what: string, text: string): Promise<void> {
      const answer = await app.fetch(
        new Request(`http://api.acme.localhost${path}`, {
          method: endpoint.method,
          headers: {
            'content-type': 'application/json',
            'idempotency-key': randomUUID(),
            authorization: `Bearer ${ada.token}`
          },
          body: text
        })
      )
      const said = await answer.text()
      expect(answer.status, said).not.toBe(500)
      if (!answer.ok) expect(said.length, what).toBeLessThan(8192)
    }
  },
  testTimeout(120_000)
)

const forms = Object.entries<NonJsonEndpoint>(nonJsonEndpoints).flatMap(([name, { form, path }]) =>
  form ? [{ name, form, path }] : []
)

test.each(forms)(
  '$name: a form holds the event loop for 50 ms at most',
  async ({ form, path }) => {
    for (const { what, body } of makeHeavyForms(form, 2 * bytes)) {
      let least = Number.POSITIVE_INFINITY
      for (let tries = 0; tries < 5 && least > 50; tries++) {
        least = Math.min(least, await longestBlock(() => postForm(path, body)))
      }
      expect(least, what).toBeLessThan(50)
    }
  },
  testTimeout(120_000)
)

async function postForm(path: string, body: Uint8Array): Promise<void> {
  const answer = await app.fetch(
    new Request(`http://api.acme.localhost${path}`, {
      method: 'POST',
      headers: { 'content-type': batchContentType, authorization: `Bearer ${ada.token}` },
      body: Buffer.from(body)
    })
  )
  expect(answer.status, await answer.text()).toBeLessThan(500)
}

/**
 * Returns the longest time for which `run` blocked the event loop, in milliseconds of processor
 * time.
 */
async function longestBlock(run: () => Promise<void>): Promise<number> {
  let longest = 0
  let last = process.threadCpuUsage()
  let isOver = false
  const look = () => {
    const { user, system } = process.threadCpuUsage(last)
    longest = Math.max(longest, (user + system) / 1000)
    last = process.threadCpuUsage()
    if (!isOver) setImmediate(look)
  }
  setImmediate(look)
  await run()
  isOver = true
  look()
  return longest
}
