import { type KeyboardEvent, type ReactNode, useRef, useState } from 'react'
import { Icon } from '../kit/Icon.tsx'
import { rowStep } from './row-keys.ts'

export interface Column<Row> {
  /** Also the name by which the server sorts, where it does. */
  id: string
  label: string
  cell: (row: Row) => ReactNode
  isSortable?: boolean
  /** Left out in windows below 1280 px. */
  isSecondary?: boolean
}

interface DataTableProps<Row> {
  /** Names the table for screen readers. */
  label: string
  /** The first column names the row and is its link. */
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  hrefOf: (row: Row) => string
  /** `name`, or `-name` for the reverse order. */
  sort: string
  onSort: (sort: string) => void
  /** Whether newer rows are being loaded. */
  isBusy: boolean
}

/**
 * A table whose rows are links. Tab reaches one row, and arrow keys, Home and End lead to the
 * others. Below 600 px each row is a card of two lines, and the headings that sort stay above them.
 */
export function DataTable<Row extends { id: string }>(props: DataTableProps<Row>) {
  const { label, columns, rows, hrefOf, sort, onSort, isBusy } = props
  const body = useRef<HTMLTableSectionElement>(null)
  const [active, setActive] = useState<string>()
  const stop = rows.some(({ id }) => id === active) ? active : rows[0]?.id

  const onKeyDown = (event: KeyboardEvent) => {
    const here = rows.findIndex(({ id }) => id === stop)
    const step = rowStep(event, here, rows.length)
    const row = step === undefined ? undefined : rows[step]
    if (!row) return
    event.preventDefault()
    setActive(row.id)
    const link = body.current?.querySelector<HTMLElement>(`[data-row="${row.id}"] a`)
    link?.focus({ preventScroll: true })
    link?.closest('tr')?.scrollIntoView({ block: 'nearest' })
  }

  return (
    <table className="data-table sheet" aria-label={label} aria-busy={isBusy}>
      <thead>
        <tr>
          {columns.map(column => (
            <Heading key={column.id} column={column} sort={sort} onSort={onSort} />
          ))}
        </tr>
      </thead>
      <tbody ref={body} onKeyDown={onKeyDown}>
        {rows.map(row => (
          <tr key={row.id} data-row={row.id} onFocus={() => setActive(row.id)}>
            {columns.map(({ id, label: heading, cell, isSecondary }, at) =>
              at === 0 ? (
                <th key={id} scope="row">
                  <a href={hrefOf(row)} tabIndex={row.id === stop ? 0 : -1}>
                    {cell(row)}
                  </a>
                </th>
              ) : (
                <td key={id} data-label={heading} data-secondary={isSecondary}>
                  {cell(row)}
                </td>
              )
            )}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

interface HeadingProps<Row> {
  column: Column<Row>
  sort: string
  onSort: (sort: string) => void
}

function Heading<Row>({ column, sort, onSort }: HeadingProps<Row>) {
  const { id, label, isSortable, isSecondary } = column
  if (!isSortable) {
    return (
      <th scope="col" data-secondary={isSecondary}>
        {label}
      </th>
    )
  }
  const order = sort === id ? 'ascending' : sort === `-${id}` ? 'descending' : undefined
  return (
    <th scope="col" aria-sort={order} data-sortable data-secondary={isSecondary}>
      <button type="button" onClick={() => onSort(order === 'ascending' ? `-${id}` : id)}>
        {label}
        <Icon name="chevron" className={`size-4 ${order ? '' : 'invisible'}`} />
      </button>
    </th>
  )
}
