import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Company } from '../../../contract/companies.ts'
import type { Theme } from '../../../contract/domains.ts'
import { AppError } from '../../../contract/errors.ts'
import type { Interval } from '../../../core/limit-period.ts'
import { companyId, inCompany, inCompanyOnce, inPlatform } from '../../db/scope.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { createCompanyKeys } from '../evidence/company-keys.ts'
import { newId } from '../ids.ts'
import { canonicalTheme } from './canonical-svg.ts'

/** The data of a new company with its domains. */
export interface NewCompany {
  name: string
  domains: {
    /**
     * The host name of the domain, such as `docs.acme.fr`. `*.acme.fr` stands for every host with
     * one label before `.acme.fr`.
     */
    host: string
    name: string
    title: string
    public: boolean
    theme: Theme
  }[]
  locale: 'en' | 'fr'
  /**
   * Whether the company is a demonstration. Pages of a demonstration say so, and it can be removed.
   */
  demo?: boolean
  /**
   * Limits of the company's default group, which everybody joins who signs up. `null` means
   * unlimited.
   */
  limits: {
    max_requests: number | null
    max_requests_interval: Interval
    max_storage: number | null
  }
}

/**
 * Creates a company with everything that the first sign-up needs: domains, keys, log, default group
 * and one public category. Returns the company's id.
 */
export async function createCompany(
  deps: Pick<Deps, 'db' | 'keys' | 'random' | 'clock' | 'signals' | 'settings'>,
  input: NewCompany
): Promise<CompanyId> {
  const company_id = companyId(newId(deps))
  const created_at = deps.clock()
  const [primary] = input.domains
  if (!primary) throw new Error('a company has at least one domain')
  const taken = input.domains.find(({ host }) => host.startsWith('api.'))
  if (taken) throw new Error(`${taken.host} is where the API of another host is asked for`)
  await inCompany(deps.db, company_id, async tx => {
    await tx
      .insertInto('company')
      .values({
        id: company_id,
        name: input.name,
        created_at,
        disabled: null,
        demo: input.demo ? 'seeding' : null,
        demo_leased_until: null
      })
      .execute()
    await createCompanyKeys(tx, deps, company_id)
    await tx
      .insertInto('log_head')
      .values({ company_id, origin: `${withPort(deps, primary.host)}/log` })
      .execute()
    for (const { host, name, title, public: isPublic, theme } of input.domains) {
      await tx
        .insertInto('domain')
        .values({
          company_id,
          id: newId(deps),
          host,
          name,
          title,
          public: isPublic,
          locale: input.locale,
          theme: JSON.stringify(canonicalTheme(theme)),
          contact: null,
          privacy: null,
          terms: null,
          verified_at: created_at
        })
        .execute()
    }
    const group_id = newId(deps)
    await tx
      .insertInto('group')
      .values({
        company_id,
        id: group_id,
        name: 'Everyone',
        is_default: true,
        features: ['deposit'],
        ...input.limits,
        created_at
      })
      .execute()
    const category_id = newId(deps)
    await tx
      .insertInto('category')
      .values({
        company_id,
        id: category_id,
        names: JSON.stringify({ en: 'Documents', fr: 'Documents' }),
        visibility: 'public',
        is_default: true,
        created_at
      })
      .execute()
    await tx.insertInto('group_category').values({ company_id, group_id, category_id }).execute()
    tx.afterCommit(() => deps.signals.domains.send(primary.host))
  })
  return company_id
}

/** Returns the data of a company that its administrators see. */
export async function getCompany(deps: Pick<Deps, 'db'>, company_id: CompanyId): Promise<Company> {
  return inCompanyOnce(deps.db, company_id, tx =>
    tx
      .selectFrom('company')
      .where('id', '=', company_id)
      .select(['id', 'name'])
      .executeTakeFirstOrThrow()
  )
}

/**
 * Returns the id of the company in which a person acts: their own, or for an operator any company
 * that exists, even a suspended one. Throws `not_found` if `wanted` is any other company.
 */
export async function findActingCompany(
  deps: Pick<Deps, 'db'>,
  by: { company_id: CompanyId; permissions: string[] },
  wanted: string
): Promise<CompanyId> {
  const id = companyId(wanted)
  if (id === by.company_id) return id
  const found = by.permissions.includes('operator')
    ? await inCompanyOnce(deps.db, id, tx =>
        tx.selectFrom('company').where('id', '=', id).select('id').executeTakeFirst()
      )
    : undefined
  if (!found) throw new AppError('not_found', 'No such company')
  return id
}

/**
 * Returns the ids of all companies. Everything else about a company can only be read in a
 * transaction of that company (`inCompany`).
 */
export async function listCompanies(deps: Pick<Deps, 'db'>): Promise<CompanyId[]> {
  const result = await inPlatform(deps.db, tx =>
    sql<{ id: string }>`select list_companies() as id`.execute(tx)
  )
  return result.rows.map(({ id }) => companyId(id))
}

/**
 * Deletes a demonstration: first its rows, then its files. Files that a crash leaves are deleted
 * later by `deleteLeftoverFiles`. Returns false and deletes nothing if the company is not a
 * demonstration.
 */
export async function removeCompany(
  deps: Pick<Deps, 'db' | 'blobs' | 'signals' | 'log'>,
  company_id: CompanyId
): Promise<boolean> {
  const removed = await removeRows(deps, company_id)
  if (!removed) return false
  await deps.blobs.removeCompany(company_id)
  deps.log.info({ audit: 'company_removed', company: company_id }, 'demonstration removed')
  return true
}

const removalTries = 10
/**
 * PostgreSQL's codes of errors after which removing a company is tried again: a row was added to a
 * table that had been emptied (23503), or a lock was not free in time (55P03).
 */
const temporaryErrors = ['23503', '55P03']

async function removeRows(
  deps: Pick<Deps, 'db' | 'blobs' | 'signals'>,
  company_id: CompanyId
): Promise<boolean> {
  for (let tries = 1; ; tries++) {
    try {
      return await inCompany(deps.db, company_id, async tx => {
        const hosts = await tx
          .selectFrom('domain')
          .select('host')
          .where('company_id', '=', company_id)
          .execute()
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
      const code = error instanceof Error && 'code' in error ? String(error.code) : ''
      if (tries === removalTries || !temporaryErrors.includes(code)) throw error
    }
    await sleep(50 * tries)
  }
}

/**
 * Returns a host with the port of the web addresses, unless it is the default one, as the name of a
 * company's log. The port tells the logs of two development servers on one machine apart.
 */
function withPort(deps: Pick<Deps, 'settings'>, host: string): string {
  const { port } = deps.settings
  return port === undefined ? host : `${host}:${port}`
}
