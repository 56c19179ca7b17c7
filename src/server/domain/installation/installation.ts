import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import { inNoCompany } from '../../db/scope.ts'
import { listCompanyIds } from '../companies/companies.ts'
import { createCompany } from '../companies/new-companies.ts'
import type { Deps } from '../deps.ts'
import { productTheme } from './product-theme.ts'

/**
 * Returns the id of the root secret that encrypts the data of this database, or undefined before
 * the first start.
 */
export async function findRootSecretId(db: Db): Promise<string | undefined> {
  const row = await inNoCompany(db, tx =>
    tx.selectFrom('installation').select('kek_id').executeTakeFirst()
  )
  return row?.kek_id
}

/**
 * Records in the database the id of this process's root secret, with which the data is encrypted.
 * Throws if the database already has the id of another root secret, because this process could not
 * decrypt the data.
 */
export async function recordOrCheckRootSecretId(
  deps: Pick<Deps, 'db' | 'keys' | 'clock'>
): Promise<void> {
  await inNoCompany(deps.db, tx =>
    tx
      .insertInto('installation')
      .values({ kek_id: deps.keys.rootSecretId, created_at: deps.clock() })
      .onConflict(conflict => conflict.column('only_row').doNothing())
      .execute()
  )
  const recorded = await findRootSecretId(deps.db)
  if (recorded !== deps.keys.rootSecretId) {
    throw new Error(
      `The database is encrypted with the root secret kek-${recorded}.key, but this process has kek-${deps.keys.rootSecretId}.key: start it with the keys folder that has the first.`
    )
  }
}

/**
 * Runs a query to check that the database answers. Uses the database role that serves HTTP
 * requests. Throws if there is no answer.
 */
export async function pingDatabase(deps: Pick<Deps, 'db'>): Promise<void> {
  await inNoCompany(deps.db, tx => sql`select 1`.execute(tx))
}

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
 * Creates the installation's own company if the database is empty. Returns true if this process has
 * created it. Of several processes that start together, only one does.
 */
export async function createFirstCompanyIfNone(
  deps: Deps,
  { host, name, isPublic }: { host: string; name: string; isPublic: boolean }
): Promise<boolean> {
  if ((await listCompanyIds(deps)).length > 0) return false
  try {
    await createCompany(deps, {
      name,
      domains: [{ host, name, title: name, public: isPublic, theme: productTheme }],
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
