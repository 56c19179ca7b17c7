import { isIPv4 } from 'node:net'
import pg from 'pg'
import { connectionTo } from './postgres.ts'

/** The role that serves requests. Row-level security applies to it. */
export const appRole = 'vidimus_app'

/** The role that owns every table of the embedded server. Only migrations log in with it. */
const embeddedOwner = 'postgres'

/** The address and credentials of the database. */
export type DatabaseLocation =
  /** The embedded server, or the server of a test, reached through a Unix socket. */
  | { socketDir: string; database: string }
  /**
   * A server that the operator runs. Without `ownerUrl`, migrations and requests use the same
   * login.
   */
  | { url: string; ownerUrl?: string | undefined }

/**
 * Returns whether requests log in as the owner of the tables, for lack of a login of their own.
 * Each connection then switches to the request role at its start. This protects less, because the
 * statement `reset role` would undo the switch.
 */
export function sharesLogin(place: DatabaseLocation): boolean {
  return 'url' in place && place.ownerUrl === undefined
}

/** Returns the connection options of the tables' owner, which runs migrations. */
export function ownerLogin(place: DatabaseLocation): pg.ClientConfig {
  if ('socketDir' in place) return connectionTo(place.socketDir, place.database, embeddedOwner)
  return { connectionString: withTls(place.ownerUrl ?? place.url) }
}

/** Returns the connection options with which requests are served. */
export function requestLogin(place: DatabaseLocation): pg.ClientConfig {
  if ('socketDir' in place) return connectionTo(place.socketDir, place.database, appRole)
  const url = withTls(place.url)
  return { connectionString: sharesLogin(place) ? withRole(url, appRole) : url }
}

/**
 * Adds `sslmode=verify-full` to the URL of a remote server that sets neither `sslmode` nor `ssl`.
 */
function withTls(url: string): string {
  const { address, parameters } = partsOf(url)
  if (parameters.has('sslmode') || parameters.has('ssl')) return url
  if (isOnThisMachine(new pg.Client({ connectionString: url }).host)) return url
  parameters.set('sslmode', 'verify-full')
  return `${address}?${parameters}`
}

/** Returns whether a host is a socket directory or a loopback address. */
function isOnThisMachine(host: string): boolean {
  const isLoopback = isIPv4(host) && host.startsWith('127.')
  return host.startsWith('/') || host === 'localhost' || host === '::1' || isLoopback
}

/** Adds a role to the options: `postgres://a@b/c` → `postgres://a@b/c?options=-c+role%3Dvidimus_app` */
function withRole(url: string, role: string): string {
  const { address, parameters } = partsOf(url)
  const options = [parameters.get('options'), `-c role=${role}`].filter(Boolean).join(' ')
  parameters.set('options', options)
  return `${address}?${parameters}`
}

function partsOf(url: string): { address: string; parameters: URLSearchParams } {
  const [address = '', query = ''] = url.split('?')
  return { address, parameters: new URLSearchParams(query) }
}

/**
 * Returns the error of a failed login, worded for the operator. Omits the URL, which contains a
 * password.
 */
export function unreachableError(place: DatabaseLocation, cause: unknown): unknown {
  if (!('url' in place) || !(cause instanceof Error)) return cause
  const reason = cause.message.replace(/\.$/, '') || 'no answer'
  return new Error(`DATABASE_URL cannot be used: ${reason}.${adviceOn(cause)}`, { cause })
}

/**
 * Returns advice for two causes: the server has no TLS, or an unknown authority signed its
 * certificate.
 */
function adviceOn(cause: Error): string {
  if (cause.message.includes('does not support SSL')) {
    return ' Turn TLS on there, or add ?sslmode=disable where nobody else can read the line.'
  }
  const code = 'code' in cause ? String(cause.code) : ''
  const isUnproven = /CERT|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code)
  return isUnproven ? ' Name the authority of its certificate with ?sslrootcert=/path/ca.pem.' : ''
}
