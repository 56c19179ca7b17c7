import { deleteInCompany } from '../db/company-queries.ts'
import { inCompany } from '../db/scope.ts'
import type { CompanyId, Deps } from './deps.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs

/**
 * The tables whose rows expire, and for how many milliseconds after its expiry a row of the table
 * is kept.
 */
const expiring = [
  // a used challenge must not become valid again if the clock is set back
  ['used_challenge', hourMs],
  ['session', 30 * dayMs],
  ['signup', 0],
  ['mail_token', 7 * dayMs]
] as const

/**
 * Deletes expired rows of the company: used challenges an hour after they expire, sessions 30 days
 * after, sign-ups immediately and mail tokens a week after.
 */
export async function deleteExpiredRows(
  deps: Pick<Deps, 'db' | 'clock'>,
  company_id: CompanyId
): Promise<void> {
  const now = deps.clock().getTime()
  for (const [table, keptMs] of expiring) {
    await inCompany(deps.db, company_id, tx =>
      deleteInCompany(tx, table)
        .where('expires_at', '<', new Date(now - keptMs))
        .execute()
    )
  }
}
