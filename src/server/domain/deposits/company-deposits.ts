import type { ListedDeposit } from '../../../contract/company-deposits.ts'
import { selectInCompany } from '../../db/company-queries.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { addSearchCondition, type Page, type PageInput, readPage } from '../lists.ts'

interface Filter {
  q?: string | undefined
  category?: string | undefined
  user?: string | undefined
  from?: string | undefined
  to?: string | undefined
}

interface Listing extends PageInput<'created' | '-created'>, Filter {
  company_id: CompanyId
}

/** Returns whether a list with this filter may have to read many rows that it does not return. */
export function isSearch({ q, category, user, from, to }: Filter): boolean {
  return [q, category, user, from, to].some(each => each !== undefined)
}

export async function listDeposits(
  deps: Pick<Deps, 'db'>,
  { company_id, limit, cursor, sort, ...filter }: Listing
): Promise<Page<ListedDeposit>> {
  // ids of requests grow with time, and the deposits have an index in their order
  const orders = {
    id: 'deposit.request_id',
    cursor: 'deposit.id',
    sorts: { created: [] },
    usual: '-created'
  } as const
  const read = (tx: Tx) =>
    readPage(depositsOf(tx), orders, { limit, cursor, sort }, rows => filtered(rows, filter))
  const { items, next } = await inCompany(deps.db, company_id, read)
  return { items: items.map(toDeposit), next }
}

function depositsOf(tx: Tx) {
  return selectInCompany(tx, 'deposit').innerJoinLateral(
    ({ selectFrom }) =>
      selectFrom('request')
        .whereRef('request.company_id', '=', 'deposit.company_id')
        .whereRef('request.id', '=', 'deposit.request_id')
        .select(['request.created_at', 'request.facts', 'request.search_name'])
        // looked up for each deposit of the page: a merge would read all requests before it
        .limit(1)
        .as('request'),
    join => join.onTrue()
  )
}

function filtered(all: ReturnType<typeof depositsOf>, { q, category, user, from, to }: Filter) {
  let rows = addSearchCondition(all, 'request.search_name', q)
  if (category !== undefined) rows = rows.where('deposit.category_id', '=', category)
  if (user !== undefined) rows = rows.where('deposit.user_id', '=', user)
  if (from !== undefined) rows = rows.where('deposit.recorded_at', '>=', new Date(from))
  if (to !== undefined) rows = rows.where('deposit.recorded_at', '<', new Date(to))
  return rows.select(({ selectFrom }) => [
    'deposit.id',
    'deposit.request_id',
    'deposit.user_id',
    'deposit.category_id',
    'deposit.visibility',
    'deposit.recorded_at',
    'request.created_at',
    'request.facts',
    selectFrom('user')
      .whereRef('user.company_id', '=', 'deposit.company_id')
      .whereRef('user.id', '=', 'deposit.user_id')
      .where('user.deleted_at', 'is', null)
      .select('user.username')
      .as('username')
  ])
}

type Row = Awaited<ReturnType<ReturnType<typeof filtered>['execute']>>[number]
type Facts = Pick<
  ListedDeposit,
  'name' | 'size' | 'media_type' | 'leaf_hash' | 'keep_until' | 'erased'
> & { store?: ListedDeposit['store'] }

function toDeposit({ created_at, recorded_at, username, ...row }: Row): ListedDeposit {
  const { id, request_id, category_id, visibility } = row
  // as: the deposit was recorded together with these facts
  const { name, size, media_type, leaf_hash, store, keep_until, erased } = row.facts as Facts
  return {
    ...{ id, request_id, name, size, media_type, category_id, visibility, leaf_hash },
    user: { id: row.user_id, name: username },
    created: created_at.toISOString(),
    recorded: recorded_at.toISOString(),
    store: store ?? 'file',
    ...(keep_until === undefined ? {} : { keep_until }),
    ...(erased === undefined ? {} : { erased })
  }
}
