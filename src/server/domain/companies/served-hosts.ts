import { sql } from 'kysely'
import { Colors, type DomainConfig, HostName, Locale } from '../../../contract/domains.ts'
import { AppError } from '../../../contract/kit/errors.ts'
import { selectInCompany } from '../../db/company-queries.ts'
import type { SuspensionMark } from '../../db/schema.ts'
import { inCompany, inNoCompany, type Tx, toCompanyId } from '../../db/scope.ts'
import type { CompanyId, Deps, Tenant } from '../deps.ts'
import { parseStoredTheme } from './canonical-svg.ts'
import type { DomainRow } from './domain-rows.ts'
import { isLocalhost } from './host-names.ts'

// how long a process may use a configuration that another process has changed
const freshMs = 1000

export interface TenantCache {
  // a domain with exactly this name takes precedence over a wildcard
  resolve(host: string): Promise<Tenant | undefined>
  // from memory until the list of hosts reports a change: for many hosts, asked all the time
  companyOf(host: string): Promise<CompanyId | undefined>
  [Symbol.dispose](): void
}

/**
 * Changes by this process apply immediately, those by others within a second. An unknown host
 * causes no query of its own, because the list of served hosts is cached too.
 */
export function openTenantCache(
  deps: Pick<Deps, 'db' | 'clock' | 'signals' | 'settings'>
): TenantCache {
  const owners = new Map<string, Promise<CompanyId | undefined>>()
  const readHosts = createHostsReader(deps, changed => {
    if (changed) for (const domain of changed) owners.delete(domain)
    else owners.clear()
  })
  const hosts = fresh(deps, (_all: 'all') => readHosts())
  const domains = fresh(deps, (domain: string) => findTenant(deps, domain))
  const { companies, domains: changed, missed } = deps.signals
  const offs = [
    changed.on(host => {
      hosts.forget()
      // the first host of its own decides whether the installation leaves `localhost`
      domains.forget(domain => domain === host || isLocalhost(domain))
    }),
    companies.on(id => domains.forget((_, tenant) => tenant?.company_id === id)),
    missed.on(() => {
      hosts.forget()
      domains.forget()
    })
  ]
  async function resolve(host: string): Promise<Tenant | undefined> {
    const domain = domainOf(host, await hosts.get('all'))
    const tenant = domain === undefined ? undefined : await domains.get(domain)
    // the operators must not lose their pages when another company proves the first host
    const hasLeftLocalhost = tenant?.hasOwnDomain && !tenant.keepsLocalhost
    if (hasLeftLocalhost && isLocalhost(host) && !deps.settings.dev) return undefined
    return tenant && domain !== host ? { ...tenant, host, isWildcard: true } : tenant
  }

  function ownerOf(domain: string): Promise<CompanyId | undefined> {
    const known = owners.get(domain)
    if (known) return known
    const owner = findTenant(deps, domain).then(tenant => tenant?.company_id)
    // stored before the answer is there, so that a change reported meanwhile removes it
    owners.set(domain, owner)
    // errors are not cached
    owner.catch(() => owners.get(domain) === owner && owners.delete(domain))
    return owner
  }

  return {
    resolve,
    async companyOf(host) {
      // a change of other hosts can end `localhost`
      if (isLocalhost(host) && !deps.settings.dev) return (await resolve(host))?.company_id
      const domain = domainOf(host, await hosts.get('all'))
      return domain === undefined ? undefined : ownerOf(domain)
    },
    [Symbol.dispose]() {
      for (const off of offs) off()
    }
  }
}

export interface ServedHosts {
  // Undefined also for `localhost` names. Does not wait for the database.
  domainOf(host: string): string | undefined
  [Symbol.dispose](): void
}

const listedMs = 1000

/**
 * Reads what has changed after each signal about domains, and in the background of a call if the
 * last reading is older than a second.
 */
export async function watchServedHosts(
  deps: Pick<Deps, 'db' | 'signals' | 'log'>
): Promise<ServedHosts> {
  const readHosts = createHostsReader(deps)
  let hosts = await readHosts()
  let readAt = performance.now()
  let isReading = false
  let isStale = false
  async function read(): Promise<void> {
    isStale = true
    if (isReading) return
    isReading = true
    try {
      while (isStale) {
        isStale = false
        readAt = performance.now()
        hosts = await readHosts()
      }
    } catch (error) {
      // the known hosts stay; the next question or signal tries again
      deps.log.warn({ err: error }, 'the list of hosts could not be read')
    } finally {
      isReading = false
    }
  }
  const { domains, missed } = deps.signals
  const offs = [domains.on(() => void read()), missed.on(() => void read())]
  return {
    domainOf(host) {
      if (performance.now() - readAt > listedMs) void read()
      const site = host.startsWith('api.') ? host.slice(4) : host
      // below a wildcard, every text with a dot would be a host
      const isName = HostName.safeParse(host).success
      return isName && !isLocalhost(site) ? domainOf(site, hosts) : undefined
    },
    [Symbol.dispose]() {
      for (const off of offs) off()
    }
  }
}

