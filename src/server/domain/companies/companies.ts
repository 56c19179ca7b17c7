import { setTimeout as sleep } from 'node:timers/promises'
import { sql, type Updateable } from 'kysely'
import type { Company, CompanyDetails, ListedCompany } from '../../../contract/companies.ts'
import type { SuspendedVerification } from '../../../contract/domains.ts'
import type { DisabledReason } from '../../../contract/kit/disabled.ts'
import { AppError } from '../../../contract/kit/errors.ts'
import { countRows, selectInCompany, updateInCompany } from '../../db/company-queries.ts'
import type { Database, SuspensionMark } from '../../db/schema.ts'
import {
  inCompany,
  inNoCompany,
  type Tx,
  type TxWithoutCompany,
  toCompanyId
} from '../../db/scope.ts'
import { type AdminCall, addAuditEntry } from '../audit/audit-entries.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { logIdOf } from '../evidence/logs.ts'
import { addSearchCondition, type Page, type PageInput, readPage } from '../lists.ts'
import { type ExpectedVersion, missingVersionNote, requireVersion } from '../versions.ts'

interface CompaniesInput extends PageInput {
  q?: string | undefined
  state?: 'active' | 'suspended' | undefined
}

// of `installed_companies()`
interface CompanyRow {
  id: string
  name: string
  search: string
  created_at: Date
  version: number
  disabled: SuspensionMark | null
  is_demo: boolean
}

// in an answer
const mostDomains = 100

/** Checks no permission: the API lets only operators call it. */
export async function listCompanies(
  deps: Pick<Deps, 'db' | 'clock'>,
  { q, state, ...page }: CompaniesInput
): Promise<Page<ListedCompany>> {
  const orders = {
    id: 'company.id',
    sorts: { name: ['company.search'], created: ['company.created_at'] },
    usual: 'name'
  } as const
  return inNoCompany(deps.db, async tx => {
    const all = selectCompanies(tx)
    const { items, next } = await readPage(all, orders, page, rows => {
      const found = addSearchCondition(rows, 'company.search', q).selectAll()
      if (state === undefined) return found
      return found.where('company.disabled', state === 'active' ? 'is' : 'is not', null)
    })
    const usage = await readUsage(tx, items, deps.clock())
    const domains = await readFirstDomains(tx, items)
    const used = (id: string) =>
      usage.get(id) ?? { people: 0, documents: 0, storage: 0, requests: 0 }
    const domainsOf = (id: string) => domains.get(id) ?? { domains: [], domain_count: 0 }
    return {
      items: items.map(row => ({ ...companyOf(row, domainsOf(row.id)), usage: used(row.id) })),
      next
    }
  })
}

async function readUsage(
  tx: TxWithoutCompany,
  companies: { id: string }[],
  now: Date
): Promise<Map<string, ListedCompany['usage']>> {
  const ids = companies.map(({ id }) => id)
  const month = `${now.toISOString().slice(0, 7)}-01`
  const { rows } = await sql<{ id: string } & ListedCompany['usage']>`
    select * from company_usage(${ids}::uuid[], ${month}::date)`.execute(tx)
  return new Map(rows.map(({ id, ...usage }) => [id, usage]))
}

type Domains = Pick<Company, 'domains' | 'domain_count'>

async function readFirstDomains(
  tx: TxWithoutCompany,
  companies: { id: string }[]
): Promise<Map<string, Domains>> {
  const ids = companies.map(({ id }) => id)
  const { rows } = await sql<{
    company_id: string
    domain_count: number
    first: Domains['domains'][number] | null
  }>`select * from first_domains(${ids}::uuid[])`.execute(tx)
  return new Map(
    rows.map(({ company_id, domain_count, first }) => [
      company_id,
      { domains: first === null ? [] : [first], domain_count }
    ])
  )
}

/** Sorted by name. Checks no permission: the API lets only operators see them. */
export async function listCompanyNames(
  deps: Pick<Deps, 'db'>
): Promise<{ id: CompanyId; name: string }[]> {
  const rows = await inNoCompany(deps.db, tx =>
    selectCompanies(tx).select(['id', 'name']).orderBy('search').orderBy('id').execute()
  )
  return rows.map(({ id, name }) => ({ id: toCompanyId(id), name }))
}

