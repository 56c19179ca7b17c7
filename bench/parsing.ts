import { randomUUID } from 'node:crypto'
import { endpoints, streams } from '../src/contract/index.ts'
import { hasJsonBody, type Stream } from '../src/contract/kit/endpoint.ts'
import { formType } from '../tests/helpers/batches.ts'
import { heavyBodies, heavyForms, pathOf } from '../tests/helpers/heavy-bodies.ts'
import { host, type Insider, openInsider } from './insider.ts'
import { startService } from './processes.ts'
import type { Options, Row } from './table.ts'

/** The size of a body in bytes, just below the limit. */
const bytes = 255 * 1024
/** The longest time that one call may block all others, in milliseconds. */
const aimMs = 50

/**
 * Measures the longest time for which one call blocks the event loop. Sends the heaviest bodies
 * that reach the parser to every endpoint that takes a body. The app runs in this process. Of
 * several runs the shortest time counts, because the machine has other work too.
 */
export async function measure({ runs, quick, say, signal }: Options): Promise<Row[]> {
  await using service = await startService()
  await using insider = await openInsider(service)
  const token = await administrator(insider)
  const worst = { ms: 0, what: '' }
  for (const [name, endpoint] of Object.entries(endpoints)) {
    if (!hasJsonBody(endpoint)) continue
    const known = name === 'updateDomain' ? { id: await domainId(insider) } : {}
    if (endpoint.confirmation) await confirm(insider)
    const url = `http://api.${host}${pathOf(endpoint, known)}`
    const bodies = heavyBodies(endpoint, known, bytes)
    const call = (body: string) =>
      insider.fetch(
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
  for (const [name, { form, method, path }] of Object.entries<Stream>(streams)) {
    if (!form) continue
    const call = (body: Buffer<ArrayBuffer>) =>
      insider.fetch(
        new Request(`http://api.${host}${path}`, {
          method,
          headers: { 'content-type': formType, authorization: `Bearer ${token}` },
          body
        })
      )
    for (const { what, body } of heavyForms(form, bytes)) {
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
      aim: { atMost: aimMs },
      note
    }
  ]
}

/** Confirms the administrator's password for longer than the bodies of one endpoint take. */
async function confirm({ owner }: Insider): Promise<void> {
  await owner.query(`update session set confirmed_until = now() + interval '290 seconds'`)
}

/**
 * Returns the longest time for which `call` blocked this thread, in milliseconds of processor time.
 * Elapsed time would include other work of the machine.
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

async function administrator({ addPeople, owner }: Insider): Promise<string> {
  const [person] = await addPeople(1)
  if (!person) throw new Error('nobody was added')
  await owner.query(`update "user" set permissions = '{admin}' where id = $1`, [person.id])
  return person.token
}

async function domainId({ owner }: Insider): Promise<string> {
  const { rows } = await owner.query('select id from domain where host = $1', [host])
  return rows[0].id
}
