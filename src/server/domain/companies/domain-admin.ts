import { type SelectQueryBuilder, sql } from 'kysely'
import type * as z from 'zod/mini'
import {
  DnsOutcome,
  type Domain,
  type DomainDetails,
  type DomainState,
  Locale,
  Theme,
  type updateDomain as updateEndpoint
} from '../../../contract/domains.ts'
import { AppError } from '../../../contract/kit/errors.ts'
import {
  lockCompanyRow,
  selectInCompany,
  updateById,
  updateInCompany
} from '../../db/company-queries.ts'
import type { Database } from '../../db/schema.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import { addAuditEntry } from '../audit/audit-entries.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { addSearchCondition, type Page, type PageInput, readPage } from '../lists.ts'
import { type ExpectedVersion, missingVersionNote, requireVersion } from '../versions.ts'
import { parseStoredTheme } from './canonical-svg.ts'
import {
  type DomainCall,
  type DomainRow,
  domainNotFoundError,
  lockDomainRow
} from './domain-rows.ts'
import { applyThemeChanges, storeThemeAsPublished, themeForAudit } from './domain-themes.ts'
import { withDefaultGroupError } from './groups.ts'
import { dnsZoneOf } from './host-names.ts'
import { findPrimaryDomain } from './served-hosts.ts'

interface ListInput extends PageInput {
  company_id: CompanyId
  q?: string | undefined
  state?: DomainState | undefined
}

export async function listDomains(
  deps: Pick<Deps, 'db'>,
  { company_id, q, state, ...page }: ListInput
): Promise<Page<Domain>> {
  const orders = {
    id: 'domain.id',
    sorts: { host: ['domain.host'], created: ['domain.created_at'] },
    usual: 'host'
  } as const
  return inCompany(deps.db, company_id, async tx => {
    const primary = await findPrimaryDomain(tx)
    const { items, next } = await readPage(selectInCompany(tx, 'domain'), orders, page, rows => {
      const found = selectColumns(addSearchCondition(rows, 'domain.host', q))
      return state === undefined ? found : found.where(domainStateSql, '=', state)
    })
    return { items: items.map(row => domainOf(row, primary)), next }
  })
}

// in a response
const mostCovered = 100

export async function getDomain(
  deps: Pick<Deps, 'db'>,
  {
    company_id,
    id,
    by
  }: Pick<DomainCall, 'company_id' | 'id'> & { by: { permissions: readonly string[] } }
): Promise<DomainDetails> {
  return inCompany(deps.db, company_id, async tx => {
    const domain = await readDomain(tx, id)
    if (domain.covers.count === 0 || !by.permissions.includes('operator')) return domain
    const { rows: hosts } = await sql<{ host: string; company: string }>`
      select host, company from hosts_of_others_below(${domain.host})
       order by host limit ${sql.lit(mostCovered)}`.execute(tx)
    return { ...domain, covers: { ...domain.covers, hosts } }
  })
}

interface Change extends DomainCall, ExpectedVersion {
  by: DomainCall['by'] & { confirmed: boolean }
  changes: Omit<z.output<typeof updateEndpoint.input>, 'id'>
}

export async function updateDomain(
  deps: Pick<Deps, 'db' | 'signals' | 'clock' | 'random'>,
  { company_id, by, id, changes, version }: Change
): Promise<DomainDetails> {
  const { theme, ...fields } = changes
  const change = async (tx: Tx) => {
    const found = await lockDomainRow(tx, id)
    requireVersion(found.version, version)
    const changed = theme && applyThemeChanges(Theme.parse(found.theme), theme)
    await updateById(tx, 'domain', id)
      .set({ ...fields, version: found.version + 1 })
      .execute()
    if (changed) await storeThemeAsPublished(tx, deps, { by, domain: found, theme: changed })
    // strangers may then create accounts; asked last, so that nobody enters the password for a
    // change that is refused anyway
    if (fields.public && !found.public && !by.confirmed) {
      throw new AppError('confirmation_required', 'Confirm the password first: POST /user/confirm')
    }
    const before = auditFields(found)
    const after = { ...auditFields(await lockDomainRow(tx, id)), ...missingVersionNote(version) }
    addAuditEntry(tx, deps, { by, action: 'domain.update', target: id, before, after })
    tx.afterCommit(() => deps.signals.domains.send(found.host))
    return readDomain(tx, id)
  }
  return withDefaultGroupError(() => inCompany(deps.db, company_id, change))
}

