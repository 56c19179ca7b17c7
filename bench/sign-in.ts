import { type Client, signUpAt } from '../tests/helpers/client.ts'
import { Connection, jsonOf, requestText } from './connection.ts'
import { medians, runLoad, withProcessorTime } from './load.ts'
import { processorSecondsOf, startService } from './processes.ts'
import { companyHost } from './service-internals.ts'
import type { BenchOptions, ReportRow } from './table.ts'

const callers = 16

/**
 * A login is two calls: one requests a challenge, the other sends the signed response and gets a
 * token. Each caller is a different person. Deriving the key from a password is not measured.
 */
export async function measure(options: BenchOptions): Promise<ReportRow[]> {
  await using service = await startService()
  const people: Client[] = []
  // one after the other, because an overloaded service refuses sign-ups
  while (people.length < callers) people.push(await signUpAt(service.port, companyHost))
  const connections = await Promise.all(people.map(() => Connection.open(service.port)))

  async function ask(caller: number, request: string): Promise<Record<string, string>> {
    const answer = await connections[caller]?.requestWithRetry(request)
    if (!answer) throw new Error('there are fewer connections than callers')
    return jsonOf(answer) as Record<string, string> // as: the type of both responses in the contract
  }
  const headers = { host: `api.${companyHost}` }
  const work = async (caller: number) => {
    const { email = '', keys } = people[caller] ?? {}
    const path = `/user/login/challenge?email=${encodeURIComponent(email)}`
    const { challenge = '' } = await ask(caller, requestText('GET', path, headers))
    const challenge_response = keys?.respond(challenge)
    const body = { email, challenge_response }
    await ask(caller, requestText('POST', '/user/login', headers, body))
  }

  const seconds = options.quick ? 0.5 : 3
  const spent = () => processorSecondsOf(service.pid(), service)
  const runs: { perSecond: number; p99Ms: number; micros: number }[] = []
  for (let run = 0; run <= options.runs; run++) {
    const given = { callers, seconds, signal: options.signal, work }
    const figures = await withProcessorTime(spent, () => runLoad(given))
    if (run > 0) runs.push(figures)
  }
  for (const connection of connections) connection.close()
  const { perSecond = 0, p99Ms = 0, micros = 0 } = medians(runs)
  return [
    {
      what: 'logins',
      ours: perSecond,
      unit: '/s',
      target: { atLeast: 500 },
      note: `${Math.round(micros)} µs of the server's core each`
    },
    { what: 'login, p99', ours: p99Ms, unit: 'ms', note: `with ${callers} people at a time` }
  ]
}
