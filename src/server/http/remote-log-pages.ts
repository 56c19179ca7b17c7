import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import https from 'node:https'
import { isIP } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { AppError } from '../../contract/kit/errors.ts'
import type { Owner } from '../../site/owners.ts'
import type { Gate } from './gate.ts'
import { type ClientAddressReader, sendHostError } from './hosts.ts'
import type { LogPages } from './log-pages.ts'

export interface RemoteLogPagesOptions {
  apiUrl: string
  resolve: (host: string) => Promise<Pick<Owner, 'company_id'> | undefined>
  gate: Pick<Gate, 'takeTurn'>
  addressOf: ClientAddressReader
  /** For an answer as a whole; 30 seconds by default. */
  answerMs?: number
}

// the API counts the connections of an address, and the site asks it whose hosts are as well
const maxConnections = 64
const ofConnection = ['connection', 'keep-alive', 'transfer-encoding']

/** Passes the answers of a process of the API on, which has the files. */
export function createRemoteLogPages({
  apiUrl,
  resolve,
  gate,
  addressOf,
  answerMs = 30_000
}: RemoteLogPagesOptions): LogPages {
  const { protocol, hostname } = new URL(apiUrl)
  const { Agent, request: ask } = protocol === 'https:' ? https : http
  const agent = new Agent({ keepAlive: true, maxSockets: maxConnections })
  // else the certificate would have to be that of the page's host
  const servername = isIP(hostname) ? '' : hostname

  async function pass(request: IncomingMessage, response: ServerResponse, host: string) {
    const asked = ask(apiUrl, {
      method: request.method,
      path: request.url,
      headers: { host, 'x-forwarded-for': addressOf(request) },
      agent,
      servername,
      signal: AbortSignal.timeout(answerMs)
    })
    response.once('close', () => asked.destroy())
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      asked.once('response', resolve).on('error', reject).end()
    })
    const kept = Object.entries(answer.headers).filter(([name]) => !ofConnection.includes(name))
    response.writeHead(answer.statusCode ?? 502, Object.fromEntries(kept))
    await pipeline(answer, response)
  }

  return {
    async answer(request, response, host) {
      const owner = await resolve(host)
      if (!owner) return sendHostError(response, 421)
      await gate.takeTurn(owner.company_id, response)
      await pass(request, response, host).catch((cause: unknown) => {
        throw new AppError('unavailable', 'The API does not answer the site', { cause })
      })
    }
  }
}
