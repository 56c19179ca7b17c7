import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type * as z from 'zod/mini'
import {
  Colours,
  type DomainConfig,
  type updateDomain as endpoint,
  Locale,
  Theme
} from '../../../contract/domains.ts'
import { AppError } from '../../../contract/errors.ts'
import { formatDigest } from '../../../core/evidence/formats.ts'
import { companyId, inCompany, inPlatform, type Tx } from '../../db/scope.ts'
import type { CompanyId, Deps, Tenant } from '../deps.ts'
import { audit } from '../evidence/audit.ts'
import { canonicalTheme } from './canonical-svg.ts'
import { withDefaultGroupCheck } from './default-groups.ts'

/** For how many milliseconds a process may use a configuration that another process has changed. */
const freshMs = 1000

/** Finds the company of a host. Must be disposed at the end, to stop listening to signals. */
export interface Tenants {
  /**
   * Returns the company whose pages a host such as `docs.acme.fr` serves, or undefined for an
   * unknown host. A domain with exactly this name takes precedence over a wildcard.
   */
  resolve(host: string): Promise<Tenant | undefined>
  [Symbol.dispose](): void
}

/**
 * Creates a cache that finds the company of a host. Changes by this process show at once, those by
 * other processes within a second. Unknown hosts cause no query of their own, and all hosts of a
 * wildcard domain share one entry.
 */
export function openTenants(deps: Pick<Deps, 'db' | 'clock' | 'signals' | 'settings'>): Tenants {
  const hosts = fresh(deps, (_all: 'all') => listHosts(deps))
  const domains = fresh(deps, (domain: string) => findTenant(deps, domain))
  const forget = () => {
    hosts.clear()
    domains.clear()
  }
  const forgetChanged = deps.signals.domains.on(forget)
  const forgetMissed = deps.signals.missed.on(forget)
  return {
    async resolve(host) {
      const domain = domainOf(host, await hosts.get('all'))
      const tenant = domain === undefined ? undefined : await domains.get(domain)
      // `*.localhost` is no longer served when the installation has a domain of its own
      if (tenant?.hasOwnDomain && isLocalhost(host) && !deps.settings.dev) return undefined
      return tenant && domain !== host ? { ...tenant, host } : tenant
    },
    [Symbol.dispose]() {
      forgetChanged()
      forgetMissed()
    }
  }
}

/**
 * Returns which of the domains `hosts` serves a host: the one of the same name, else a wildcard
 * such as `*.acme.fr`. A wildcard does not serve a host that begins with `api.`.
 */
function domainOf(host: string, hosts: Set<string>): string | undefined {
  if (hosts.has(host)) return host
  const dot = host.indexOf('.')
  const wildcard = `*${host.slice(dot)}`
  return dot > 0 && host.slice(0, dot) !== 'api' && hosts.has(wildcard) ? wildcard : undefined
}

/**
 * Returns a cache of the results of `find`. A result is valid for one second. Parallel callers
 * share one call of `find`. When a result is half a second old, `find` is called again in the
 * background, so that frequent callers never wait.
 */
function fresh<Key, Value>(
  { clock }: Pick<Deps, 'clock'>,
  find: (key: Key) => Promise<Value>
): { get(key: Key): Promise<Value>; clear(): void } {
  interface Entry {
    at: number
    value: Promise<Value>
    /**
     * The entry that will replace this entry as soon as its result arrives. Undefined if no call of
     * `find` is running.
     */
    next?: Entry
  }
  const known = new Map<Key, Entry>()
  const read = (key: Key): Entry => ({ at: clock().getTime(), value: find(key) })
  const ageOf = ({ at }: Entry) => clock().getTime() - at
  const isFresh = (entry: Entry) => ageOf(entry) < freshMs && ageOf(entry) >= 0

  function renew(key: Key, entry: Entry): void {
    const next = read(key)
    entry.next = next
    next.value.then(
      () => {
        if (known.get(key) === entry) known.set(key, next)
      },
      // the current value stays valid for the rest of its second; after that, callers get the error
      () => delete entry.next
    )
  }

  return {
    clear: () => known.clear(),
    get(key) {
      const found = known.get(key)
      if (found && isFresh(found)) {
        if (ageOf(found) > freshMs / 2 && !found.next) renew(key, found)
        return found.value
      }
      const entry = found?.next && isFresh(found.next) ? found.next : read(key)
      known.set(key, entry)
      // errors are not cached
      entry.value.catch(() => known.get(key) === entry && known.delete(key))
      return entry.value
    }
  }
}

async function listHosts(deps: Pick<Deps, 'db'>): Promise<Set<string>> {
  const result = await inPlatform(deps.db, tx =>
    sql<{ host: string }>`select list_hosts() as host`.execute(tx)
  )
  return new Set(result.rows.map(({ host }) => host))
}

type Changes = Omit<z.output<typeof endpoint.input>, 'id'>

interface DomainChange {
  company_id: CompanyId
  by: { id: string; company_id: CompanyId }
  id: string
  changes: Changes
  version: number | undefined
}

/**
 * Changes the configuration of a domain. Pages in all processes show the change within a second.
 * Throws `changed_meanwhile` if `version` is not the present version.
 */
export async function updateDomain(
  deps: Pick<Deps, 'db' | 'signals' | 'clock' | 'random'>,
  input: DomainChange
): Promise<DomainConfig> {
  return withDefaultGroupCheck(() => applyChange(deps, input))
}

