import { randomBytes } from 'node:crypto'
import { mkdir, open, rm } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { createLogThrottle } from './api/kit/log-throttle.ts'
import { isDiskNearlyFull } from './domain/companies/attention.ts'
import { allowCertificateBelowWildcard } from './domain/companies/certificate-names.ts'
import { listCompanyIds } from './domain/companies/companies.ts'
import type { ServedHosts } from './domain/companies/served-hosts.ts'
import { countHeldUploads } from './domain/deposits/held-uploads.ts'
import type { Deps } from './domain/deps.ts'
import { pingDatabase } from './domain/installation/installation.ts'
import type { ConnectionRoomCheck } from './http/connections.ts'
import { Places } from './http/places.ts'

const maxLagMs = 1000
// Strangers can ask for a thousand invented names at once, and each question locks a table. One at
// a time leaves the connections to everybody else.
const certificatePlaces = { all: 1, reserve: 0, besideOthers: 1, waiting: 100 }
// a longer text cannot be a host name
const maxLoggedHostLength = 253

/**
 * On the loopback address only. `/healthz` tells whether the process responds in time, `/readyz`
 * whether it can serve requests, `/tls-ask?domain=` whether a proxy may request a certificate.
 */
export async function startManagementServer(options: {
  port: number
  deps: Deps
  connections: ConnectionRoomCheck
  served: Pick<ServedHosts, 'domainOf'>
  /** False before the service listens and after it has begun to stop. */
  isReady: () => boolean
}): Promise<AsyncDisposable> {
  // a scanner may ask for a thousand names
  const noteRefused = createLogThrottle((refused, domain: string) => {
    options.deps.log.warn({ domain, refused }, 'a certificate was refused: the host is not served')
  })
  const noteBudget = createLogThrottle((refused, domain: string) => {
    options.deps.log.warn(
      { domain, refused },
      'a certificate was refused: its wildcard has had 20 new hosts this week. npm run vidimus -- certificates allow <host> allows a further one, hosts that were allowed before stay allowed, and a wildcard certificate has no such limit'
    )
  })
  const asking = new Places(certificatePlaces, () => true)
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
    if (path === '/tls-ask') {
      const domain = new URL(request.url ?? '', 'http://localhost').searchParams.get('domain') ?? ''
      judgeCertificate(options, asking, domain.toLowerCase()).then(
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
    Promise.all([checks(options), countAllHeld(options.deps)]).then(
      ([result, held]) =>
        answer(response, Object.values(result).every(Boolean) ? 200 : 503, { ...result, held }),
      () => answer(response, 503, { status: 'failed' })
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.port, '127.0.0.1', () => resolve())
  })
  return {
    async [Symbol.asyncDispose]() {
      lag.disable()
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    }
  }
}

async function judgeCertificate(
  { served, deps }: { served: Pick<ServedHosts, 'domainOf'>; deps: Deps },
  asking: Places,
  name: string
): Promise<'ok' | 'not served' | 'too many new hosts'> {
  const domain = served.domainOf(name)
  if (domain === undefined) return 'not served'
  if (!domain.startsWith('*')) return 'ok'
  const isAllowed = await asking.run(domain, () =>
    allowCertificateBelowWildcard(deps, { name, wildcard: domain })
  )
  return isAllowed ? 'ok' : 'too many new hosts'
}

async function checks({
  deps,
  connections
}: {
  deps: Deps
  connections: ConnectionRoomCheck
}): Promise<Record<string, boolean>> {
  const tried = async (check: string, work: () => Promise<unknown>) => {
    try {
      await work()
      return true
    } catch (error) {
      deps.log.warn({ check, err: error }, 'readiness check failed')
      return false
    }
  }
  return {
    connections: connections.hasRoom(),
    database: await tried('database', () => pingDatabase(deps)),
    documents: await tried('documents', () => writeAndRemove(deps.blobs.stagingDirectory)),
    disk: await tried('disk', () => requireSpace(deps)),
    keys: await tried('keys', () => signAndVerify(deps))
  }
}

// null when the database fails; does not change the status of `/readyz`
async function countAllHeld(deps: Deps): Promise<number | null> {
  try {
    let held = 0
    for (const company of await listCompanyIds(deps)) held += await countHeldUploads(deps, company)
    return held
  } catch {
    return null // the check of the database reports the error
  }
}

async function writeAndRemove(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const path = join(folder, `.probe-${randomBytes(6).toString('hex')}`)
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile('probe')
    await file.sync()
  } finally {
    await file.close()
    await rm(path, { force: true })
  }
}

async function requireSpace(deps: Deps): Promise<void> {
  if (isDiskNearlyFull(await deps.blobs.space()))
    throw new Error('the disk of the documents is nearly full')
}

async function signAndVerify(deps: Deps): Promise<void> {
  const { kid, sign } = deps.keys.signingKey()
  const text = 'probe'
  const verifying = deps.keys.verifyingKey(kid)
  const algorithm = { name: 'ECDSA', hash: 'SHA-256' }
  const verify = (key: CryptoKey) =>
    crypto.subtle.verify(algorithm, key, new Uint8Array(sign(text)), Buffer.from(text))
  if (!verifying || !(await verify(verifying))) {
    throw new Error('the token key does not verify what it signs')
  }
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
  response.end(JSON.stringify(body))
}
