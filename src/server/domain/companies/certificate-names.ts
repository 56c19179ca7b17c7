import { sql } from 'kysely'
import { inNoCompany } from '../../db/scope.ts'
import type { Deps } from '../deps.ts'

const weekMs = 7 * 24 * 3_600_000
/**
 * How many new names below a wildcard get a certificate in a week. Certificate authorities issue a
 * limited number for each registered domain, for example 50 a week.
 */
const newNamesPerWeek = 40

/**
 * Returns whether a proxy may request a certificate for a host below a served wildcard domain.
 * Anyone can make up such hosts, so each wildcard domain has a weekly budget of new ones. A host
 * that was allowed once stays allowed.
 */
export async function allowCertificateBelowWildcard(
  deps: Pick<Deps, 'db' | 'clock'>,
  { name, wildcard }: { name: string; wildcard: string }
): Promise<boolean> {
  const now = deps.clock()
  return inNoCompany(deps.db, async tx => {
    const isKnown = () =>
      tx
        .selectFrom('certificate_name')
        .where('name', '=', name)
        .select('name')
        .executeTakeFirst()
        .then(found => found !== undefined)
    if (await isKnown()) return true
    // scanners ask for many names at once
    await sql`lock table certificate_name in share row exclusive mode`.execute(tx)
    if (await isKnown()) return true
    const { count } = await tx
      .selectFrom('certificate_name')
      .where('wildcard', '=', wildcard)
      .where('allowed_at', '>', new Date(now.getTime() - weekMs))
      .select(sql<number>`count(*)`.as('count'))
      .executeTakeFirstOrThrow()
    if (count >= newNamesPerWeek) return false
    await tx.insertInto('certificate_name').values({ name, wildcard, allowed_at: now }).execute()
    return true
  })
}
