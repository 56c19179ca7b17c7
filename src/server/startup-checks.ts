import { randomBytes } from 'node:crypto'
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { type AddressRange, parseNetwork } from './domain/ip-addresses.ts'
import { parseTrustedNetwork } from './http/hosts.ts'

interface Circumstances {
  scheme: 'http' | 'https'
  trustedProxies: string[]
  host: string
  /** By the names of their settings. Each must be free. */
  ports: { PORT?: number; MANAGEMENT_PORT?: number }
  managementHost: string
  /**
   * Contains the folders `staging` and `blobs`, which are created if they are missing. Undefined in a
   * process without documents.
   */
  documents: string | undefined
  now: Date
  /** Undefined in a process without pages. */
  built: Date | undefined
}

/** One sentence each. `findDatabaseFaults` checks the database. */
export async function findStartupProblems(circumstances: Circumstances): Promise<string[]> {
  const { scheme, trustedProxies, host, ports, managementHost, documents, now, built } =
    circumstances
  return [
    ...undeclaredProxyProblems(scheme, trustedProxies),
    ...proxyProblems(trustedProxies),
    ...(await portProblems('PORT', host, ports.PORT)),
    ...(await portProblems('MANAGEMENT_PORT', managementHost, ports.MANAGEMENT_PORT)),
    ...(documents === undefined ? [] : await folderProblems(documents)),
    ...clockProblems(now, built)
  ]
}

// An https address means that a proxy is in front. If it is not trusted, all visitors seem to have
// its address.
function undeclaredProxyProblems(scheme: 'http' | 'https', trustedProxies: string[]): string[] {
  if (scheme === 'http' || trustedProxies.length > 0) return []
  return [
    'PUBLIC_URL is https, so a proxy must be in front, but TRUSTED_PROXIES is empty: everyone would count as one visitor. Set it to the proxy’s network, such as TRUSTED_PROXIES=127.0.0.1 for a proxy on this machine.'
  ]
}

const purposes = { PORT: 'pages and API', MANAGEMENT_PORT: 'health checks' }

// runs before anything is created, so that a failed start leaves nothing behind
async function portProblems(
  setting: keyof typeof purposes,
  host: string,
  port: number | undefined
): Promise<string[]> {
  if (port === undefined) return []
  const server = createServer()
  const error = await new Promise<unknown>(resolve => {
    server.once('error', resolve)
    server.listen(port, host, () => server.close(() => resolve(undefined)))
  })
  if (error === undefined) return []
  const code = codeOf(error)
  const what = `Port ${port}, for ${purposes[setting]},`
  const choice = `choose another port, such as ${setting}=${port < 1024 ? 4321 : port + 10}`
  if (code === 'EADDRINUSE') {
    return [
      `${what} is already in use, perhaps by another Vidimus: stop that program, or ${choice}.`
    ]
  }
  if (code === 'EACCES') return [`${what} is reserved for root: ${choice}.`]
  return [`${what} cannot be opened on ${host} (${code}): see HOST and ${setting}.`]
}

// if every address were trusted, any client could pretend to have another
function proxyProblems(trustedProxies: string[]): string[] {
  const ranges: AddressRange[] = []
  const problems: string[] = []
  for (const text of trustedProxies) {
    try {
      ranges.push(parseTrustedNetwork(text))
    } catch (error) {
      problems.push(error instanceof Error ? error.message : String(error))
    }
  }
  // 2000::/3 contains all IPv6 addresses of the public internet
  for (const [name, network] of [
    ['IPv4', '0.0.0.0/0'],
    ['IPv6', '2000::/3']
  ] as const) {
    if (!covers(ranges, parseNetwork(network))) continue
    problems.push(
      `TRUSTED_PROXIES covers every ${name} address, so callers could claim any address: list only your own proxies.`
    )
  }
  return problems
}

function covers(ranges: AddressRange[], whole: AddressRange | undefined): boolean {
  if (!whole) return false
  let next = whole.first
  for (const { first, last } of ranges.toSorted((a, b) => (a.first < b.first ? -1 : 1))) {
    if (first > next) return false
    if (last >= next) next = last + 1n
    if (next > whole.last) return true
  }
  return false
}

// moving a file is only atomic on one file system
async function folderProblems(documents: string): Promise<string[]> {
  const staging = join(documents, 'staging')
  const blobs = join(documents, 'blobs')
  const problems: string[] = []
  for (const folder of [staging, blobs]) {
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      const probe = join(folder, probeName())
      await writeFile(probe, 'probe', { flag: 'wx', mode: 0o600 })
      await rm(probe)
    } catch (error) {
      problems.push(
        `${folder} is not writable (${codeOf(error)}): make the service’s user its owner.`
      )
    }
  }
  if (problems.length === 0 && !(await shareFileSystem(staging, blobs))) {
    problems.push(
      `${staging} and ${blobs} are on different file systems: put both on the same one.`
    )
  }
  return problems
}

// tried, because renaming fails between two mounts, even of the same file system
async function shareFileSystem(from: string, to: string): Promise<boolean> {
  if ((await stat(from)).dev !== (await stat(to)).dev) return false
  const name = probeName()
  await writeFile(join(from, name), 'probe', { flag: 'wx', mode: 0o600 })
  try {
    await rename(join(from, name), join(to, name))
    return true
  } catch (error) {
    if (codeOf(error) === 'EXDEV') return false
    throw error
  } finally {
    await rm(join(from, name), { force: true })
    await rm(join(to, name), { force: true })
  }
}

// with a clock before the build, expired sessions would be valid again
function clockProblems(now: Date, built: Date | undefined): string[] {
  if (built === undefined || now >= built) return []
  return [
    `The clock says ${now.toISOString()}, but this version was built on ${built.toISOString()}: set the clock.`
  ]
}

function probeName(): string {
  return `.probe-${randomBytes(6).toString('hex')}`
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}
