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

/** Throws when another process was first with another root secret: what this one seals, nobody could open. */
export async function recordKekId(deps: Pick<Deps, 'db' | 'keys' | 'clock'>): Promise<void> {
  await inPlatform(deps.db, tx =>
    tx
      .insertInto('installation')
      .values({ kek_id: deps.keys.kekId, created_at: deps.clock() })
      .onConflict(conflict => conflict.column('only_row').doNothing())
      .execute()
  )
  const recorded = await recordedKekId(deps.db)
  if (recorded !== deps.keys.kekId) {
    throw new Error(
      `The database was made with the root secret ${recorded}, and this is ${deps.keys.kekId}: start again.`
    )
  }
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

/**
 * Fills a new database, once: the installation's own company, and one that shows another brand and
 * limits. A start that was cut short is completed by the next.
 */
export async function seedInstallation(deps: Deps, demo: boolean): Promise<void> {
  if (await isSeeded(deps)) return
  if (!(await hasHost(deps, 'localhost'))) {
    await createCompany(deps, {
      name: localhostNames.company,
      domains: [
        { host: 'localhost', public: true, theme: localhostTheme, ...wordsOf(localhostNames) }
      ],
      locale: 'en',
      limits: { max_requests: null, max_requests_interval: null, max_storage: null }
    })
  }
  if (demo && !(await hasHost(deps, 'demo.localhost'))) {
    await createCompany(deps, {
      name: demoNames.company,
      domains: [{ host: 'demo.localhost', public: true, theme: demoTheme, ...wordsOf(demoNames) }],
      locale: 'fr',
      limits: { max_requests: 1000, max_requests_interval: 'P30D', max_storage: gigabyte }
    })
  }
  await inPlatform(deps.db, tx =>
    tx.updateTable('installation').set({ seeded_at: deps.clock() }).execute()
  )
}

async function isSeeded(deps: Pick<Deps, 'db'>): Promise<boolean> {
  const row = await inPlatform(deps.db, tx =>
    tx.selectFrom('installation').select('seeded_at').executeTakeFirst()
  )
  return row?.seeded_at != null
}

async function hasHost(deps: Pick<Deps, 'db'>, host: string): Promise<boolean> {
  const found = await inPlatform(deps.db, tx =>
    sql`select 1 from resolve_host(${host})`.execute(tx)
  )
  return found.rows.length > 0
}

function wordsOf({ name, title }: { name: string; title: string }) {
  return { name, title }
}
