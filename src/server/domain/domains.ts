import { sql } from 'kysely'
import { Colours, type DomainConfig, Locale, Theme } from '../../contract/domains.ts'
import { companyId, inPlatform } from '../db/scope.ts'
import type { Deps, Tenant } from './deps.ts'

/** How long another process may serve the config this one has changed. */
const freshMs = 1000
const maxHosts = 10_000

export interface Tenants {
  /** The company of a page host (`docs.acme.fr`), exact before wildcard; `undefined` for an unknown one. */
  resolve(host: string): Promise<Tenant | undefined>
  [Symbol.dispose](): void
}

/** Looks hosts up in the database and remembers the answer for a second, or until this process changes one. */
export function openTenants(deps: Pick<Deps, 'db' | 'clock' | 'wakes'>): Tenants {
  const known = new Map<string, { at: number; tenant: Promise<Tenant | undefined> }>()
  const forget = deps.wakes.domains.on(() => known.clear())
  return {
    resolve(host) {
      const now = deps.clock().getTime()
      const found = known.get(host)
      if (found && now - found.at < freshMs && now >= found.at) return found.tenant
      if (known.size >= maxHosts) known.clear()
      const tenant = lookUp(deps, host)
      known.set(host, { at: now, tenant })
      tenant.catch(() => known.delete(host))
      return tenant
    },
    [Symbol.dispose]: forget
  }
}

interface HostRow {
  company_id: string
  company_name: string
  company_disabled: { reason: string; since: string } | null
  name: string
  title: string
  public: boolean
  locale: string
  theme: unknown
  contact: string | null
  version: number
}

async function lookUp(deps: Pick<Deps, 'db'>, host: string): Promise<Tenant | undefined> {
  const row = await inPlatform(deps.db, async tx => {
    const found = await sql<HostRow>`select * from resolve_host(${host})`.execute(tx)
    return found.rows[0]
  })
  if (!row) return undefined
  const theme = Theme.parse(row.theme)
  const config: DomainConfig = {
    name: row.name,
    title: row.title,
    company: row.company_name,
    theme: { ...theme, colors: Colours.parse(theme.colors) },
    public: row.public,
    locale: Locale.parse(row.locale),
    ...(row.contact === null ? {} : { contact: row.contact }),
    version: row.version
  }
  return {
    company_id: companyId(row.company_id),
    host,
    config,
    disabled: row.company_disabled ?? undefined
  }
}

/** Whether `name` is served from this machine by a browser's own rules. */
export function isLocalhost(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost')
}
