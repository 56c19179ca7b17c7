import { sql } from 'kysely'
import type { Db } from '../../db/open.ts'
import { inPlatform } from '../../db/scope.ts'
import { createCompany, listCompanies } from '../companies/companies.ts'
import type { Deps } from '../deps.ts'
import { localhostTheme } from './localhost-theme.ts'

/** Returns the id of the root secret of this database, or undefined before the first start. */
export async function recordedKekId(db: Db): Promise<string | undefined> {
  const row = await inPlatform(db, tx =>
    tx.selectFrom('installation').select('kek_id').executeTakeFirst()
  )
  return row?.kek_id
}

/**
 * Records the root secret. Throws where another process recorded another one first, because nobody
 * could open what this one seals.
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

/** Throws unless the database answers in the role of requests. */
export async function pingDatabase(deps: Pick<Deps, 'db'>): Promise<void> {
  await inPlatform(deps.db, tx => sql`select 1`.execute(tx))
}

/** Names of the installation's own company at its first start. */
export const localhostNames = { name: 'Vidimus', title: 'Vidimus', company: 'Vidimus' }

/** Limits of the default group of a new installation, which strangers join by signing up. */
const defaultLimits = {
  max_requests: 100_000,
  max_requests_interval: 'P30D',
  max_storage: 100_000_000_000
} as const

/**
 * Creates the installation's own company in an empty database. Returns whether this process created
 * it: of several that start together one does.
 */
export async function seedInstallation(
  deps: Deps,
  {
    host,
    isPublic,
    ...names
  }: { host: string; name: string; title: string; company: string; isPublic: boolean }
): Promise<boolean> {
  if ((await listCompanies(deps)).length > 0) return false
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
    // another process has created it meanwhile
    if ((await listCompanies(deps)).length > 0) return false
    throw error
  }
}
