import { Connection, requestText } from './connection.ts'
import { runAlternately, runLoad } from './load.ts'
import { startService } from './processes.ts'
import { openServiceInternals } from './service-internals.ts'
import type { BenchOptions, ReportRow } from './table.ts'

const callers = 8
const hostCount = 10_000

/**
 * Measures `/tls-ask` with 10,000 hosts. A proxy calls it to ask whether it may get a certificate
 * for a host. The service answers from a list in memory, which it reads again every second. The
 * peer is `/healthz` of the same process and port, so the difference is the cost of the look-up and
 * of reading the list.
 */
export async function measure(options: BenchOptions): Promise<ReportRow[]> {
  await using service = await startService()
  await using internals = await openServiceInternals(service)
  await internals.owner.query(
    `insert into domain (company_id, id, host, name, title, public, locale, theme, verified_at)
     select company_id, gen_random_uuid(), 'h' || n || '.example.com', name, title, false, locale,
            theme, now()
       from domain, generate_series(1, $2::int) n
      where company_id = $1 and host = 'localhost'`,
    [internals.company_id, hostCount]
  )
  const connections = await Promise.all(
    Array.from({ length: callers }, () => Connection.open(service.managementPort))
  )
  const headers = { host: 'localhost' }
  const asks = Array.from({ length: hostCount }, (_, n) =>
    requestText('GET', `/tls-ask?domain=h${n + 1}.example.com`, headers)
  )
  const last = asks.at(-1) ?? ''
  // the list in memory is read again by the first questions after a second
  while ((await connections[0]?.request(last))?.status !== 200) options.signal.throwIfAborted()

  let next = 0
  const health = requestText('GET', '/healthz', headers)
  const run = (requestOf: () => string) => async () => {
    const work = async (caller: number) => {
      const answer = await connections[caller]?.request(requestOf())
      if (answer?.status !== 200) throw new Error(`answered ${answer?.status}`)
    }
    const seconds = options.quick ? 1 : 5
    const { p99Ms, perSecond } = await runLoad({ callers, seconds, signal: options.signal, work })
    return { p99Ms, perSecond }
  }
  const figures = await runAlternately(
    options,
    run(() => asks[next++ % asks.length] ?? ''),
    run(() => health)
  )
  for (const connection of connections) connection.close()
  const perSecond = (value: number) => Math.round(value).toLocaleString('en')
  return [
    {
      what: 'certificate question, slowest hundredth',
      ours: figures.ours.p99Ms,
      peer: figures.peer.p99Ms,
      unit: 'ms',
      target: { ratioAtMost: 1.5 },
      note: `${perSecond(figures.ours.perSecond)} answers a second over ${callers} connections, the peer ${perSecond(figures.peer.perSecond)}`
    }
  ]
}
