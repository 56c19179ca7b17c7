import { sql } from 'kysely'
import { selectInCompany } from '../../db/company-queries.ts'
import { inCompany } from '../../db/scope.ts'
import type { CompanyId, Deps } from '../deps.ts'

// a client whose last event is older must load its list again
const eventDays = 90
const eventBatch = 1000

// the newest may have been deleted; without any event, the oldest is the newest + 1
export async function readEventSequenceBounds(
  deps: Pick<Deps, 'db'>,
  company_id: CompanyId
): Promise<{ newest: number; oldest: number }> {
  const { newest, first } = await inCompany(deps.db, company_id, tx =>
    selectInCompany(tx, 'log_head')
      .select(({ selectFrom }) => [
        'event_seq as newest',
        selectFrom('event')
          .select('seq')
          .where('company_id', '=', company_id)
          .orderBy('seq')
          .limit(1)
          .as('first')
      ])
      .executeTakeFirstOrThrow()
  )
  return { newest, oldest: first ?? newest + 1 }
}

/** The oldest 1000, so that the remaining ones have no gaps. Returns whether there may be more. */
export async function deleteExpiredEvents(
  deps: Pick<Deps, 'db' | 'clock'>,
  company_id: CompanyId
): Promise<boolean> {
  const before = new Date(deps.clock().getTime() - eventDays * 86_400_000)
  return inCompany(deps.db, company_id, async tx => {
    const statement = deleteExpiredEventsStatement(company_id, before, eventBatch)
    return (await statement.execute(tx)).rows.length === eventBatch
  })
}

// sequence numbers grow with time, so the primary key finds the events and no other index is needed
export const deleteExpiredEventsStatement = (company_id: CompanyId, before: Date, batch: number) =>
  sql<{ seq: number }>`
      with oldest as (
        select seq, created_at from event
        where company_id = ${company_id}::uuid order by seq limit ${batch}::int
      )
      delete from event
      where company_id = ${company_id}::uuid and seq in (
        select seq from oldest where seq < coalesce(
          (select min(seq) from oldest where created_at >= ${before}::timestamptz),
          (select max(seq) + 1 from oldest)
        )
      )
      returning seq`