export async function getCompany(
  deps: Pick<Deps, 'db' | 'clock'>,
  company_id: CompanyId
): Promise<CompanyDetails> {
  return inCompany(deps.db, company_id, async tx => {
    const company = await readCompany(tx)
    const people = await selectInCompany(tx, 'user')
      .where('deleted_at', 'is', null)
      .groupBy('state')
      .select(['state', sql<number>`count(*)`.as('count')])
      .execute()
    const signUps = selectInCompany(tx, 'signup').where('expires_at', '>', deps.clock())
    const waiting = await countRows(signUps)
    const countOf = (state: string) => people.find(each => each.state === state)?.count ?? 0
    return {
      ...company,
      people: {
        active: countOf('active'),
        invited: countOf('invited'),
        disabled: countOf('disabled'),
        waiting
      }
    }
  })
}

export async function readCompany(tx: Tx): Promise<Company> {
  const row = await tx
    .selectFrom('company')
    .where('id', '=', tx.companyId)
    .select(['id', 'name', 'version', 'created_at', 'disabled', 'demo'])
    .executeTakeFirstOrThrow()
  const domains = await selectInCompany(tx, 'domain')
    .select(['id', 'host', sql<boolean>`verified_at is not null`.as('verified')])
    .orderBy('verified', 'desc')
    .orderBy('host')
    .limit(mostDomains)
    .execute()
  const domain_count = await countRows(selectInCompany(tx, 'domain'))
  return companyOf({ ...row, is_demo: row.demo !== null }, { domains, domain_count })
}

/** Asks about companies other than that of `tx`, which would be a duplicate. */
export async function isNameAndHostPairTaken(
  tx: Tx,
  { name, host }: { name: string; host: string }
): Promise<boolean> {
  const { rows } = await sql<{ answer: boolean }>`
    select is_claimed_by_namesake(${name}, ${host}) as answer`.execute(tx)
  return rows[0]?.answer === true
}

function selectCompanies(tx: TxWithoutCompany) {
  return tx.selectFrom(sql<CompanyRow>`installed_companies()`.as('company'))
}

function companyOf(row: Omit<CompanyRow, 'search'>, domains: Domains): Company {
  const { id, name, version, created_at, disabled, is_demo } = row
  const created = created_at.toISOString()
  const suspended = disabled && { verification: 'open' as const, ...disabled }
  return { id, version, name, created, ...domains, suspended, demo: is_demo }
}

interface Renaming extends AdminCall, ExpectedVersion {
  name?: string | undefined
}

export async function updateCompany(
  deps: Pick<Deps, 'db' | 'clock' | 'random' | 'signals'>,
  { company_id, by, name, version }: Renaming
): Promise<Company> {
  return changeCompany(deps, company_id, async (tx, present) => {
    requireVersion(present.version, version)
    if (name !== undefined && name !== present.name) await renameCompany(tx, company_id, name)
    const before = { name: present.name }
    const after = { name: name ?? present.name, ...missingVersionNote(version) }
    addAuditEntry(tx, deps, { by, action: 'company.update', target: company_id, before, after })
    return {}
  })
}

/** Also renames domains and titles that have the company's old name. */
export async function renameCompany(tx: Tx, company_id: CompanyId, name: string): Promise<void> {
  const company = await tx
    .selectFrom('company')
    .select('name')
    .where('id', '=', company_id)
    .executeTakeFirstOrThrow()
  await updateInCompany(tx, 'domain')
    .set({
      name: sql<string>`case when name = ${company.name} then ${name} else name end`,
      title: sql<string>`case when title = ${company.name} then ${name} else title end`,
      // pages are cached by this version, and they contain the company's name
      version: sql<number>`version + 1`
    })
    .execute()
  await tx.updateTable('company').set({ name }).where('id', '=', company_id).execute()
}

export async function suspendCompany(
  deps: Pick<Deps, 'db' | 'clock' | 'random' | 'signals'>,
  {
    company_id,
    by,
    reason,
    verification = 'open'
  }: AdminCall & { reason: DisabledReason; verification?: SuspendedVerification | undefined }
): Promise<Company> {
  if (by.company_id === company_id) {
    throw new AppError('own_company', 'Nobody suspends the company that they belong to')
  }
  return changeCompany(deps, company_id, async (tx, { disabled }) => {
    const since = disabled?.since ?? deps.clock().toISOString()
    const mark: SuspensionMark = { reason, since, verification }
    const [before, after] = [{ suspended: disabled }, { suspended: mark }]
    addAuditEntry(tx, deps, { by, action: 'company.suspend', target: company_id, before, after })
    return { disabled: JSON.stringify(mark) }
  })
}

