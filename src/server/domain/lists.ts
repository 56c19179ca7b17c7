import {
  type RawBuilder,
  type ReferenceExpression,
  type SelectQueryBuilder,
  type StringReference,
  sql
} from 'kysely'
import { AppError } from '../../contract/errors.ts'
import { defaultLimit } from '../../contract/lists.ts'
import { searchWords } from '../../core/text/search-words.ts'

/** The page of a list that a caller asks for. */
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

/** A column or an expression by which a list is sorted. */
type SortKey<DB, TB extends keyof DB> = StringReference<DB, TB> | RawBuilder<unknown>

/**
 * The orders in which a list can be sorted. `sorts` has the columns or expressions for each value
 * of `sort`; rows that are equal in them are sorted by `id`.
 */
interface Orders<DB, TB extends keyof DB> {
  id: StringReference<DB, TB>
  sorts: Record<string, readonly SortKey<DB, TB>[]>
  /**
   * The value of `sort` for a call without one. A value that begins with `-` sorts in descending
   * order.
   */
  usual: string
}

/**
 * Reads a page of a list. `all` selects the rows of the whole list; `select` adds search, filters
 * and columns. The page begins after the row that the cursor names, where that row stands now. So
 * rows that are added or removed between two pages make no row appear twice or go missing. Throws
 * `not_found` if the list has no row with the cursor's id.
 */
export async function readPage<DB, TB extends keyof DB, Row extends { id: string }>(
  all: SelectQueryBuilder<DB, TB, object>,
  { id, sorts, usual }: Orders<DB, TB>,
  { limit = defaultLimit, cursor, sort = usual }: PageInput,
  select: (rows: SelectQueryBuilder<DB, TB, object>) => SelectQueryBuilder<DB, TB, Row>
): Promise<Page<Row>> {
  const isReverse = sort.startsWith('-')
  const keys = [...(sorts[isReverse ? sort.slice(1) : sort] ?? []), id].map(key =>
    typeof key === 'string' ? sql.ref(key) : key
  )
  let rows = all
  if (cursor !== undefined) {
    const place = await readPlace(all, id, cursor, keys)
    const comparison = sql.raw(isReverse ? '<' : '>')
    rows = rows.where(sql<boolean>`(${sql.join(keys)}) ${comparison} (${sql.join(place)})`)
  }
  let page = select(rows)
  for (const key of keys) page = page.orderBy(key, isReverse ? 'desc' : 'asc')
  // one row more than the page, to know whether there are others
  const found = await page.limit(limit + 1).execute()
  const items = found.slice(0, limit)
  return { items, next: found.length > limit ? items.at(-1)?.id : undefined }
}

/**
 * Returns the values of the sort columns of the row that the cursor names. They are text, because a
 * `Date` would lose the microseconds of a time. Throws `not_found` if the list has no such row.
 */
async function readPlace<DB, TB extends keyof DB>(
  all: SelectQueryBuilder<DB, TB, object>,
  id: StringReference<DB, TB>,
  cursor: string,
  keys: RawBuilder<unknown>[]
): Promise<string[]> {
  const texts = sql<string[]>`array[${sql.join(keys.map(key => sql`${key}::text`))}]`
  const named = all.where(id, '=', cursor as never) // as: an id is a text, whatever the table
  const row = await named
    .select(texts.as('place'))
    .$castTo<{ place: string[] }>()
    .executeTakeFirst()
  if (!row) throw new AppError('not_found', 'The cursor names no item of the list')
  return row.place
}

/**
 * Adds the condition that `column` contains every word of `q`. The column must contain text without
 * case and accents.
 */
export function searched<DB, TB extends keyof DB, Row>(
  rows: SelectQueryBuilder<DB, TB, Row>,
  column: ReferenceExpression<DB, TB> & string,
  q: string | undefined
): SelectQueryBuilder<DB, TB, Row> {
  return searchWords(q ?? '').reduce(
    (found, word) => found.where(sql<boolean>`strpos(${sql.ref(column)}, ${word}) > 0`),
    rows
  )
}
