import { byteOrderMark, type CellSeparator, csvRecord } from '../../core/csv/cells.ts'
import { inCompany, type Tx } from '../db/scope.ts'
import type { CompanyId, Deps } from './deps.ts'

/** The number of rows that are read at a time: few, so that an export hardly delays other calls. */
const limit = 50

interface CsvExport<Item, Row> {
  company_id: CompanyId
  /** Reads the page that begins at `cursor`. `next` is the cursor of the next page, if any. */
  readPage: (
    tx: Tx,
    page: { limit: number; cursor: string | undefined }
  ) => Promise<{ items: Item[]; next?: string | null | undefined }>
  /**
   * Turns the items of a page into rows of the CSV file. Called after the transaction of `readPage`
   * has ended.
   */
  toRows: (items: Item[]) => Row[] | Promise<Row[]>
  columns: Record<string, (row: Row) => string | number | undefined>
  separator?: CellSeparator
}

/**
 * Yields rows of the database as chunks of CSV text. Reads the next page only when the client has
 * taken the previous one. So a slow client takes up little memory and keeps no transaction open.
 */
export async function* exportCsv<Item, Row>(
  deps: Pick<Deps, 'db'>,
  { company_id, readPage, toRows, columns, separator = ',' }: CsvExport<Item, Row>
): AsyncGenerator<string, void, void> {
  let cursor: string | undefined
  do {
    const { items, next } = await inCompany(deps.db, company_id, tx =>
      readPage(tx, { limit, cursor })
    )
    const head =
      cursor === undefined ? byteOrderMark + csvRecord(Object.keys(columns), separator) : ''
    const rows = await toRows(items)
    const cells = rows.map(row => Object.values(columns).map(cell => cell(row)))
    yield head + cells.map(row => csvRecord(row, separator)).join('')
    cursor = next ?? undefined
  } while (cursor !== undefined)
}