export async function makeDomainPrimary(
  deps: Pick<Deps, 'db' | 'signals' | 'clock' | 'random'>,
  { company_id, by, id }: DomainCall
): Promise<DomainDetails> {
  return inCompany(deps.db, company_id, async tx => {
    await lockCompanyRow(tx)
    const found = await lockDomainRow(tx, id)
    if (found.verified_at === null || found.host.startsWith('*')) {
      throw new AppError('domain_unsuitable', 'The primary domain is verified and no wildcard')
    }
    const former = await findPrimaryDomain(tx)
    if (!former || former.id === id) return readDomain(tx, id)
    const domains = updateInCompany(tx, 'domain')
    const version = sql<number>`version + 1`
    // first, because a company has one chosen domain at most
    await domains
      .set({ is_primary: false, version })
      .where(on => on.or([on('is_primary', '=', true), on('id', '=', former.id)]))
      .execute()
    await domains.set({ is_primary: true, version }).where('id', '=', id).execute()
    const [before, after] = [{ host: former.host }, { host: found.host }]
    addAuditEntry(tx, deps, { by, action: 'domain.primary', target: id, before, after })
    tx.afterCommit(() => {
      for (const { host } of [former, found]) deps.signals.domains.send(host)
    })
    return readDomain(tx, id)
  })
}

export async function readDomain(tx: Tx, id: string): Promise<DomainDetails> {
  const primary = await findPrimaryDomain(tx)
  const row = await selectColumns(selectInCompany(tx, 'domain'))
    .where('domain.id', '=', id)
    .select('domain.theme')
    .executeTakeFirst()
  if (!row) throw domainNotFoundError()
  const count = await countCoveredHostsOfOthers(tx, row.host)
  return {
    ...domainOf(row, primary),
    theme: parseStoredTheme(row.theme),
    covers: { count, hosts: [] }
  }
}

/** Counts hosts that only the company's wildcard `host` proves. */
export async function countCoveredHostsOfOthers(tx: Tx, host: string): Promise<number> {
  if (!host.startsWith('*')) return 0
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from hosts_of_others_below(${host})`.execute(tx)
  return rows[0]?.count ?? 0
}

/** `'*.acme.fr'` → `'_domain-check.acme.fr'` */
export function proofRecordName(host: string): string {
  return `_domain-check.${host.replace(/^\*\./, '')}`
}

/** For queries that select from the table `domain`. */
export const domainStateSql = sql<DomainState>`case
  when domain.verified_at is null and is_proved_host(domain.host) then 'taken'
  when domain.quarantined_at is not null then 'quarantined'
  when domain.verified_at is null then 'unverified'
  when domain.failing_since is not null then 'failing'
  else 'verified' end`

function selectColumns(domains: SelectQueryBuilder<Database, 'domain', object>) {
  return domains.select([
    'domain.id',
    'domain.version',
    'domain.host',
    'domain.name',
    'domain.title',
    'domain.public',
    'domain.locale',
    'domain.contact',
    'domain.privacy',
    'domain.terms',
    'domain.created_at',
    'domain.proof_token',
    'domain.checked_at',
    'domain.check_outcome',
    'domain.check_values',
    'domain.failing_since',
    'domain.quarantined_at',
    domainStateSql.as('state')
  ])
}

type Row = Awaited<ReturnType<ReturnType<typeof selectColumns>['execute']>>[number]

function domainOf(row: Row, primary: { id: string } | undefined): Domain {
  const { created_at, proof_token, checked_at, check_outcome, check_values, ...others } = row
  const { quarantined_at, ...fields } = others
  const name = proofRecordName(row.host)
  return {
    ...fields,
    primary: row.id === primary?.id,
    locale: Locale.parse(row.locale),
    created: created_at.toISOString(),
    proof: proof_token === null ? null : { name, value: proof_token, zone: dnsZoneOf(row.host) },
    check:
      checked_at === null || check_outcome === null
        ? null
        : {
            at: checked_at.toISOString(),
            outcome: DnsOutcome.parse(check_outcome),
            values: check_values
          },
    failing_since: row.failing_since?.toISOString() ?? null,
    quarantined_since: quarantined_at?.toISOString() ?? null
  }
}

function auditFields(row: DomainRow): object {
  const { name, title, public: isPublic, locale, contact, privacy, terms } = row
  const texts = { name, title, public: isPublic, locale, contact, privacy, terms }
  return { ...texts, ...themeForAudit(Theme.parse(row.theme)) }
}
