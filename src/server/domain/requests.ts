import { sql } from 'kysely'
import { AppError } from '../../contract/errors.ts'
import { ProcessedRequest } from '../../contract/requests.ts'
import { inCompany, inCompanyOnce, type Tx } from '../db/scope.ts'
import type { CompanyId, Deps } from './deps.ts'

/** Events older than this are gone; a reader that asks for one reloads its list. */
const eventDays = 90

type Facts = Omit<ProcessedRequest, 'id' | 'kind' | 'created' | 'seq' | 'state' | 'code'>

/** A request as it is about to be, before its sequence is known. */
export interface Draft {
  id: string
  user_id: string
  kind: ProcessedRequest['kind']
  state: ProcessedRequest['state']
  code?: string
  created: Date
  facts: Facts
}

/** A leaf that enters the record with the change. */
export interface NewLeaf {
  record_id: string
  leaf: string
  hash: Uint8Array
}

/**
 * Writes a request's new state, its event and its leaf under the company's next sequence. It locks the
 * company's head, so it is the last statement of every transaction.
 */
export async function publish(
  tx: Tx,
  deps: Pick<Deps, 'wakes' | 'clock'>,
  company_id: CompanyId,
  draft: Draft,
  leaf?: NewLeaf
): Promise<ProcessedRequest> {
  const wire = wireOf({ ...draft, code: draft.code ?? null, created_at: draft.created })
  const result = await tx.raw<{ seq: number }>({
    name: 'publish',
    text: publishSql,
    values: [
      company_id,
      draft.id,
      draft.user_id,
      draft.kind,
      draft.state,
      draft.code ?? null,
      draft.created,
      JSON.stringify(draft.facts),
      JSON.stringify(wire),
      deps.clock(),
      leaf?.record_id ?? null,
      leaf?.leaf ?? null,
      leaf ? Buffer.from(leaf.hash) : null
    ]
  })
  const seq = result[0]?.seq
  if (seq === undefined) throw new Error(`company ${company_id} has no log head`)
  tx.afterCommit(() => deps.wakes.events.send({ company: company_id, user: draft.user_id }))
  return { ...wire, seq }
}

const publishSql = `
  with head as (
    update log_head set event_seq = event_seq + 1 where company_id = $1 returning event_seq as seq
  ), changed as (
    insert into request (company_id, id, user_id, kind, state, code, seq, created_at, facts)
    select $1, $2, $3, $4, $5, $6, seq, $7, $8::jsonb from head
    on conflict (company_id, id) do update
      set state = excluded.state, code = excluded.code, seq = excluded.seq, facts = excluded.facts
  ), told as (
    insert into event (company_id, seq, user_id, request_id, payload, created_at)
    select $1, seq, $3, $2, $9::jsonb || jsonb_build_object('seq', seq), $10 from head
  ), sequenced as (
    insert into log_leaf (company_id, seq, record_id, leaf, hash)
    select $1, seq, $11, $12, $13 from head where $11::text is not null
  )
  select seq from head`

interface Row {
  id: string
  kind: string
  state: string
  code: string | null
  created_at: Date
  facts: Record<string, unknown>
}

function wireOf(row: Omit<Row, 'facts'> & { facts: object }): Omit<ProcessedRequest, 'seq'> {
  const { id, kind, state, code, created_at, facts } = row
  return {
    id,
    kind: kind as ProcessedRequest['kind'], // as: both columns are checked by the table
    created: created_at.toISOString(),
    state: state as ProcessedRequest['state'],
    ...(code === null ? {} : { code }),
    ...facts
  }
}

interface ListInput {
  company_id: CompanyId
  user_id: string
  limit?: number | undefined
  cursor?: string | undefined
  kind?: string | undefined
  state?: string | undefined
}

/** A person's requests, newest first; `cursor` is the id after which to go on. */
export async function listRequests(
  deps: Pick<Deps, 'db'>,
  input: ListInput
): Promise<ProcessedRequest[]> {
  return inCompany(deps.db, input.company_id, tx => readRequests(tx, input))
}

export async function readRequests(tx: Tx, input: ListInput): Promise<ProcessedRequest[]> {
  let query = tx
    .selectFrom('request')
    .selectAll()
    .where('company_id', '=', input.company_id)
    .where('user_id', '=', input.user_id)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(input.limit ?? 50)
  if (input.kind !== undefined) query = query.where('kind', '=', input.kind)
  if (input.state !== undefined) query = query.where('state', '=', input.state)
  if (input.cursor !== undefined) {
    const last = await tx
      .selectFrom('request')
      .select(['created_at', 'id'])
      .where('company_id', '=', input.company_id)
      .where('user_id', '=', input.user_id)
      .where('id', '=', input.cursor)
      .executeTakeFirst()
    if (!last) throw new AppError('not_found', 'The cursor names no request of the caller')
    query = query.where(
      sql<boolean>`(created_at, id) < (${last.created_at}::timestamptz, ${last.id}::uuid)`
    )
  }
  const rows = await query.execute()
  return rows.map(row => ({ ...wireOf(row), seq: row.seq }))
}

export async function getRequest(
  deps: Pick<Deps, 'db'>,
  input: { company_id: CompanyId; user_id: string; id: string }
): Promise<ProcessedRequest> {
  return inCompanyOnce(deps.db, input.company_id, tx => readRequest(tx, input))
}

export async function readRequest(
  tx: Tx,
  input: { company_id: CompanyId; user_id: string; id: string }
): Promise<ProcessedRequest> {
  const row = await tx
    .selectFrom('request')
    .selectAll()
    .where('company_id', '=', input.company_id)
    .where('user_id', '=', input.user_id)
    .where('id', '=', input.id)
    .executeTakeFirst()
  if (!row) throw new AppError('not_found', 'No such request')
  return { ...wireOf(row), seq: row.seq }
}

/** What a stream starts from: the newest sequence, and the oldest one still kept. */
export async function eventBounds(
  deps: Pick<Deps, 'db'>,
  company_id: CompanyId
): Promise<{ newest: number; oldest: number }> {
  return inCompany(deps.db, company_id, async tx => {
    const head = await tx
      .selectFrom('log_head')
      .select('event_seq')
      .where('company_id', '=', company_id)
      .executeTakeFirstOrThrow()
    const first = await tx
      .selectFrom('event')
      .select('seq')
      .where('company_id', '=', company_id)
      .orderBy('seq')
      .limit(1)
      .executeTakeFirst()
    return { newest: head.event_seq, oldest: first?.seq ?? head.event_seq + 1 }
  })
}

/** A page of a person's events after `seq`, and how far the company's events were looked through. */
export async function readEvents(
  deps: Pick<Deps, 'db'>,
  input: { company_id: CompanyId; user_id: string; after: number; limit: number }
): Promise<{ events: ProcessedRequest[]; seen: number }> {
  return inCompany(deps.db, input.company_id, async tx => {
    // the head first: what commits between the two reads is left for the next page
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

/** Forgets what no stream may resume from any more. */
export async function forgetEvents(
  deps: Pick<Deps, 'db' | 'clock'>,
  company_id: CompanyId
): Promise<void> {
  const before = new Date(deps.clock().getTime() - eventDays * 86_400_000)
  await inCompany(deps.db, company_id, tx =>
    tx
      .deleteFrom('event')
      .where('company_id', '=', company_id)
      .where('created_at', '<', before)
      .execute()
  )
}
