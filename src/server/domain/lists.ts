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

/** The page of a list that a caller requests. */
export interface PageInput<Sort extends string = string> {
  limit?: number | undefined
  /** Id of the last item of the previous page. Undefined for the first page. */
  cursor?: string | undefined
  sort?: Sort | undefined
}

/**
 * A page of a list. `next` is the cursor of the next page, or undefined if this page is the last.
 */
export interface Page<Item> {
  items: Item[]
  next: string | undefined
}

type SortKey<DB, TB extends keyof DB> = StringReference<DB, TB> | RawBuilder<unknown>

/**
 * The orders in which a list can be sorted. `sorts` has the columns or expressions for each value
 * of `sort`. Rows that are equal in them are sorted by `id`.
 */
interface Orders<DB, TB extends keyof DB> {
  id: StringReference<DB, TB>
  /** The column with the ids of the items, which are used as cursors. `id` by default. */
  cursor?: StringReference<DB, TB>
  sorts: Record<string, readonly SortKey<DB, TB>[]>
  /** The default value of `sort`. A value that begins with `-` sorts in descending order. */
  usual: string
}

/**
 * Reads a page of a list. `all` selects the rows of the whole list. `select` adds search, filters
 * and columns. The page begins right after the row whose id is the cursor, wherever that row now
 * stands in the list. Other rows that were added or removed since the previous page therefore cause
 * no repetitions or gaps. Throws `not_found` if that row is no longer in the list.
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

/**
 * Reads a page of a list whose rows are in several tables. Works like `readPage`, which reads a
 * list from one table. Each of `parts` selects the rows of one table, with the same column names.
 */
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

/**
 * Restricts a query to the rows after the cursor. `place` has the sort values of the cursor's row.
 * Without `place`, returns the query unchanged.
 */
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

/**
 * Returns the values of the sort columns of the row that the cursor names. They are text, because a
 * `Date` would lose the microseconds of a time. Throws `not_found` if the list has no such row.
 */
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

/**
 * Adds the condition that `column` contains every word of `q`. Case and accents of `q` are ignored;
 * the column must contain text in lower case and without accents.
 */
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
