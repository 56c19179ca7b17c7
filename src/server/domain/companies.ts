import type { Theme } from '../../contract/domains.ts'
import { companyId, inCompany } from '../db/scope.ts'
import { createCompanyKeys } from './company-keys.ts'
import type { CompanyId, Deps } from './deps.ts'
import { newId } from './ids.ts'

export interface NewCompany {
  name: string
  domains: {
    /** `docs.acme.fr`, or `*.acme.fr` for any one label before it. */
    host: string
    name: string
    title: string
    public: boolean
    theme: Theme
  }[]
  locale: 'en' | 'fr'
  /** Of the default group, which every sign-up joins. `null` = unlimited. */
  limits: {
    max_requests: number | null
    max_requests_interval: 'P1D' | 'P30D' | 'P1Y' | null
    max_storage: number | null
  }
}

/** Makes a company that is ready for its first sign-up: keys, record, default group, one public category. */
export async function createCompany(
  deps: Pick<Deps, 'db' | 'keys' | 'random' | 'clock' | 'wakes' | 'settings'>,
  input: NewCompany
): Promise<CompanyId> {
  const company_id = companyId(newId(deps))
  const created_at = deps.clock()
  const [primary] = input.domains
  if (!primary) throw new Error('a company has at least one domain')
  await inCompany(deps.db, company_id, async tx => {
    await tx
      .insertInto('company')
      .values({ id: company_id, name: input.name, created_at, disabled: null })
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
          theme: JSON.stringify(theme),
          contact: null,
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
        created_at
      })
      .execute()
    await tx.insertInto('group_category').values({ company_id, group_id, category_id }).execute()
    tx.afterCommit(() => deps.wakes.domains.send(primary.host))
  })
  return company_id
}

/** A development origin names its port, because two of them on one machine are two records. */
function withPort(deps: Pick<Deps, 'settings'>, host: string): string {
  const { port } = deps.settings
  return port === undefined ? host : `${host}:${port}`
}