// a wildcard does not serve hosts that begin with `api.`
function domainOf(host: string, hosts: ReadonlySet<string>): string | undefined {
  if (hosts.has(host)) return host
  const dot = host.indexOf('.')
  const wildcard = `*${host.slice(dot)}`
  return dot > 0 && host.slice(0, dot) !== 'api' && hosts.has(wildcard) ? wildcard : undefined
}

// A result is valid for a second. When it is half as old, the cache calls `find` in the background,
// so that frequent callers never wait.
function fresh<Key, Value>(
  { clock }: Pick<Deps, 'clock'>,
  find: (key: Key) => Promise<Value>
): {
  get(key: Key): Promise<Value>
  // also forgets results that are not known yet, and all without `isOutdated`
  forget(isOutdated?: (key: Key, value: Value) => boolean): void
} {
  interface Entry {
    at: number
    value: Promise<Value>
    known?: { value: Value }
    // replaces this entry if its call of `find` succeeds
    next?: Entry
  }
  const known = new Map<Key, Entry>()
  function read(key: Key): Entry {
    const entry: Entry = { at: clock().getTime(), value: find(key) }
    entry.value.then(
      value => {
        entry.known = { value }
      },
      () => undefined
    )
    return entry
  }
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
    forget(isOutdated) {
      for (const [key, entry] of known) {
        // what is read at the moment may have been read before the change
        const isKept = entry.known && !entry.next && isOutdated?.(key, entry.known.value) === false
        if (!isKept) known.delete(key)
      }
    },
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

// then all hosts are read again; the database keeps changes for five minutes
const changesMs = 60_000

// Each call returns the same set, as the database was at the call or later. `onChange` gets the
// domains that may have changed, or undefined if any may have.
function createHostsReader(
  deps: Pick<Deps, 'db'>,
  onChange?: (domains: string[] | undefined) => void
): () => Promise<ReadonlySet<string>> {
  let hosts = new Set<string>()
  let readAt = Number.NEGATIVE_INFINITY
  // of the last reading
  let since: { database: string; snapshot: string } | undefined
  let last: Promise<unknown> = Promise.resolve()
  let queued: Promise<ReadonlySet<string>> | undefined

  async function read(): Promise<ReadonlySet<string>> {
    const startedAt = performance.now()
    const { changes, ...seen } = await readChanges(deps, since?.snapshot)
    // another server or a restored database may lack the changes, or number its transactions anew
    const isFirst = startedAt - readAt > changesMs || seen.database !== since?.database
    if (isFirst) hosts = await listHosts(deps)
    else
      for (const [host, isServed] of Object.entries(changes)) {
        if (isServed) hosts.add(host)
        else hosts.delete(host)
      }
    since = seen
    readAt = startedAt
    onChange?.(isFirst ? undefined : Object.keys(changes))
    return hosts
  }

  // one after the other: an older reading must not undo a newer one
  return () => {
    queued ??= last.then(() => {
      queued = undefined
      return read()
    })
    last = queued.catch(() => undefined)
    return queued
  }
}

interface HostChanges {
  /** Another one after a failover, a restoration, or a restart of the server. */
  database: string
  /** The value of `since` for the next call. */
  snapshot: string
  changes: Record<string, boolean>
}

async function readChanges(
  deps: Pick<Deps, 'db'>,
  since: string | undefined
): Promise<HostChanges> {
  const { rows } = await inNoCompany(deps.db, tx =>
    sql<HostChanges>`
      select pg_current_snapshot()::text as snapshot,
        (select concat(oid, ' ', pg_postmaster_start_time()) from pg_database
          where datname = current_database()) as database,
        coalesce((
          select jsonb_object_agg(host, is_proved_host(host))
            from (select distinct host from host_change
                   where xid >= pg_snapshot_xmin(${since ?? null}::text::pg_snapshot)
                     and not pg_visible_in_snapshot(xid, ${since ?? null}::text::pg_snapshot)) changed
        ), '{}') as changes`.execute(tx)
  )
  const [found] = rows
  if (!found) throw new Error('a select without from has one row')
  return found
}

async function listHosts(deps: Pick<Deps, 'db'>): Promise<Set<string>> {
  const result = await inNoCompany(deps.db, tx =>
    sql<{ host: string }>`select list_hosts() as host`.execute(tx)
  )
  return new Set(result.rows.map(({ host }) => host))
}

export async function listHostsWithCompanies(
  deps: Pick<Deps, 'db' | 'settings'>
): Promise<{ host: string; company: string }[]> {
  const found = await Promise.all(
    [...(await listHosts(deps))].sort().map(host => findTenant(deps, host))
  )
  return found.flatMap(tenant => {
    const hasLeftLocalhost = tenant?.hasOwnDomain && !tenant.keepsLocalhost
    if (!tenant || (hasLeftLocalhost && isLocalhost(tenant.host) && !deps.settings.dev)) return []
    return [{ host: tenant.host, company: tenant.config.company }]
  })
}

type ConfigColumn =
  | ('name' | 'title' | 'public' | 'locale' | 'theme')
  | ('contact' | 'privacy' | 'terms' | 'version')

// of `resolve_host()`; its `host` may be a wildcard
interface HostRow extends Pick<DomainRow, 'host' | ConfigColumn> {
  domain_id: string
  company_id: string
  company_name: string
  company_disabled: SuspensionMark | null
  company_demo: boolean
  has_own_domain: boolean
  keeps_localhost: boolean
}

export async function findTenant(
  deps: Pick<Deps, 'db'>,
  host: string
): Promise<Tenant | undefined> {
  const row = await inNoCompany(deps.db, async tx => {
    const found = await sql<HostRow>`
      select *, has_own_domain(), keeps_localhost(company_id)
        from resolve_host(${host})`.execute(tx)
    return found.rows[0]
  })
  if (!row) return undefined
  return {
    company_id: toCompanyId(row.company_id),
    host,
    config: configOf(row),
    isWildcard: row.host !== host,
    hasOwnDomain: row.has_own_domain,
    keepsLocalhost: row.keeps_localhost,
    disabled: row.company_disabled ?? undefined
  }
}

/** `'localhost'` → `'http://localhost:4321'` */
export function webOriginOf({ settings }: Pick<Deps, 'settings'>, host: string): string {
  const { scheme, port } = settings
  return `${scheme}://${host}${port === undefined ? '' : `:${port}`}`
}

/** Throws `host_needed` if the company has no primary domain. */
export async function getTenantOnPrimaryHost(
  deps: Pick<Deps, 'db'>,
  company_id: CompanyId
): Promise<Tenant> {
  const tenant = await findTenant(deps, await inCompany(deps.db, company_id, getPrimaryHost))
  if (tenant?.company_id !== company_id) throw hostNeeded()
  return tenant
}

export async function getPrimaryHost(tx: Tx): Promise<string> {
  const primary = await findPrimaryDomain(tx)
  if (!primary) throw hostNeeded()
  return primary.host
}

/**
 * For mails whose links need not work, such as the notice of a deletion: the oldest host may serve
 * no pages.
 */
export async function readPrimaryOrOldestHost(
  deps: Pick<Deps, 'db'>,
  company_id: CompanyId
): Promise<string> {
  return inCompany(deps.db, company_id, async tx => {
    const primary = await findPrimaryDomain(tx)
    if (primary) return primary.host
    const { host } = await selectInCompany(tx, 'domain')
      .select('host')
      .orderBy('id')
      .limit(1)
      .executeTakeFirstOrThrow()
    return host
  })
}

function hostNeeded(): AppError {
  return new AppError('host_needed', 'The company has no verified domain that is no wildcard')
}

/**
 * The one that an administrator has chosen, otherwise the oldest, `localhost` last. Wildcards and
 * domains that are not verified do not count.
 */
export async function findPrimaryDomain(tx: Tx): Promise<{ id: string; host: string } | undefined> {
  return selectInCompany(tx, 'domain')
    .select(['id', 'host'])
    .where('verified_at', 'is not', null)
    .where('host', 'not like', '*%')
    .orderBy('is_primary', 'desc')
    .orderBy(isLeftLocalhost)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
}

// while the company has a verified host of its own, the pages of `localhost` are off
const isLeftLocalhost = sql<boolean>`domain.host = 'localhost' and exists (
  select from domain own
   where own.company_id = domain.company_id and own.verified_at is not null
     and own.host not like '*%' and own.host !~ '(^|[.])localhost$')`

function configOf(row: HostRow): DomainConfig {
  const theme = parseStoredTheme(row.theme)
  return {
    id: row.domain_id,
    name: row.name,
    title: row.title,
    company: row.company_name,
    theme: { ...theme, colors: Colors.parse(theme.colors) },
    public: row.public,
    locale: Locale.parse(row.locale),
    ...(row.contact === null ? {} : { contact: row.contact }),
    ...(row.privacy === null ? {} : { privacy: row.privacy }),
    ...(row.terms === null ? {} : { terms: row.terms }),
    demo: row.company_demo,
    ...(row.company_disabled && {
      paused: { verification: row.company_disabled.verification ?? 'open' }
    }),
    version: row.version
  }
}