async function applyChange(
  deps: Pick<Deps, 'db' | 'signals' | 'clock' | 'random'>,
  input: DomainChange
): Promise<DomainConfig> {
  const { company_id, by, id, changes, version } = input
  return inCompany(deps.db, company_id, async tx => {
    const found = await tx
      .selectFrom('domain')
      .select(['host', 'version', ...configColumns])
      .where('company_id', '=', company_id)
      .where('id', '=', id)
      .forUpdate()
      .executeTakeFirst()
    if (!found) throw new AppError('not_found', 'No such domain')
    if (version !== undefined && version !== found.version) {
      throw new AppError('changed_meanwhile', `The domain is at version ${found.version}`)
    }
    const { colors, logo, favicon, ...fields } = changes
    const given = Object.entries({ colors, logo, favicon }).filter(
      ([, value]) => value !== undefined
    )
    const theme =
      given.length > 0 &&
      JSON.stringify(canonicalTheme({ ...Theme.parse(found.theme), ...Object.fromEntries(given) }))
    const row = await tx
      .updateTable('domain')
      .set({ ...fields, ...(theme && { theme }), version: found.version + 1 })
      .where('company_id', '=', company_id)
      .where('id', '=', id)
      .returning(configColumns)
      .executeTakeFirstOrThrow()
    const company = await tx
      .selectFrom('company')
      .select(['name', 'demo'])
      .where('id', '=', company_id)
      .executeTakeFirstOrThrow()
    const [before, after] = [auditFields(found), auditFields(row)]
    audit(tx, deps, { by, action: 'domain.update', target: id, before, after })
    tx.afterCommit(() => deps.signals.domains.send(found.host))
    return configOf(row, { name: company.name, demo: company.demo !== null })
  })
}

const configColumns = [
  'id',
  'name',
  'title',
  'public',
  'locale',
  'theme',
  'contact',
  'privacy',
  'terms',
  'version'
] as const

/**
 * Returns the fields of a domain that the audit log stores. Logo and favicon are replaced by their
 * fingerprints.
 */
function auditFields(row: DomainRow): object {
  const { name, title, public: isPublic, locale, contact, privacy, terms } = row
  const { colors, logo, favicon } = Theme.parse(row.theme)
  const digest = (drawing: string) => formatDigest(createHash('sha256').update(drawing).digest())
  const texts = { name, title, public: isPublic, locale, contact, privacy, terms }
  return { ...texts, colors, logo: digest(logo), favicon: digest(favicon) }
}

interface HostRow extends Omit<DomainRow, 'id'> {
  domain_id: string
  company_id: string
  company_name: string
  company_disabled: { reason: string; since: string } | null
  company_demo: boolean
  has_own_domain: boolean
}

interface DomainRow {
  id: string
  name: string
  title: string
  public: boolean
  locale: string
  theme: unknown
  contact: string | null
  privacy: string | null
  terms: string | null
  version: number
}

/** Reads the company of a domain from the database. Returns undefined for an unknown domain. */
export async function findTenant(
  deps: Pick<Deps, 'db'>,
  host: string
): Promise<Tenant | undefined> {
  const row = await inPlatform(deps.db, async tx => {
    const found = await sql<HostRow>`
      select *, has_own_domain() from resolve_host(${host})`.execute(tx)
    return found.rows[0]
  })
  if (!row) return undefined
  const config = configOf(
    { ...row, id: row.domain_id },
    { name: row.company_name, demo: row.company_demo }
  )
  return {
    company_id: companyId(row.company_id),
    host,
    config,
    hasOwnDomain: row.has_own_domain,
    disabled: row.company_disabled ?? undefined
  }
}

/** Returns the web address of a host: `'localhost'` → `'http://localhost:4321'` */
export function originOf({ settings }: Pick<Deps, 'settings'>, host: string): string {
  const { scheme, port } = settings
  return `${scheme}://${host}${port === undefined ? '' : `:${port}`}`
}

/**
 * Returns a company with the host and configuration of its oldest domain. Throws if it has no host.
 */
export async function getTenant(deps: Pick<Deps, 'db'>, company_id: CompanyId): Promise<Tenant> {
  const tenant = await findTenant(deps, await inCompany(deps.db, company_id, primaryHost))
  if (tenant?.company_id !== company_id) throw new Error(`company ${company_id} has no host`)
  return tenant
}

/** Returns the host of the oldest domain of the company that is verified and not a wildcard. */
export async function primaryHost(tx: Tx): Promise<string> {
  const { host } = await tx
    .selectFrom('domain')
    .select('host')
    .where('company_id', '=', tx.companyId)
    .where('verified_at', 'is not', null)
    .where('host', 'not like', '*%')
    .orderBy('id')
    .limit(1)
    .executeTakeFirstOrThrow()
  return host
}

function configOf(row: DomainRow, company: { name: string; demo: boolean }): DomainConfig {
  const theme = Theme.parse(row.theme)
  return {
    id: row.id,
    name: row.name,
    title: row.title,
    company: company.name,
    theme: { ...theme, colors: Colours.parse(theme.colors) },
    public: row.public,
    locale: Locale.parse(row.locale),
    ...(row.contact === null ? {} : { contact: row.contact }),
    ...(row.privacy === null ? {} : { privacy: row.privacy }),
    ...(row.terms === null ? {} : { terms: row.terms }),
    demo: company.demo,
    version: row.version
  }
}

/**
 * Returns whether a host name is `localhost` or ends with `.localhost`. Browsers resolve such names
 * to their own machine.
 */
function isLocalhost(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost')
}
