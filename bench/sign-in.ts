import { signUpAt } from '../tests/helpers/client.ts'
import { Connection, jsonOf, requestText } from './connection.ts'
import { host } from './insider.ts'
import { load, medians } from './load.ts'
import { startService } from './processes.ts'
import type { Options, Row } from './table.ts'

const callers = 16

/**
 * One login is two calls: a challenge, and its signed response, which is answered with a session's token.
 * Each caller is a person of their own. The client signs with a ready P-256 key, on its own core: what a
 * browser spends on deriving that key from a password is no load of the server's.
 */
export async function measure(options: Options): Promise<Row[]> {
  await using service = await startService()
  const people = await Promise.all(
    Array.from({ length: callers }, () => signUpAt(service.port, host))
  )
  const connections = await Promise.all(people.map(() => Connection.open(service.port)))

  async function ask(caller: number, request: string): Promise<Record<string, string>> {
    const answer = await connections[caller]?.ask(request)
    if (!answer) throw new Error('there are fewer connections than callers')
    return jsonOf(answer) as Record<string, string> // as: what the contract says of both calls
  }
  const headers = { host: `api.${host}` }
  const work = async (caller: number) => {
    const { email = '', keys } = people[caller] ?? {}
    const path = `/user/login/challenge?email=${encodeURIComponent(email)}`
    const { challenge = '' } = await ask(caller, requestText('GET', path, headers))
    const challenge_response = keys?.respond(challenge)
    const body = { email, challenge_response }
    await ask(caller, requestText('POST', '/user/login', headers, body))
  }

  const seconds = options.quick ? 0.5 : 3
  const runs: { perSecond: number; p99Ms: number }[] = []
  for (let run = 0; run <= options.runs; run++) {
    const { perSecond, p99Ms } = await load({ callers, seconds, signal: options.signal, work })
    if (run > 0) runs.push({ perSecond, p99Ms })
  }
  for (const connection of connections) connection.close()
  const { perSecond = 0, p99Ms = 0 } = medians(runs)
  return [
    { what: 'logins', ours: perSecond, unit: '/s', aim: { atLeast: 500 } },
    { what: 'login, p99', ours: p99Ms, unit: 'ms', note: `with ${callers} people at a time` }
  ]
}
