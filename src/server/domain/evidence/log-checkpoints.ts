import { sql } from 'kysely'
import { inCompany } from '../../db/scope.ts'
import type { CompanyId, Deps } from '../deps.ts'

const keptDays = 90

/** Deletes old ones, but for each log's newest and its first, whose proof of the policy receipts have. */
export async function deleteOldCheckpoints(
  deps: Pick<Deps, 'db' | 'clock'>,
  company: CompanyId
): Promise<void> {
  const before = new Date(deps.clock().getTime() - keptDays * 86_400_000)
  await inCompany(deps.db, company, tx =>
    sql`
      delete from log_checkpoint old using log_state log
      where old.company_id = ${company} and log.company_id = ${company} and log.log_no = old.log_no
        and old.published_at < ${before} and old.size > 1 and old.size < log.published_size`.execute(
      tx
    )
  )
}
