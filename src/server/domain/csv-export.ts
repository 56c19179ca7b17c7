import { byteOrderMark, type CellSeparator, csvRecord } from '../../core/csv/cells.ts'
import { inCompany, type Tx } from '../db/scope.ts'
import type { CompanyId, Deps } from './deps.ts'

// rows of a page: few, so that an export hardly delays other calls
const limit = 50

interface CsvExport<Item, Row> {
  company_id: CompanyId
  readPage: (
    tx: Tx,
    page: { limit: number; cursor: string | undefined }
  ) => Promise<{ items: Item[]; next?: string | null | undefined }>
  // called after the transaction of `readPage` has ended
  toRows: (items: Item[]) => Row[] | Promise<Row[]>
  columns: Record<string, (row: Row) => string | number | undefined>
  separator?: CellSeparator
}

/**
 * Yields CSV text. Reads a page when the client has taken the one before, so a slow client takes
 * little memory and keeps no transaction open.
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
