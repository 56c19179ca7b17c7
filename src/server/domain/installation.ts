import { sql } from 'kysely'
import type { Db } from '../db/open.ts'
import { companyId, inPlatform } from '../db/scope.ts'
import { createCompany } from './companies.ts'
import type { CompanyId, Deps } from './deps.ts'
import { demoNames, demoTheme, localhostNames, localhostTheme } from './seed-themes.ts'

const gigabyte = 1_000_000_000

/** The root secret this database was made with; `undefined` before the first start. */
export async function recordedKekId(db: Db): Promise<string | undefined> {
  const row = await inPlatform(db, tx =>
    tx.selectFrom('installation').select('kek_id').executeTakeFirst()
  )
  return row?.kek_id
}

export async function recordKekId(deps: Pick<Deps, 'db' | 'keys' | 'clock'>): Promise<void> {
  await inPlatform(deps.db, tx =>
    tx
      .insertInto('installation')
      .values({ kek_id: deps.keys.kekId, created_at: deps.clock() })
      .onConflict(conflict => conflict.column('only_row').doNothing())
      .execute()
  )
}

/** Throws unless the database answers a request's own role. */
export async function askDatabase(deps: Pick<Deps, 'db'>): Promise<void> {
  await inPlatform(deps.db, tx => sql`select 1`.execute(tx))
}

/** Every company of the installation; their rows are then read one company at a time. */
export async function listCompanies(deps: Pick<Deps, 'db'>): Promise<CompanyId[]> {
  const result = await inPlatform(deps.db, tx =>
    sql<{ id: string }>`select list_companies() as id`.execute(tx)
  )
  return result.rows.map(({ id }) => companyId(id))
}

/** Fills an empty database: the installation's own company, and one that shows another brand and limits. */
export async function seedInstallation(deps: Deps, demo: boolean): Promise<void> {
  if ((await listCompanies(deps)).length > 0) return
  await createCompany(deps, {
    name: localhostNames.company,
    domains: [
      {
        host: 'localhost',
        name: localhostNames.name,
        title: localhostNames.title,
        public: true,
        theme: localhostTheme
      }
    ],
    locale: 'en',
    limits: { max_requests: null, max_requests_interval: null, max_storage: null }
  })
  if (!demo) return
  await createCompany(deps, {
    name: demoNames.company,
    domains: [
      {
        host: 'demo.localhost',
        name: demoNames.name,
        title: demoNames.title,
        public: true,
        theme: demoTheme
      }
    ],
    locale: 'fr',
    limits: { max_requests: 1000, max_requests_interval: 'P30D', max_storage: gigabyte }
  })
}
