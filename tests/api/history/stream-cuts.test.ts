import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { openStream } from '../../helpers/event-stream.ts'
import { createRandom } from '../../helpers/random.ts'
import { startFaultProxy } from '../../helpers/servers/fault-proxy.ts'
import { runCount, seed, testTimeout } from '../../helpers/soak.ts'

// C-07

const cuts = runCount(12, 10_000)

test(
  `tells each event once and in order, however often the stream is cut (SEED=${seed})`,
  async () => {
    const random = createRandom(seed)
    await using app = await makeApp()
    await using proxy = await startFaultProxy(await app.listen())
    const [ada, bob] = [await app.signUp(), await app.signUp()]
    const stranger = await app.signUp('beta.localhost')
    let last = await begin(proxy.port, ada)
    const first = last
    const heard: number[] = []
    let refused = 0
    const busy = new AbortController()
    // the other people's events lie between hers
    const writers = [ada, ada, bob, stranger].map(person => act(app, person, busy.signal))

    /**
     * Receives events until the connection ends or the event with the number `until` has arrived.
     */
    const hear = async (until = Number.POSITIVE_INFINITY) => {
      const stream = await openStream(proxy.port, ada, last).catch(() => undefined)
      if (stream?.status === 429) refused++
      while (stream && last < until) {
        const event = await stream.next()
        if (!event) break
        if (event.id !== undefined) last = Number(event.id)
        if (event.event === undefined) heard.push(JSON.parse(event.data).seq)
      }
      stream?.close()
    }
    while (proxy.cuts() < cuts) {
      proxy.forget()
      const at = random.pick([random.integer(0, 1200), random.integer(900, 5000)])
      proxy.cutNext({ side: 'response', at, how: random.pick(['reset', 'close'] as const) })
      await hear()
    }
    busy.abort()
    await Promise.all(writers)
    proxy.forget()
    const { rows } = await app.owner.query<{ seq: string }>(
      'select seq from event where user_id = $1 and seq > $2 order by seq',
      [ada.id, first]
    )
    const made = rows.map(row => Number(row.seq))
    while (last < (made.at(-1) ?? 0)) await hear(made.at(-1))
    expect(heard).toEqual(made)
    expect(made.length).toBeGreaterThan(cuts / 2)
    // a seat is given back as soon as its connection is gone
    expect(refused).toBeLessThan(cuts / 2)
  },
  testTimeout(120_000)
)

/**
 * Returns the sequence number of the last change of the person's history, which the first event of
 * a stream contains.
 */
async function begin(port: number, person: TestPerson): Promise<number> {
  const stream = await openStream(port, person)
  const tick = await stream.next()
  stream.close()
  return Number(tick?.id)
}

async function act(app: TestApp, person: TestPerson, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const { upload } = await app.reserve(person, randomBytes(10))
    await app.request(`api.${person.host}`, {
      method: 'DELETE',
      path: upload,
      headers: { authorization: `Bearer ${person.token}`, 'tus-resumable': '1.0.0' }
    })
  }
}
