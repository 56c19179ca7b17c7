import { createServer, type ServerResponse } from 'node:http'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createLogThrottle } from './api/kit/log-throttle.ts'
import { allowCertificateBelowWildcard } from './domain/companies/certificate-names.ts'
import type { ServedHosts } from './domain/companies/served-hosts.ts'
import type { Deps, Log } from './domain/deps.ts'
import { Places } from './http/places.ts'

const maxLagMs = 1000
// Strangers can ask for a thousand invented names at once, and each question locks a table. One at
// a time leaves the connections to everybody else.
const certificatePlaces = { all: 1, reserve: 0, besideOthers: 1, waiting: 100 }
// a longer text cannot be a host name
const maxLoggedHostLength = 253

/**
 * `/healthz` tells whether the process responds in time, `/readyz`
 * whether it can serve requests, `/tls-ask?domain=` whether a proxy may request a certificate.
 */
export async function startManagementServer(options: {
  port: number
  host: string
  log: Log
  /** The process is ready if nothing is false. */
  check: () => Promise<Record<string, boolean | number | null>>
  /** Undefined in a process that does not know which hosts are served. */
  judgeCertificate: ((name: string) => Promise<CertificateVerdict>) | undefined
  /** False before the service listens and after it has begun to stop. */
  isReady: () => boolean
}): Promise<AsyncDisposable> {
  // a scanner may ask for a thousand names
  const noteRefused = createLogThrottle((refused, domain: string) => {
    options.log.warn({ domain, refused }, 'a certificate was refused: the host is not served')
  })
  const noteBudget = createLogThrottle((refused, domain: string) => {
    options.log.warn(
      { domain, refused },
      'a certificate was refused: its wildcard has had 20 new hosts this week. npm run vidimus -- certificates allow <host> allows a further one, hosts that were allowed before stay allowed, and a wildcard certificate has no such limit'
    )
  })
  const lag = monitorEventLoopDelay({ resolution: 20 })
  lag.enable()
  const server = createServer((request, response) => {
    const path = request.url?.split('?')[0]
    if (request.method !== 'GET') return answer(response, 405, { status: 'method not allowed' })
    if (path === '/healthz') {
      const turning = lag.percentile(99) / 1e6 < maxLagMs
      lag.reset()
      return answer(response, turning ? 200 : 503, { status: turning ? 'ok' : 'slow' })
    }
    const { judgeCertificate } = options
    if (path === '/tls-ask' && judgeCertificate) {
      const domain = new URL(request.url ?? '', 'http://localhost').searchParams.get('domain') ?? ''
      judgeCertificate(domain.toLowerCase()).then(
        status => {
          const facts = domain.slice(0, maxLoggedHostLength)
          if (status === 'not served') noteRefused(facts)
          if (status === 'too many new hosts') noteBudget(facts)
          answer(response, status === 'ok' ? 200 : 403, { status })
        },
        () => answer(response, 503, { status: 'failed' })
      )
      return
    }
    if (path !== '/readyz') return answer(response, 404, { status: 'not found' })
    if (!options.isReady()) return answer(response, 503, { status: 'not ready' })
    options.check().then(
      result => answer(response, Object.values(result).includes(false) ? 503 : 200, result),
      () => answer(response, 503, { status: 'failed' })
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, options.host, () => resolve())
  })
  return {
    async [Symbol.asyncDispose]() {
      lag.disable()
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    }
  }
}

type CertificateVerdict = 'ok' | 'not served' | 'too many new hosts'

export function createCertificateJudge(
  deps: Deps,
  served: Pick<ServedHosts, 'domainOf'>
): (name: string) => Promise<CertificateVerdict> {
  const asking = new Places(certificatePlaces, () => true)
  return async name => {
    const domain = served.domainOf(name)
    if (domain === undefined) return 'not served'
    if (!domain.startsWith('*')) return 'ok'
    const isAllowed = await asking.run(domain, () =>
      allowCertificateBelowWildcard(deps, { name, wildcard: domain })
    )
    return isAllowed ? 'ok' : 'too many new hosts'
  }
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
  response.end(JSON.stringify(body))
}
