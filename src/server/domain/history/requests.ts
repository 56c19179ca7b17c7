import { sql } from 'kysely'
import { AppError } from '../../../contract/kit/errors.ts'
import type { ProcessedRequest } from '../../../contract/requests.ts'
import { selectById, selectInCompany } from '../../db/company-queries.ts'
import { allowedCategoriesQuery } from '../../db/joins.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { readSeals } from '../evidence/seals.ts'
import { requestOf } from '../finish-with-logs.ts'
import { addSearchCondition, type Page, type PageInput, readPage } from '../lists.ts'

/** The period includes `from` and excludes `to`. */
export interface RequestFilter {
  company_id: CompanyId
  user_id: string | 'everybody'
  kind?: string | undefined
  state?: string | undefined
  category?: string | undefined
  q?: string | undefined
  from?: string | undefined
  to?: string | undefined
}

/** Returns whether a query with this filter may have to read many rows that it does not return. */
export function isSearch({
  kind,
  state,
  q,
  from,
  to
}: Pick<RequestFilter, 'kind' | 'state' | 'q' | 'from' | 'to'>): boolean {
  return [kind, state, q, from, to].some(each => each !== undefined)
}

export async function listRequests(
  deps: Pick<Deps, 'db'>,
  input: RequestFilter & PageInput
): Promise<Page<ProcessedRequest>> {
  const read = async (tx: Tx) => {
    const page = await readRequests(tx, input)
    if (page.items.length === 0) await requireVisibleFilterCategory(tx, input)
    return page
  }
  return inCompany(deps.db, input.company_id, read)
}

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
    ...requestOf(row),
    seq: row.seq,
    ...(isWhole ? { user_id: row.user_id } : {})
  }))
  return { items: await withSeals(tx, requests), next }
}

async function withSeals(tx: Tx, requests: ProcessedRequest[]): Promise<ProcessedRequest[]> {
  const recorded = requests.flatMap(({ state, deposit_id }) =>
    state === 'done' && deposit_id !== undefined ? [deposit_id] : []
  )
  const seals = await readSeals(tx, recorded)
  return requests.map(request => ({ ...request, ...seals.get(request.deposit_id ?? '') }))
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

// One person may name a category that they may use, or in which they already have a request.
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

export async function getRequest(
  deps: Pick<Deps, 'db'>,
  input: { company_id: CompanyId; user_id: string; id: string }
): Promise<ProcessedRequest> {
  const read = (tx: Tx) => readRequestsById(tx, input, [input.id])
  const request = (await inCompany(deps.db, input.company_id, read)).get(input.id)
  if (!request) throw new AppError('not_found', 'No such request')
  return request
}

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
  const requests = await withSeals(
    tx,
    rows.map(row => ({ ...requestOf(row), seq: row.seq }))
  )
  return new Map(requests.map(request => [request.id, request]))
}
