import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import { inNoCompany } from '../../db/scope.ts'
import { listCompanyIds } from '../companies/companies.ts'
import { createCompany } from '../companies/new-companies.ts'
import type { Deps } from '../deps.ts'
import { productTheme } from './product-theme.ts'

/** The secret that encrypts the data, or undefined before the first start. */
export async function findRootSecretId(db: Db): Promise<string | undefined> {
  const row = await inNoCompany(db, tx =>
    tx.selectFrom('installation').select('kek_id').executeTakeFirst()
  )
  return row?.kek_id
}

/**
 * Throws if the data was encrypted with another root secret, because this process could not decrypt
 * it.
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

/** Uses the database role that serves HTTP requests. */
export async function pingDatabase(deps: Pick<Deps, 'db'>): Promise<void> {
  await inNoCompany(deps.db, tx => sql`select 1`.execute(tx))
}

const defaultLimits = {
  max_requests: 100_000,
  max_requests_interval: 'P30D',
  max_storage: 100_000_000_000
} as const

/** Of several processes that start together, only one creates the company and returns true. */
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
