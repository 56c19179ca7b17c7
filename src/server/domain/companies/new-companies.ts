import type { Theme } from '../../../contract/domains.ts'
import type { LimitPeriodLength } from '../../../core/limit-period.ts'
import { inCompany, type Tx, toCompanyId } from '../../db/scope.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { createCompanyKeys } from '../evidence/company-keys.ts'
import { newId } from '../ids.ts'
import { canonicalizeThemePictures } from './canonical-svg.ts'
import { createProofToken } from './host-names.ts'

export interface NewCompany {
  name: string
  domains: {
    // or a wildcard such as `*.acme.fr`
    host: string
    name: string
    title: string
    public: boolean
    theme: Theme
    // true by default; pages are served only on verified domains
    isVerified?: boolean
    // the owner of a verified wildcard that includes the host
    coveredBy?: CompanyId | undefined
  }[]
  locale: 'en' | 'fr'
  // pages say so, and it can be removed
  demo?: boolean
  // of the default group, which everybody who signs up joins; `null` means unlimited
  limits: {
    max_requests: number | null
    max_requests_interval: LimitPeriodLength
    max_storage: number | null
  }
}

export async function createCompany(
  deps: Pick<Deps, 'db' | 'keys' | 'random' | 'clock' | 'signals' | 'settings'>,
  input: NewCompany
): Promise<CompanyId> {
  const company_id = toCompanyId(newId(deps))
  await inCompany(deps.db, company_id, tx => insertCompanyRows(tx, deps, input))
  return company_id
}

/** `tx` must be a transaction of the new company. */
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
  await createCompanyKeys(tx, deps, ['lookup', 'data'])
  const { port } = deps.settings
  // two development servers on one machine need logs with different names
  const address = port === undefined ? primary.host : `${primary.host}:${port}`
  await insertLogHead(tx, `${address}/log`, !input.demo && (primary.isVerified ?? true))
  tx.afterCommit(() => deps.signals.leaves.send(company_id))
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

// the name of a log never changes; with the id, a mistyped host cannot reserve the name of another
// company's log
async function insertLogHead(tx: Tx, name: string, isProved: boolean): Promise<void> {
  const company_id = tx.companyId
  const state = { company_id, log_no: 0, key_version: 1, state: 'running' as const }
  const added =
    isProved &&
    (await tx
      .insertInto('log_state')
      .values({ ...state, origin: name })
      .onConflict(log => log.column('origin').doNothing())
      .returning('origin')
      .executeTakeFirst())
  const origin = added ? name : `${name}/${company_id}`
  if (!added)
    await tx
      .insertInto('log_state')
      .values({ ...state, origin })
      .execute()
  await tx.insertInto('log_head').values({ company_id, origin }).execute()
}
