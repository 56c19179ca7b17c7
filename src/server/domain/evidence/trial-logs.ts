import { sql } from 'kysely'
import { selectInCompany } from '../../db/company-queries.ts'
import { joinInCompany } from '../../db/joins.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import type { CompanyId, Deps } from '../deps.ts'

interface LogDomain {
  id: string
  host: string
  is_local: boolean
}

/** The domain that the company's next log is named after. */
export async function findDomainForLog(tx: Tx): Promise<LogDomain | undefined> {
  return (
    selectInCompany(tx, 'domain')
      .where('verified_at', 'is not', null)
      .where('host', 'not like', '*%')
      .select(['id', 'host', sql<boolean>`host ~ '(^|[.])localhost$'`.as('is_local')])
      // also if it is the primary one: the name of a log never changes
      .orderBy('is_local')
      .orderBy('is_primary', 'desc')
      .orderBy('created_at')
      .limit(1)
      .executeTakeFirst()
  )
}

/**
 * The company's current log, if it was begun on `localhost` and its successor would have the name of
 * a domain. Undefined while the log is frozen, which is to be mended first, and for the demonstration.
 */
export async function findTrialLog(
  tx: Tx
): Promise<{ origin: string; domain: LogDomain } | undefined> {
  const log = await selectInCompany(tx, 'log_head')
    .innerJoin('log_state', join => joinInCompany(join, 'log_state.log_no', 'log_head.log_no'))
    .innerJoin('company', 'company.id', 'log_head.company_id')
    .where('company.demo', 'is', null)
    .where('log_state.state', '=', 'running')
    .where(sql<boolean>`log_head.origin ~ '^([^/:]+[.])?localhost[/:]'`)
    .select('log_head.origin')
    .executeTakeFirst()
  const domain = log && (await findDomainForLog(tx))
  return domain && !domain.is_local ? { origin: log.origin, domain } : undefined
}

/** The host that the successor of this log would be named after, or null if the log was no trial. */
export async function findBetterHost(
  { db }: Pick<Deps, 'db'>,
  { company, origin }: { company: CompanyId; origin: string }
): Promise<string | null> {
  const trial = await inCompany(db, company, findTrialLog)
  return trial?.origin === origin ? trial.domain.host : null
}
