import { sql } from 'kysely'
import { AppError } from '../../../contract/kit/errors.ts'
import type { ProcessedRequest } from '../../../contract/requests.ts'
import { foldText } from '../../../core/text/search-words.ts'
import { selectById, selectInCompany } from '../../db/company-queries.ts'
import { allowedCategoriesQuery } from '../../db/joins.ts'
import { type ConnectionRequestOptions, inCompany, type Tx } from '../../db/scope.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { addSearchCondition, type Page, type PageInput, readPage } from '../lists.ts'

type Facts = Omit<ProcessedRequest, 'id' | 'kind' | 'created' | 'seq' | 'state' | 'code'>

/** The new state of a request (entry of the history), before it gets its sequence number. */
export interface RequestStateToRecord {
  id: string
  user_id: string
  kind: ProcessedRequest['kind']
  state: ProcessedRequest['state']
  code?: string
  created: Date
  facts: Facts
}

/**
 * Writes the new state of a request (entry of the history) and an event that reports it, both with
 * the company's next sequence number. Returns the request with this number. Locks the row that
 * stores the last sequence number, so the transaction must lock no other row afterwards.
 */
export async function recordRequestState(
  tx: Tx,
  deps: Pick<Deps, 'signals' | 'clock'>,
  company_id: CompanyId,
  draft: RequestStateToRecord
): Promise<ProcessedRequest> {
  const [request] = await recordRequestStates(tx, deps, company_id, [draft])
  if (!request) throw new Error('a state was recorded and not returned')
  return request
}

/**
 * Writes the new states of several requests (entries of the history) in the given order, with one
 * statement. Does for each what `recordRequestState` does for one. Returns the requests in the same
 * order.
 */
export async function recordRequestStates(
  tx: Tx,
  deps: Pick<Deps, 'signals' | 'clock'>,
  company_id: CompanyId,
  drafts: readonly RequestStateToRecord[]
): Promise<ProcessedRequest[]> {
  const wires = drafts.map(draft =>
    wireOf({ ...draft, code: draft.code ?? null, created_at: draft.created })
  )
  const of = <Value>(read: (draft: RequestStateToRecord) => Value) => drafts.map(read)
  await tx.writeAuditEntries()
  const result = await tx.raw<{ seq: number }>({
    text: recordStatesSql,
    values: [
      company_id,
      deps.clock(),
      drafts.length,
      of(draft => draft.id),
      of(draft => draft.user_id),
      of(draft => draft.kind),
      of(draft => draft.state),
      of(draft => draft.code ?? null),
      of(draft => draft.created),
      of(draft => JSON.stringify(draft.facts)),
      wires.map(wire => JSON.stringify(wire)),
      of(draft => (draft.facts.name === undefined ? null : foldText(draft.facts.name))),
      of(draft => draft.facts.category_id ?? null)
    ]
  })
  const last = result[0]?.seq
  if (last === undefined) throw new Error(`company ${company_id} has no log head`)
  const users = new Set(of(draft => draft.user_id))
  tx.afterCommit(() => {
    for (const user of users) deps.signals.events.send({ company: company_id, user })
  })
  return wires.map((wire, at) => ({ ...wire, seq: last - wires.length + 1 + at }))
}

const recordStatesSql = `
  with head as (
    update log_head set event_seq = event_seq + $3::bigint where company_id = $1
    returning event_seq as last
  ), change as (
    select head.last - $3::bigint + nth as seq, given.*
    from head, unnest(
      $4::uuid[], $5::uuid[], $6::text[], $7::text[], $8::text[], $9::timestamptz[], $10::jsonb[],
      $11::jsonb[], $12::text[], $13::uuid[]
    ) with ordinality as given (
      id, user_id, kind, state, code, created_at, facts, payload, search_name, category_id, nth
    )
  ), changed as (
    insert into request (
      company_id, id, user_id, kind, state, code, seq, created_at, facts, search_name, category_id
    )
    select $1, id, user_id, kind, state, code, seq, created_at, facts, search_name, category_id
    from change
    on conflict (company_id, id) do update
      set state = excluded.state, code = excluded.code, seq = excluded.seq, facts = excluded.facts,
          search_name = excluded.search_name, category_id = excluded.category_id
  ), recorded as (
    insert into event (company_id, seq, user_id, request_id, payload, created_at)
    select $1, seq, user_id, id, payload || jsonb_build_object('seq', seq), $2 from change
  )
  select last as seq from head`

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

/** Selects requests (entries of the history). The period includes `from` and excludes `to`. */
export interface RequestFilter {
  company_id: CompanyId
  /** The person whose requests are listed. `everybody` stands for all people of the company. */
  user_id: string | 'everybody'
  kind?: string | undefined
  state?: string | undefined
  category?: string | undefined
  /** Words that must occur in the name of the document. */
  q?: string | undefined
  from?: string | undefined
  to?: string | undefined
}

/**
 * Returns whether a query with this filter may have to read many rows that it does not return. Such
 * queries together get only a few database connections.
 */
