import { sql } from 'kysely'
import { inNoCompany } from '../../db/scope.ts'
import type { Deps } from '../deps.ts'

const weekMs = 7 * 24 * 3_600_000
// Each host has a second certificate for its API. Authorities issue a limited number for each
// registered domain, for example 50 a week.
const newHostsPerWeek = 20

/**
 * Anyone can make up hosts below a wildcard, so each wildcard has a weekly budget of new ones. A
 * host that was allowed once stays allowed.
 */
export async function allowCertificateBelowWildcard(
  deps: Pick<Deps, 'db' | 'clock'>,
  { name, wildcard }: { name: string; wildcard: string }
): Promise<boolean> {
  const now = deps.clock()
  const host = siteOf(name)
  return inNoCompany(deps.db, async tx => {
    const isKnown = () =>
      tx
        .selectFrom('certificate_name')
        .where('name', '=', host)
        .select('name')
        .executeTakeFirst()
        .then(found => found !== undefined)
    const isUsedUp = () =>
      tx
        .selectFrom('certificate_name')
        .where('wildcard', '=', wildcard)
        .where('allowed_at', '>', new Date(now.getTime() - weekMs))
        .select(sql<number>`count(*)`.as('count'))
        .executeTakeFirstOrThrow()
        .then(({ count }) => count >= newHostsPerWeek)
    if (await isKnown()) return true
    if (await isUsedUp()) return false
    // other processes may be asked at the same time
    await sql`lock table certificate_name in share row exclusive mode`.execute(tx)
    if (await isKnown()) return true
    if (await isUsedUp()) return false
    await tx
      .insertInto('certificate_name')
      .values({ name: host, wildcard, allowed_at: now })
      .execute()
    return true
  })
}

/** Outside of the wildcard's budget, from now on. */
export async function allowCertificateAlways(
  deps: Pick<Deps, 'db'>,
  { name, wildcard }: { name: string; wildcard: string }
): Promise<void> {
  await inNoCompany(deps.db, tx =>
    tx
      .insertInto('certificate_name')
      // an old name is not counted
      .values({ name: siteOf(name), wildcard, allowed_at: new Date(0) })
      .onConflict(on => on.column('name').doNothing())
      .execute()
  )
}

function siteOf(name: string): string {
  return name.startsWith('api.') ? name.slice(4) : name
}
