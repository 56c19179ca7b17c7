import {
  type RawBuilder,
  type ReferenceExpression,
  type SelectQueryBuilder,
  type StringReference,
  sql
} from 'kysely'
import { AppError } from '../../contract/kit/errors.ts'
import { defaultPageSize } from '../../contract/kit/lists.ts'
import { splitSearchIntoWords } from '../../core/text/search-words.ts'
import type { Tx } from '../db/scope.ts'

export interface PageInput<Sort extends string = string> {
  limit?: number | undefined
  // id of the last item of the page before
  cursor?: string | undefined
  sort?: Sort | undefined
}

export interface Page<Item> {
  items: Item[]
  next: string | undefined
}

type SortKey<DB, TB extends keyof DB> = StringReference<DB, TB> | RawBuilder<unknown>

interface Orders<DB, TB extends keyof DB> {
  id: StringReference<DB, TB>
  // the ids that are cursors; `id` by default
  cursor?: StringReference<DB, TB>
  sorts: Record<string, readonly SortKey<DB, TB>[]>
  // a leading `-` sorts in descending order
  usual: string
}

/**
 * The page begins right after the cursor's row, wherever that row now stands, so rows that were
 * added or removed meanwhile cause no repetition or gap. Throws `not_found` if the row has left the
 * list.
 */
export async function readPage<DB, TB extends keyof DB, Row extends { id: string }>(
  all: SelectQueryBuilder<DB, TB, object>,
  orders: Orders<DB, TB>,
  { limit = defaultPageSize, cursor, sort = orders.usual }: PageInput,
  select: Select<DB, TB, Row>
): Promise<Page<Row>> {
  const order = orderOf(orders, sort)
  const named = orders.cursor ?? orders.id
  const place = cursor === undefined ? undefined : await readPlace([all], named, cursor, order)
  const page = sorted(select(behind(all, order, place)), order)
  // one row more than the page, to know whether there are others
  return pageOf(await page.limit(limit + 1).execute(), limit)
}

/** As `readPage`, for rows of several tables with the same column names. */
export async function readMergedPage<DB, TB extends keyof DB, Row extends { id: string }>(
  tx: Tx,
  parts: readonly SelectQueryBuilder<DB, TB, object>[],
  orders: Orders<DB, TB>,
  { limit = defaultPageSize, cursor, sort = orders.usual }: PageInput,
  select: Select<DB, TB, Row>
): Promise<Page<Row>> {
  const order = orderOf(orders, sort)
  const place = cursor === undefined ? undefined : await readPlace(parts, orders.id, cursor, order)
  const columns = order.keys.map((key, at) => key.as(`key${at}`))
  // sorted and cut off part by part, so that each part is read from its index
  const cut = parts.map(part =>
    sorted(select(behind(part, order, place)).select(columns), order).limit(limit + 1)
  )
  const direction = sql.raw(order.isReverse ? 'desc' : 'asc')
  const by = columns.map((_, at) => sql`${sql.ref(`key${at}`)} ${direction}`)
  const { rows } = await sql<Row>`
    select * from (${sql.join(cut, sql` union all `)}) as merged
    order by ${sql.join(by)} limit ${limit + 1}`.execute(tx)
  return pageOf(rows, limit)
}

type Select<DB, TB extends keyof DB, Row> = (
  rows: SelectQueryBuilder<DB, TB, object>
) => SelectQueryBuilder<DB, TB, Row>

interface Order {
  keys: RawBuilder<unknown>[]
  isReverse: boolean
}

function orderOf<DB, TB extends keyof DB>({ id, sorts }: Orders<DB, TB>, sort: string): Order {
  const isReverse = sort.startsWith('-')
  const keys = [...(sorts[isReverse ? sort.slice(1) : sort] ?? []), id].map(key =>
    typeof key === 'string' ? sql.ref(key) : key
  )
  return { keys, isReverse }
}

function sorted<DB, TB extends keyof DB, Row>(
  rows: SelectQueryBuilder<DB, TB, Row>,
  { keys, isReverse }: Order
): SelectQueryBuilder<DB, TB, Row> {
  return keys.reduce((all, key) => all.orderBy(key, isReverse ? 'desc' : 'asc'), rows)
}

function behind<DB, TB extends keyof DB, Row>(
  rows: SelectQueryBuilder<DB, TB, Row>,
  { keys, isReverse }: Order,
  place: string[] | undefined
): SelectQueryBuilder<DB, TB, Row> {
  if (place === undefined) return rows
  const comparison = sql.raw(isReverse ? '<' : '>')
  return rows.where(sql<boolean>`(${sql.join(keys)}) ${comparison} (${sql.join(place)})`)
}

function pageOf<Row extends { id: string }>(found: Row[], limit: number): Page<Row> {
  const items = found.slice(0, limit)
  return { items, next: found.length > limit ? items.at(-1)?.id : undefined }
}

// as text, because a `Date` would lose the microseconds of a time
async function readPlace<DB, TB extends keyof DB>(
  parts: readonly SelectQueryBuilder<DB, TB, object>[],
  id: StringReference<DB, TB>,
  cursor: string,
  { keys }: Order
): Promise<string[]> {
  const texts = sql<string[]>`array[${sql.join(keys.map(key => sql`${key}::text`))}]`
  for (const part of parts) {
    const row = await part
      .where(id, '=', cursor as never) // as: an id is a text, whatever the table
      .select(texts.as('place'))
      .$castTo<{ place: string[] }>()
      .executeTakeFirst()
    if (row) return row.place
  }
  throw new AppError('not_found', 'The cursor names no item of the list')
}

/** `column` must hold text in lower case and without accents. */
export function addSearchCondition<DB, TB extends keyof DB, Row>(
  rows: SelectQueryBuilder<DB, TB, Row>,
  column: ReferenceExpression<DB, TB> & string,
  q: string | undefined
): SelectQueryBuilder<DB, TB, Row> {
  return splitSearchIntoWords(q ?? '').reduce(
    (found, word) => found.where(sql<boolean>`strpos(${sql.ref(column)}, ${word}) > 0`),
    rows
  )
}
