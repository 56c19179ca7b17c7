import { sql } from 'kysely'
import { ProcessedRequest } from '../../../contract/requests.ts'
import { prepare } from '../../db/prepared-statements.ts'
import { inCompany, singleStatementInCompany } from '../../db/scope.ts'
import type { CompanyId, Deps } from '../deps.ts'

/**
 * Events are deleted after this many days. A client whose last event is older must load its list
 * again.
 */
const eventDays = 90
const eventBatch = 1000

/**
 * Returns the newest sequence number that an event of the company ever had, and the oldest one
 * whose event still exists.
 */
export async function readEventBounds(
  deps: Pick<Deps, 'db'>,
  company_id: CompanyId
): Promise<{ newest: number; oldest: number }> {
  const { newest, first } = await singleStatementInCompany(deps.db, company_id, tx =>
    tx
      .selectFrom('log_head')
      .where('company_id', '=', company_id)
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

/**
 * Returns a page of a person's events with higher sequence numbers than `after`. `seen` is the
 * sequence number up to which the company's events were searched; the next page continues there.
 */
export async function readEvents(
  deps: Pick<Deps, 'db'>,
  input: { company_id: CompanyId; user_id: string; after: number; limit: number }
): Promise<{ events: ProcessedRequest[]; seen: number }> {
  return inCompany(deps.db, input.company_id, async tx => {
    // read the head of the log first, so that later commits belong to the next page
    const head = await tx
      .selectFrom('log_head')
      .select('event_seq')
      .where('company_id', '=', input.company_id)
      .executeTakeFirstOrThrow()
    const rows = await tx
      .selectFrom('event')
      .select(['seq', 'payload'])
      .where('company_id', '=', input.company_id)
      .where('user_id', '=', input.user_id)
      .where('seq', '>', input.after)
      .where('seq', '<=', head.event_seq)
      .orderBy('seq')
      .limit(input.limit)
      .execute()
    const last = rows.at(-1)
    const events = rows.map(row => ProcessedRequest.parse(row.payload))
    return { events, seen: last && rows.length === input.limit ? last.seq : head.event_seq }
  })
}

/**
 * Deletes up to 1000 events of a company that are older than 90 days. Returns whether there may be
 * more. Deletes the oldest first, because a stream relies on having all events after the oldest
 * one.
 */
export async function deleteExpiredEvents(
  deps: Pick<Deps, 'db' | 'clock'>,
  company_id: CompanyId
): Promise<boolean> {
  const before = new Date(deps.clock().getTime() - eventDays * 86_400_000)
  return singleStatementInCompany(deps.db, company_id, async tx => {
    const deleted = await tx.run(deleteEventsStatement, { company_id, before, batch: eventBatch })
    return deleted.length === eventBatch
  })
}

/**
 * The statement that deletes a company's oldest events: `batch` at most, and only those older than
 * `before`. Sequence numbers grow with time, so the primary key finds the events and no other index
 * is needed.
 */
export const deleteEventsStatement = prepare(
  (_db, { company_id, before, batch }: { company_id: CompanyId; before: Date; batch: number }) =>
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
)
