import type pg from 'pg'
import { connectionTo } from './postgres.ts'

/** The role that serves requests; row-level security binds it. */
export const appRole = 'vidimus_app'

/** Owner of every table of the embedded server. Only migrations log in with it. */
const embeddedOwner = 'postgres'

/** Where the database is, and as whom to log in. */
export type Place =
  /** The server that this installation runs itself, or a test's. */
  | { socketDir: string; database: string }
  /** A server of the operator. Without `ownerUrl` the one login migrates and serves requests. */
  | { url: string; ownerUrl?: string | undefined }

/**
 * Requests share their login with the owner of the tables: each connection starts in the bound role,
 * but a `reset role` would leave it.
 */
export function sharesLogin(place: Place): boolean {
  return 'url' in place && place.ownerUrl === undefined
}

/** How the owner of the tables logs in. */
export function ownerLogin(place: Place): pg.ClientConfig {
  if ('socketDir' in place) return connectionTo(place.socketDir, place.database, embeddedOwner)
  return { connectionString: place.ownerUrl ?? place.url }
}

/** How requests log in. */
export function requestLogin(place: Place): pg.ClientConfig {
  if ('socketDir' in place) return connectionTo(place.socketDir, place.database, appRole)
  return { connectionString: sharesLogin(place) ? inRole(place.url, appRole) : place.url }
}

/** `postgres://a@b/c` → `postgres://a@b/c?options=-c+role%3Dvidimus_app`, beside options it has. */
function inRole(url: string, role: string): string {
  const [address = '', query = ''] = url.split('?')
  const parameters = new URLSearchParams(query)
  const options = [parameters.get('options'), `-c role=${role}`].filter(Boolean).join(' ')
  parameters.set('options', options)
  return `${address}?${parameters}`
}

/** What a failed login to the operator's server means to the operator; never the URL, which holds a password. */
export function unreachable(place: Place, cause: unknown): unknown {
  if (!('url' in place) || !(cause instanceof Error)) return cause
  return new Error(`DATABASE_URL cannot be used: ${cause.message || 'no answer'}.`, { cause })
}
