import { randomUUID } from 'node:crypto'
import { endpoints, nonJsonEndpoints } from '../src/contract/index.ts'
import { hasJsonBody, type NonJsonEndpoint } from '../src/contract/kit/endpoint.ts'
import { batchContentType } from '../tests/helpers/deposits/batches.ts'
import {
  examplePathOf,
  makeHeavyBodies,
  makeHeavyForms
} from '../tests/helpers/deposits/heavy-bodies.ts'
import { startService } from './processes.ts'
import { companyHost, openServiceInternals, type ServiceInternals } from './service-internals.ts'
import type { BenchOptions, ReportRow } from './table.ts'

/** The size of a body in bytes, just below the limit. */
const bytes = 255 * 1024
/** The longest time for which one call may block all others, in milliseconds. */
const targetMs = 50

/**
 * Measures the longest time for which one call blocks the event loop. Sends bodies that are as slow
 * to parse as possible to each endpoint that accepts a body. The API runs in this process. Each
 * call is repeated, and its shortest time counts, because the machine has other work too.
 */
export async function measure({ runs, quick, say, signal }: BenchOptions): Promise<ReportRow[]> {
  await using service = await startService()
  await using internals = await openServiceInternals(service)
  const token = await administrator(internals)
  const worst = { ms: 0, what: '' }
  for (const [name, endpoint] of Object.entries(endpoints)) {
    if (!hasJsonBody(endpoint)) continue
    const known = name === 'updateDomain' ? { id: await domainId(internals) } : {}
    if (endpoint.confirmation) await confirm(internals)
    const url = `http://api.${companyHost}${examplePathOf(endpoint, known)}`
    const bodies = makeHeavyBodies(endpoint, known, bytes)
    const call = (body: string) =>
      internals.fetch(
        new Request(url, {
          method: endpoint.method,
          headers: {
            'content-type': 'application/json',
            'idempotency-key': randomUUID(),
            authorization: `Bearer ${token}`
          },
          body
        })
      )
    for (const { what, text } of bodies.slice(0, quick ? 20 : undefined)) {
      signal.throwIfAborted()
      let least = Number.POSITIVE_INFINITY
      for (let run = 0; run < runs && least > worst.ms; run++) {
        least = Math.min(least, await longestBlockOf(() => call(text)))
      }
      if (least > worst.ms) Object.assign(worst, { ms: least, what: `${name}, ${what}` })
    }
    say(`${name}: ${bodies.length} bodies, worst so far ${worst.ms.toFixed(0)} ms`)
  }
  for (const [name, { form, method, path }] of Object.entries<NonJsonEndpoint>(nonJsonEndpoints)) {
    if (!form) continue
    const call = (body: Buffer<ArrayBuffer>) =>
      internals.fetch(
        new Request(`http://api.${companyHost}${path}`, {
          method,
          headers: { 'content-type': batchContentType, authorization: `Bearer ${token}` },
          body
        })
      )
    for (const { what, body } of makeHeavyForms(form, bytes)) {
      signal.throwIfAborted()
      let least = Number.POSITIVE_INFINITY
      for (let run = 0; run < runs && least > worst.ms; run++) {
        least = Math.min(least, await longestBlockOf(() => call(Buffer.from(body))))
      }
      if (least > worst.ms) Object.assign(worst, { ms: least, what: `${name}, ${what}` })
    }
    say(`${name}: worst so far ${worst.ms.toFixed(0)} ms`)
  }
  const note = `the worst is ${worst.what}`
  return [
    {
      what: 'one call holds the event loop',
      ours: worst.ms,
      unit: 'ms',
      target: { atMost: targetMs },
      note
    }
  ]
}

/**
 * Marks the administrator's password as confirmed for the next 290 seconds, which is longer than
 * all calls of one endpoint take.
 */
async function confirm({ owner }: ServiceInternals): Promise<void> {
  await owner.query(`update session set confirmed_until = now() + interval '290 seconds'`)
}

/**
 * Returns the longest time for which `call` blocked this thread, in milliseconds of processor time.
 * Elapsed time would include other work on the machine.
 */
async function longestBlockOf(call: () => Response | Promise<Response>): Promise<number> {
  let longest = 0
  let last = spentMs()
  let isOver = false
  const look = () => {
    const now = spentMs()
    longest = Math.max(longest, now - last)
    last = now
    if (!isOver) setImmediate(look)
  }
  setImmediate(look)
  const answer = await call()
  await answer.arrayBuffer()
  isOver = true
  look()
  return longest
}

function spentMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

async function administrator({ addPeople, owner }: ServiceInternals): Promise<string> {
  const [person] = await addPeople(1)
  if (!person) throw new Error('nobody was added')
  await owner.query(`update "user" set permissions = '{admin}' where id = $1`, [person.id])
  return person.token
}

async function domainId({ owner }: ServiceInternals): Promise<string> {
  const { rows } = await owner.query('select id from domain where host = $1', [companyHost])
  return rows[0].id
}
