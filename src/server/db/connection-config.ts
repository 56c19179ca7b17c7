import { isIPv4 } from 'node:net'
import pg from 'pg'
import { socketConnectionConfig } from './postgres.ts'

export const appDatabaseRole = 'vidimus_app'

const embeddedOwner = 'postgres'

export type DatabaseLocation =
  | { socketDir: string; database: string }
  /** Without `ownerUrl`, migrations and HTTP requests use the same login. */
  | { url: string; ownerUrl?: string | undefined }

/**
 * If they do, each connection switches to `vidimus_app`, which protects less than separate logins,
 * because the statement `reset role` would undo the switch.
 */
export function appLogsInAsOwner(location: DatabaseLocation): boolean {
  return 'url' in location && location.ownerUrl === undefined
}

export function ownerConnectionConfig(location: DatabaseLocation): pg.ClientConfig {
  if ('socketDir' in location)
    return socketConnectionConfig(location.socketDir, location.database, embeddedOwner)
  return { connectionString: withTls(location.ownerUrl ?? location.url) }
}

export function appRoleConnectionConfig(location: DatabaseLocation): pg.ClientConfig {
  if ('socketDir' in location)
    return socketConnectionConfig(location.socketDir, location.database, appDatabaseRole)
  const url = withTls(location.url)
  return { connectionString: appLogsInAsOwner(location) ? withRole(url, appDatabaseRole) : url }
}

// remote servers need TLS, unless the URL itself says what it wants
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

/** Leaves out the URL, which contains a password. `setting` is the setting that has it. */
export function explainConnectionError(
  location: DatabaseLocation,
  cause: unknown,
  setting: 'DATABASE_URL' | 'DATABASE_OWNER_URL' = 'DATABASE_URL'
): unknown {
  if (!('url' in location) || !(cause instanceof Error)) return cause
  const reason = cause.message.replace(/\.$/, '') || 'no answer'
  return new Error(`${setting} cannot be used: ${reason}.${adviceOn(cause)}`, { cause })
}

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