export async function resumeCompany(
  deps: Pick<Deps, 'db' | 'clock' | 'random' | 'signals'>,
  { company_id, by }: AdminCall
): Promise<Company> {
  return changeCompany(deps, company_id, async (tx, { disabled }) => {
    const before = { suspended: disabled }
    const after = { suspended: null }
    addAuditEntry(tx, deps, { by, action: 'company.resume', target: company_id, before, after })
    return { disabled: null }
  })
}

async function changeCompany(
  deps: Pick<Deps, 'db' | 'signals'>,
  company_id: CompanyId,
  decide: (
    tx: Tx,
    present: { name: string; version: number; disabled: SuspensionMark | null }
  ) => Promise<Updateable<Database['company']>>
): Promise<Company> {
  return inCompany(deps.db, company_id, async tx => {
    const present = await tx
      .selectFrom('company')
      .where('id', '=', company_id)
      .select(['name', 'version', 'disabled'])
      .forNoKeyUpdate()
      .executeTakeFirstOrThrow()
    await tx
      .updateTable('company')
      .set({ ...(await decide(tx, present)), version: present.version + 1 })
      .where('id', '=', company_id)
      .execute()
    tx.afterCommit(() => deps.signals.companies.send(company_id))
    return readCompany(tx)
  })
}

/**
 * Throws `not_found` unless it is the caller's own or the caller is an operator. That the caller is
 * an administrator must be checked before.
 */
export async function requireAdministeredCompany(
  deps: Pick<Deps, 'db'>,
  by: { company_id: CompanyId; permissions: string[] },
  wanted: string
): Promise<CompanyId> {
  const id = toCompanyId(wanted)
  if (id === by.company_id) return id
  const found = by.permissions.includes('operator')
    ? await inCompany(deps.db, id, tx =>
        tx.selectFrom('company').where('id', '=', id).select('id').executeTakeFirst()
      )
    : undefined
  if (!found) throw new AppError('not_found', 'No such company')
  return id
}

/** The oldest first, demonstrations last. */
export async function listCompanyIds(deps: Pick<Deps, 'db'>): Promise<CompanyId[]> {
  const result = await inNoCompany(deps.db, tx =>
    sql<{ id: string }>`select list_companies() as id`.execute(tx)
  )
  return result.rows.map(({ id }) => toCompanyId(id))
}

/**
 * `deleteFilesOfRemovedCompanies` deletes files that a crash leaves. Returns false, and deletes
 * nothing, if the company is no demonstration.
 */
export async function removeDemoCompany(
  deps: Pick<Deps, 'db' | 'blobs' | 'logFiles' | 'signals' | 'log'>,
  company_id: CompanyId
): Promise<boolean> {
  const logs = await inCompany(deps.db, company_id, tx =>
    selectInCompany(tx, 'log_state').select('origin').execute()
  )
  const removed = await removeRows(deps, company_id)
  if (!removed) return false
  await deps.blobs.removeCompany(company_id)
  for (const { origin } of logs) await deps.logFiles.remove(logIdOf(origin))
  deps.log.info({ audit: 'company_removed', company: company_id }, 'demonstration removed')
  return true
}

const removalTries = 10
// 23503: a row was added to a table that had been emptied. 55P03: a lock did not become free in
// time.
const temporaryErrors = ['23503', '55P03']

async function removeRows(
  deps: Pick<Deps, 'db' | 'blobs' | 'signals'>,
  company_id: CompanyId
): Promise<boolean> {
  for (let tries = 1; ; tries++) {
    try {
      return await inCompany(deps.db, company_id, async tx => {
        const hosts = await selectInCompany(tx, 'domain').select('host').execute()
        const result = await sql<{ done: boolean }>`
          select remove_demo(${company_id}::uuid) as done`.execute(tx)
        tx.afterCommit(() => {
          for (const { host } of hosts) deps.signals.domains.send(host)
        })
        const done = result.rows[0]?.done === true
        // before the commit; if the commit fails, the note does no harm
        if (done) await deps.blobs.noteRemoval(company_id)
        return done
      })
    } catch (error) {
      if (tries === removalTries || !temporaryErrors.includes(Object(error).code)) throw error
    }
    await sleep(50 * tries)
  }
}
