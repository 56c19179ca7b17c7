import { isIPv4 } from 'node:net'
import pg from 'pg'
import { connectionTo } from './postgres.ts'

/** The role that serves requests; row-level security binds it. */
export const appRole = 'vidimus_app'

/** Owner of every table of the embedded server. Only migrations log in with it. */
const embeddedOwner = 'postgres'

/** Where the database is, and as whom to log in. */
export type DatabaseLocation =
  /** The server that this installation runs itself, or a test's. */
  | { socketDir: string; database: string }
  /** A server of the operator. Without `ownerUrl` the one login migrates and serves requests. */
  | { url: string; ownerUrl?: string | undefined }

/**
 * Requests share their login with the owner of the tables: each connection starts in the bound role,
 * but a `reset role` would leave it.
 */
export function sharesLogin(place: DatabaseLocation): boolean {
  return 'url' in place && place.ownerUrl === undefined
}

/** How the owner of the tables logs in. */
export function ownerLogin(place: DatabaseLocation): pg.ClientConfig {
  if ('socketDir' in place) return connectionTo(place.socketDir, place.database, embeddedOwner)
  return { connectionString: overTls(place.ownerUrl ?? place.url) }
}

/** How requests log in. */
export function requestLogin(place: DatabaseLocation): pg.ClientConfig {
  if ('socketDir' in place) return connectionTo(place.socketDir, place.database, appRole)
  const url = overTls(place.url)
  return { connectionString: sharesLogin(place) ? inRole(url, appRole) : url }
}

/** Off this machine the server must prove who it is and speak TLS, unless the URL says what else to do. */
function overTls(url: string): string {
  const { address, parameters } = partsOf(url)
  if (parameters.has('sslmode') || parameters.has('ssl')) return url
  if (isHere(new pg.Client({ connectionString: url }).host)) return url
  parameters.set('sslmode', 'verify-full')
  return `${address}?${parameters}`
}

/** A socket's folder, or a name of loopback. */
function isHere(host: string): boolean {
  const isLoopback = isIPv4(host) && host.startsWith('127.')
  return host.startsWith('/') || host === 'localhost' || host === '::1' || isLoopback
}

/** `postgres://a@b/c` → `postgres://a@b/c?options=-c+role%3Dvidimus_app`, beside options it has. */
function inRole(url: string, role: string): string {
  const { address, parameters } = partsOf(url)
  const options = [parameters.get('options'), `-c role=${role}`].filter(Boolean).join(' ')
  parameters.set('options', options)
  return `${address}?${parameters}`
}

function partsOf(url: string): { address: string; parameters: URLSearchParams } {
  const [address = '', query = ''] = url.split('?')
  return { address, parameters: new URLSearchParams(query) }
}

/** What a failed login to the operator's server means to the operator; never the URL, which holds a password. */
export function unreachable(place: DatabaseLocation, cause: unknown): unknown {
  if (!('url' in place) || !(cause instanceof Error)) return cause
  const reason = cause.message.replace(/\.$/, '') || 'no answer'
  return new Error(`DATABASE_URL cannot be used: ${reason}.${adviceOn(cause)}`, { cause })
}

/** What pg and Node say of a server without TLS, and of a certificate that nobody known has signed. */
function adviceOn(cause: Error): string {
  if (cause.message.includes('does not support SSL')) {
    return ' Turn TLS on there, or add ?sslmode=disable where nobody else can read the line.'
  }
  const code = 'code' in cause ? String(cause.code) : ''
  const isUnproven = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code)
  return isUnproven ? ' Name the authority of its certificate with ?sslrootcert=/path/ca.pem.' : ''
}
