import type { Theme } from '../../../contract/domains.ts'
import type { LimitPeriodLength } from '../../../core/limit-period.ts'
import { inCompany, type Tx, toCompanyId } from '../../db/scope.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { createCompanySecretKeys } from '../evidence/company-keys.ts'
import { newId } from '../ids.ts'
import { canonicalizeThemePictures } from './canonical-svg.ts'
import { createProofToken } from './host-names.ts'

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
    /**
     * Whether the domain is verified: the company has proved that it owns the host name. Pages are
     * served only on verified domains. An absent value means true.
     */
    isVerified?: boolean
    /**
     * The company that owns a verified wildcard domain which includes this host. The host then
     * needs no proof of its own. Absent if there is no such wildcard domain.
     */
    coveredBy?: CompanyId | undefined
  }[]
  locale: 'en' | 'fr'
  /**
   * Whether the company is a demonstration. Pages of a demonstration say so, and it can be removed.
   */
  demo?: boolean
  /**
   * Limits of the company's default group, which everybody who signs up joins. `null` means
   * unlimited.
   */
  limits: {
    max_requests: number | null
    max_requests_interval: LimitPeriodLength
    max_storage: number | null
  }
}

/**
 * Creates a company with everything that the first sign-up needs: domains, keys, a log of its
 * deposits, a default group and one public category. Returns the company's id.
 */
export async function createCompany(
  deps: Pick<Deps, 'db' | 'keys' | 'random' | 'clock' | 'signals' | 'settings'>,
  input: NewCompany
): Promise<CompanyId> {
  const company_id = toCompanyId(newId(deps))
  await inCompany(deps.db, company_id, tx => insertCompanyRows(tx, deps, input))
  return company_id
}

/** Adds the rows of a new company. `tx` must be a transaction of this company. */
export async function insertCompanyRows(
  tx: Tx,
  deps: Pick<Deps, 'keys' | 'random' | 'clock' | 'signals' | 'settings'>,
  input: NewCompany
): Promise<void> {
  const company_id = tx.companyId
  const created_at = deps.clock()
  const [primary] = input.domains
  if (!primary) throw new Error('a company has at least one domain')
  const taken = input.domains.find(({ host }) => host.startsWith('api.'))
  if (taken) throw new Error(`${taken.host} is where the API of another host is asked for`)
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
  await createCompanySecretKeys(tx, deps, company_id)
  await insertLogHead(tx, `${withPort(deps, primary.host)}/log`, primary.isVerified ?? true)
  for (const domain of input.domains) {
    const { host, name, title, public: isPublic, theme, isVerified = true, coveredBy } = domain
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
        theme: JSON.stringify(canonicalizeThemePictures(theme)),
        contact: null,
        privacy: null,
        terms: null,
        created_at,
        proof_token: isVerified ? null : createProofToken(deps),
        verified_at: isVerified ? created_at : null,
        covered_by: coveredBy ?? null
      })
      .execute()
  }
  const group_id = newId(deps)
  await tx
    .insertInto('group')
    .values({
      company_id,
      id: group_id,
      name: input.locale === 'fr' ? 'Tout le monde' : 'Everyone',
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
}

/**
 * Adds the log in which a new company's deposits will be recorded. The name of a log never changes.
 * If the company has proved its host and no other log is called `name`, the log gets this name.
 * Otherwise the company's id is appended to `name`, so that a mistyped host cannot reserve the name
 * of another company's log.
 */
async function insertLogHead(tx: Tx, name: string, isProved: boolean): Promise<void> {
  const company_id = tx.companyId
  const log = { company_id, origin: `${name}/${company_id}` }
  const added =
    isProved &&
    (await tx
      .insertInto('log_head')
      .values({ company_id, origin: name })
      .onConflict(head => head.column('origin').doNothing())
      .returning('origin')
      .executeTakeFirst())
  if (!added) await tx.insertInto('log_head').values(log).execute()
}

/**
 * Returns the host for use in a log's name. Appends the port if the service's web addresses contain
 * one, because two development servers on one machine need logs with different names.
 */
function withPort(deps: Pick<Deps, 'settings'>, host: string): string {
  const { port } = deps.settings
  return port === undefined ? host : `${host}:${port}`
}
