import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import { inPlatform } from '../../db/scope.ts'
import { listCompanyIds } from '../companies/companies.ts'
import { createCompany } from '../companies/new-companies.ts'
import type { Deps } from '../deps.ts'
import { localhostTheme } from './localhost-theme.ts'

/**
 * Returns the id of the root secret with which the data of this database are encrypted, or
 * undefined before the first start.
 */
export async function recordedKekId(db: Db): Promise<string | undefined> {
  const row = await inPlatform(db, tx =>
    tx.selectFrom('installation').select('kek_id').executeTakeFirst()
  )
  return row?.kek_id
}

/**
 * Records in the database which root secret this process uses. Throws if another one is recorded,
 * because data encrypted with this process's secret could then never be decrypted.
 */
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

/** Runs a query in the database role that serves calls. Throws if the database does not answer. */
export async function pingDatabase(deps: Pick<Deps, 'db'>): Promise<void> {
  await inPlatform(deps.db, tx => sql`select 1`.execute(tx))
}

/** The names that the installation's own company has before it is set up. */
export const localhostNames = { name: 'Vidimus', title: 'Vidimus', company: 'Vidimus' }

/**
 * The limits of the default group of a new installation. Everybody who signs up joins the default
 * group.
 */
const defaultLimits = {
  max_requests: 100_000,
  max_requests_interval: 'P30D',
  max_storage: 100_000_000_000
} as const

/**
 * Creates the installation's own company if the database is empty. Returns whether this process has
 * created it; of several that start together, one does.
 */
export async function seedInstallation(
  deps: Deps,
  {
    host,
    isPublic,
    ...names
  }: { host: string; name: string; title: string; company: string; isPublic: boolean }
): Promise<boolean> {
  if ((await listCompanyIds(deps)).length > 0) return false
  try {
    await createCompany(deps, {
      name: names.company,
      domains: [
        { host, name: names.name, title: names.title, public: isPublic, theme: localhostTheme }
      ],
      locale: 'en',
      limits: defaultLimits
    })
    return true
  } catch (error) {
    // another process has created it in the meantime
    if ((await listCompanyIds(deps)).length > 0) return false
    throw error
  }
}
