import { isIPv4 } from 'node:net'
import pg from 'pg'
import { socketConnectionConfig } from './postgres.ts'

/** The database role that serves HTTP requests. Row-level security applies to it. */
export const appDatabaseRole = 'vidimus_app'

/**
 * The database role that owns every table of the embedded server. HTTP requests never log in with
 * it.
 */
const embeddedOwner = 'postgres'

/** The address and credentials of the database. */
export type DatabaseLocation =
  /** The embedded server, or the server of a test, reached through a Unix socket. */
  | { socketDir: string; database: string }
  /**
   * A server that the operator runs. Without `ownerUrl`, migrations and HTTP requests use the same
   * login.
   */
  | { url: string; ownerUrl?: string | undefined }

/**
 * Returns whether the database connections for HTTP requests log in as the owner of the tables.
 * They do if the operator runs the database (`url`) and has configured no separate login for the
 * owner (`ownerUrl`). Each of these connections then switches to the role `vidimus_app`. This
 * protects less than separate logins, because the statement `reset role` would undo the switch.
 */
export function appLogsInAsOwner(location: DatabaseLocation): boolean {
  return 'url' in location && location.ownerUrl === undefined
}

/** Returns the connection options for the role that owns the tables and runs migrations. */
export function ownerConnectionConfig(location: DatabaseLocation): pg.ClientConfig {
  if ('socketDir' in location)
    return socketConnectionConfig(location.socketDir, location.database, embeddedOwner)
  return { connectionString: withTls(location.ownerUrl ?? location.url) }
}

/** Returns the connection options for the role `vidimus_app`, which serves HTTP requests. */
export function appRoleConnectionConfig(location: DatabaseLocation): pg.ClientConfig {
  if ('socketDir' in location)
    return socketConnectionConfig(location.socketDir, location.database, appDatabaseRole)
  const url = withTls(location.url)
  return { connectionString: appLogsInAsOwner(location) ? withRole(url, appDatabaseRole) : url }
}

/**
 * Returns the URL of a database, with `sslmode=verify-full` if the server is remote and the URL
 * sets neither `sslmode` nor `ssl`.
 */
function withTls(url: string): string {
  const { address, parameters } = partsOf(url)
  if (parameters.has('sslmode') || parameters.has('ssl')) return url
  if (isOnThisMachine(new pg.Client({ connectionString: url }).host)) return url
  parameters.set('sslmode', 'verify-full')
  return `${address}?${parameters}`
}

function isOnThisMachine(host: string): boolean {
  const isLoopback = isIPv4(host) && host.startsWith('127.')
  return host.startsWith('/') || host === 'localhost' || host === '::1' || isLoopback
}

/**
 * Returns the URL of a database with an option that sets the role of each connection:
 * `postgres://a@b/c` → `postgres://a@b/c?options=-c+role%3Dvidimus_app`
 */
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
 * Returns the error to show the operator when no connection to the database can be opened.
 * `setting` is the setting that has the URL. Omits the URL itself, which contains a password.
 */
export function explainConnectionError(
  location: DatabaseLocation,
  cause: unknown,
  setting: 'DATABASE_URL' | 'DATABASE_OWNER_URL' = 'DATABASE_URL'
): unknown {
  if (!('url' in location) || !(cause instanceof Error)) return cause
  const reason = cause.message.replace(/\.$/, '') || 'no answer'
  return new Error(`${setting} cannot be used: ${reason}.${adviceOn(cause)}`, { cause })
}

/**
 * Returns advice for an error message if the database server has no TLS, or has a certificate that
 * is not accepted; otherwise an empty string.
 */
function adviceOn(cause: Error): string {
  if (cause.message.includes('does not support SSL')) {
    return ' Turn TLS on there, or add ?sslmode=disable if you trust the network to it.'
  }
  const code = 'code' in cause ? String(cause.code) : ''
  if (code === 'CERT_HAS_EXPIRED') return ' Renew the certificate of the database server.'
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return ' Use a host name that its certificate has.'
  const isUnproven = /SELF_SIGNED|UNABLE_TO|CERT_UNTRUSTED/.test(code)
  return isUnproven
    ? ' Add ?sslrootcert=/path/ca.pem with the certificate of the authority that signed that of the server.'
    : ''
}
