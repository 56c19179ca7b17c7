import {
  type ReferenceExpression,
  type SelectQueryBuilder,
  type StringReference,
  sql
} from 'kysely'
import { AppError } from '../../contract/errors.ts'
import { defaultLimit } from '../../contract/lists.ts'
import { searchWords } from '../../core/text/search-words.ts'

/** What a caller asks of a list. */
export interface PageInput<Sort extends string = string> {
  limit?: number | undefined
  /** Id of the last item of the page before. */
  cursor?: string | undefined
  sort?: Sort | undefined
}

/** A page of a list, and the cursor of the next page while more items follow. */
export interface Page<Item> {
  items: Item[]
  next: string | undefined
}

/** The orders of a list: for each value of `sort` the columns before the id, which comes last. */
interface Orders<DB, TB extends keyof DB> {
  id: StringReference<DB, TB>
  sorts: Record<string, readonly StringReference<DB, TB>[]>
  /** The order of a call that names none. */
  usual: string
}

/**
 * Reads a page of a list. `all` has the rows of the whole list, and `select` adds the search, the
 * filters and the columns. The page begins after the row that the cursor names, at that row's present
 * place: rows that are added or removed meanwhile repeat nothing and hide nothing. Throws `not_found`
 * for a cursor that names no row of the list.
 */
export async function readPage<DB, TB extends keyof DB, Row extends { id: string }>(
  all: SelectQueryBuilder<DB, TB, object>,
  { id, sorts, usual }: Orders<DB, TB>,
  { limit = defaultLimit, cursor, sort = usual }: PageInput,
  select: (rows: SelectQueryBuilder<DB, TB, object>) => SelectQueryBuilder<DB, TB, Row>
): Promise<Page<Row>> {
  const isReverse = sort.startsWith('-')
  const columns = [...(sorts[isReverse ? sort.slice(1) : sort] ?? []), id]
  let rows = all
  if (cursor !== undefined) {
    const place = await readPlace(all, id, cursor, columns)
    const comparison = sql.raw(isReverse ? '<' : '>')
    rows = rows.where(
      sql<boolean>`(${sql.join(columns.map(sql.ref))}) ${comparison} (${sql.join(place)})`
    )
  }
  let page = select(rows)
  for (const column of columns) page = page.orderBy(column, isReverse ? 'desc' : 'asc')
  // one row more than the page, to know whether there are others
  const found = await page.limit(limit + 1).execute()
  const items = found.slice(0, limit)
  return { items, next: found.length > limit ? items.at(-1)?.id : undefined }
}

/** Returns the values by which a row is sorted, as text, because a `Date` would round a time. */
async function readPlace<DB, TB extends keyof DB>(
  all: SelectQueryBuilder<DB, TB, object>,
  id: StringReference<DB, TB>,
  cursor: string,
  columns: StringReference<DB, TB>[]
): Promise<string[]> {
  const texts = sql<string[]>`array[${sql.join(columns.map(each => sql`${sql.ref(each)}::text`))}]`
  const named = all.where(id, '=', cursor as never) // as: an id is a text, whatever the table
  const row = await named
    .select(texts.as('place'))
    .$castTo<{ place: string[] }>()
    .executeTakeFirst()
  if (!row) throw new AppError('not_found', 'The cursor names no item of the list')
  return row.place
}

/** Keeps the rows whose `column`, a text without case and accents, contains every word of `q`. */
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