function isSearch({ kind, state, q, from, to }: RequestFilter): boolean {
  return [kind, state, q, from, to].some(each => each !== undefined)
}

/**
 * Returns a page of requests (entries of the history), newest first. Throws `not_found` if the
 * filter names a category that does not exist. If the filter is for one person, also throws
 * `not_found` if the person may not use the category and has no request in it.
 */
export async function listRequests(
  deps: Pick<Deps, 'db'>,
  { caller, ...input }: RequestFilter & PageInput & Pick<ConnectionRequestOptions, 'caller'>
): Promise<Page<ProcessedRequest>> {
  const options = { isHeavy: isSearch(input), caller }
  const read = async (tx: Tx) => {
    const page = await readRequests(tx, input)
    if (page.items.length === 0) await requireVisibleFilterCategory(tx, input)
    return page
  }
  return inCompany(deps.db, input.company_id, read, options)
}

/** Reads a page of requests (entries of the history), newest first, in the transaction `tx`. */
export async function readRequests(
  tx: Tx,
  input: RequestFilter & PageInput
): Promise<Page<ProcessedRequest>> {
  const { user_id, limit, cursor } = input
  const isWhole = user_id === 'everybody'
  // ids grow with time, and the company's rows have an index in their order
  const sorts = { created: isWhole ? [] : (['created_at'] as const) }
  const orders = { id: 'id', sorts, usual: '-created' } as const
  const { items, next } = await readPage(requestsOf(tx, input), orders, { limit, cursor }, rows =>
    filtered(rows, input).selectAll()
  )
  const requests = items.map(row => ({
    ...wireOf(row),
    seq: row.seq,
    ...(isWhole ? { user_id: row.user_id } : {})
  }))
  return { items: requests, next }
}

function requestsOf(tx: Tx, { user_id }: Pick<RequestFilter, 'user_id'>) {
  const all = selectInCompany(tx, 'request')
  return user_id === 'everybody' ? all : all.where('user_id', '=', user_id)
}

function filtered(
  all: ReturnType<typeof requestsOf>,
  { kind, state, category, q, from, to }: Omit<RequestFilter, 'company_id' | 'user_id'>
) {
  let rows = addSearchCondition(all, 'search_name', q)
  if (kind !== undefined) rows = rows.where('kind', '=', kind)
  if (state !== undefined) rows = rows.where('state', '=', state)
  if (category !== undefined) rows = rows.where('category_id', '=', category)
  if (from !== undefined) rows = rows.where('created_at', '>=', new Date(from))
  if (to !== undefined) rows = rows.where('created_at', '<', new Date(to))
  return rows
}

/**
 * Checks that a filter may name its category. A filter for the whole company may name every
 * category that exists. A filter for one person may name a category that the person may use, or in
 * which the person already has a request (entry of the history). Throws `not_found` for any other
 * category.
 */
export async function requireVisibleFilterCategory(
  tx: Tx,
  { company_id, user_id, category }: RequestFilter
): Promise<void> {
  if (category === undefined) return
  if (user_id === 'everybody') {
    const found = await selectById(tx, 'category', category).select('id').executeTakeFirst()
    if (!found) throw new AppError('not_found', 'The company has no such category')
    return
  }
  const allowed = await allowedCategoriesQuery(tx, { company_id, user_id })
    .where('group_category.category_id', '=', category)
    .select('group_category.category_id')
    .limit(1)
    .executeTakeFirst()
  if (allowed) return
  const used = await filtered(requestsOf(tx, { user_id }), { category })
    .select('id')
    .limit(1)
    .executeTakeFirst()
  if (!used) throw new AppError('not_found', 'The caller has no such category')
}

/**
 * Returns a request (entry of the history) of a person. Throws `not_found` if the person has no
 * such request.
 */
export async function getRequest(
  deps: Pick<Deps, 'db'>,
  input: { company_id: CompanyId; user_id: string; id: string }
): Promise<ProcessedRequest> {
  return inCompany(deps.db, input.company_id, tx => readRequest(tx, input))
}

/**
 * Reads a request (entry of the history) of a person in the transaction `tx`. Throws `not_found` if
 * the person has no such request.
 */
export async function readRequest(
  tx: Tx,
  { user_id, id }: { user_id: string; id: string }
): Promise<ProcessedRequest> {
  const row = await selectById(tx, 'request', id)
    .selectAll()
    .where('user_id', '=', user_id)
    .executeTakeFirst()
  if (!row) throw new AppError('not_found', 'No such request')
  return { ...wireOf(row), seq: row.seq }
}

/** Reads requests (entries of the history) of a person. Returns them by id. */
export async function readRequestsById(
  tx: Tx,
  { user_id }: { user_id: string },
  ids: readonly string[]
): Promise<Map<string, ProcessedRequest>> {
  if (ids.length === 0) return new Map()
  const rows = await selectInCompany(tx, 'request')
    .selectAll()
    .where('user_id', '=', user_id)
    .where(sql<boolean>`id = any(${ids}::uuid[])`)
    .execute()
  return new Map(rows.map(row => [row.id, { ...wireOf(row), seq: row.seq }]))
}
