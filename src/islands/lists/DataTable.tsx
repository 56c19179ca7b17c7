import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import type { RowDensity } from '../../stores/lists/list-views.ts'
import {
  addShownRowsToSelection,
  countSelectedRows,
  emptySelection,
  extendRange,
  isSelected,
  type RowSelection,
  toggleRow,
  toggleShownRows
} from '../../stores/lists/selection.ts'
import { Icon } from '../kit/Icon.tsx'
import { useTranslation } from '../kit/use-translation.ts'
import { RowBlock } from './RowBlock.tsx'
import type { PressedKey } from './row-keys.ts'
import { findRowForPressedKey } from './row-keys.ts'

export interface TableColumn<Row> {
  /** `sort` contains it. */
  id: string
  label: string
  cell: (row: Row) => ReactNode
  isSortable?: boolean
  /** Hidden in windows below 1280 px, unless the person has chosen to see it. */
  isSecondary?: boolean
  /** In proportion to the other columns. The default is 1. */
  width?: number
}

interface Selecting<Row> {
  selection: RowSelection
  onSelect: (selection: RowSelection) => void
  nameOf: (row: Row) => string
}

export interface DataTableProps<Row> {
  label: string
  /** The first cell contains the name and the link of the row. */
  columns: readonly TableColumn<Row>[]
  rows: readonly Row[]
  hrefOf: (row: Row) => string
  /** `name`, or `-name` for the reverse order. */
  sort: string
  onSort: (sort: string) => void
  isBusy: boolean
  density?: RowDensity
  selecting?: Selecting<Row>
}

// drawn or left out together
const blockRows = 50

// Tab focuses one row, and the keys of `selectionAfterKey()` and `findRowForPressedKey()` move on
export function DataTable<Row extends { id: string }>(props: DataTableProps<Row>) {
  const { label, columns, rows, sort, onSort, isBusy, density = 'comfortable', selecting } = props
  const { t } = useTranslation()
  const hint = useId()
  const table = useRef<HTMLTableElement>(null)
  const wanted = useRef<string>(undefined)
  const [active, setActive] = useState<string>()
  const shown = rows.map(({ id }) => id)
  const stop = active !== undefined && shown.includes(active) ? active : shown[0]
  const stopAt = shown.indexOf(stop ?? '')

  // the row that gets the focus may have to be drawn first
  useEffect(() => {
    const link = table.current?.querySelector<HTMLElement>(`[data-row="${wanted.current}"] a`)
    if (!link) return
    wanted.current = undefined
    link.focus({ preventScroll: true })
    link.closest('tr')?.scrollIntoView({ block: 'nearest' })
  })

  const moveTo = (id: string | undefined) => {
    wanted.current = id
    setActive(id)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const { target, key } = event
    const isOnBox = target instanceof HTMLInputElement && key === ' '
    const chosen =
      selecting && !isOnBox && stop !== undefined
        ? selectionAfterKey(event, { selection: selecting.selection, shown, here: stop })
        : undefined
    const step = findRowForPressedKey(event, stopAt, rows.length)
    if (!chosen && step === undefined) return
    event.preventDefault()
    if (chosen) selecting?.onSelect(chosen.selection)
    const next = chosen ? chosen.focus : shown[step ?? 0]
    if (chosen?.focus !== stop) moveTo(next)
  }
  const total = columns.reduce((sum, { width = 1 }) => sum + width, 0)
  const look = `${density} ${columns.map(({ id }) => id).join(' ')}`
  const blocks = Array.from({ length: Math.ceil(rows.length / blockRows) }, (_, at) => at)

  return (
    <table
      ref={table}
      className="data-table sheet"
      aria-label={label}
      aria-describedby={selecting && hint}
      aria-busy={isBusy}
      aria-rowcount={rows.length + 1}
      data-density={density}
      data-selectable={selecting ? '' : undefined}
    >
      {selecting && (
        <caption id={hint} className="sr-only">
          {t('lists.select.keys')}
        </caption>
      )}
      <colgroup>
        {selecting && <col className="w-10" />}
        {columns.map(({ id, width = 1 }, at) => (
          // the first column gets what the others leave
          <col key={id} width={at > 0 ? `${(100 * width) / total}%` : undefined} />
        ))}
      </colgroup>
      <thead>
        <tr>
          {selecting && (
            <th scope="col" className="select-cell">
              <SelectShown {...selecting} shown={shown} />
            </th>
          )}
          {columns.map(column => (
            <Heading key={column.id} column={column} sort={sort} onSort={onSort} />
          ))}
        </tr>
      </thead>
      {blocks.map(block => (
        <RowBlock
          key={`${block} ${look}`}
          isAlwaysDrawn={Math.floor(stopAt / blockRows) === block}
          onKeyDown={onKeyDown}
        >
          {() =>
            rows
              .slice(block * blockRows, (block + 1) * blockRows)
              .map((row, at) => (
                <BodyRow
                  key={row.id}
                  {...props}
                  row={row}
                  shown={shown}
                  rowIndex={block * blockRows + at + 2}
                  isStop={row.id === stop}
                  onFocus={() => setActive(row.id)}
                />
              ))
          }
        </RowBlock>
      ))}
    </table>
  )
}

interface BodyRowProps<Row> extends Pick<DataTableProps<Row>, 'columns' | 'hrefOf' | 'selecting'> {
  row: Row
  shown: readonly string[]
  rowIndex: number
  isStop: boolean
  onFocus: () => void
}

function BodyRow<Row extends { id: string }>(props: BodyRowProps<Row>) {
  const { row, columns, hrefOf, selecting, shown, rowIndex, isStop, onFocus } = props
  const { t } = useTranslation()
  const isShift = useRef(false)
  const isChecked = selecting !== undefined && isSelected(selecting.selection, row.id)
  return (
    <tr data-row={row.id} data-selected={isChecked} aria-rowindex={rowIndex} onFocus={onFocus}>
      {selecting && (
        <td
          className="select-cell"
          onMouseDown={event => {
            isShift.current = event.shiftKey
            // would select the text between two clicks
            if (event.shiftKey) event.preventDefault()
          }}
        >
          <label>
            <input
              type="checkbox"
              className="checkbox checkbox-sm"
              tabIndex={-1}
              aria-label={t('lists.select.row', { name: selecting.nameOf(row) })}
              checked={isChecked}
              onChange={() => {
                const choose = isShift.current ? extendRange : toggleRow
                isShift.current = false
                selecting.onSelect(choose(selecting.selection, row.id, shown))
              }}
            />
          </label>
        </td>
      )}
      {columns.map(({ id, label, cell }, at) =>
        at === 0 ? (
          <th key={id} scope="row">
            <a href={hrefOf(row)} tabIndex={isStop ? 0 : -1}>
              {cell(row)}
            </a>
          </th>
        ) : (
          <td key={id} data-label={label}>
            {cell(row)}
          </td>
        )
      )}
    </tr>
  )
}

interface SelectShownProps extends Omit<Selecting<never>, 'nameOf'> {
  shown: readonly string[]
}

function SelectShown({ selection, onSelect, shown }: SelectShownProps) {
  const { t } = useTranslation()
  const box = useRef<HTMLInputElement>(null)
  const count = shown.filter(id => isSelected(selection, id)).length
  const isPart = count > 0 && count < shown.length
  useEffect(() => {
    if (box.current) box.current.indeterminate = isPart
  }, [isPart])
  return (
    <label>
      <input
        ref={box}
        type="checkbox"
        className="checkbox checkbox-sm"
        aria-label={t('lists.select.shown', { count: shown.length })}
        checked={shown.length > 0 && count === shown.length}
        onChange={() => onSelect(toggleShownRows(selection, shown))}
      />
      <span className="sm:hidden">{t('lists.select.shown', { count: shown.length })}</span>
    </label>
  )
}

interface HeadingProps<Row> {
  column: TableColumn<Row>
  sort: string
  onSort: (sort: string) => void
}

function Heading<Row>({ column, sort, onSort }: HeadingProps<Row>) {
  const { id, label, isSortable } = column
  if (!isSortable) return <th scope="col">{label}</th>
  const order = sort === id ? 'ascending' : sort === `-${id}` ? 'descending' : undefined
  return (
    <th scope="col" aria-sort={order} data-sortable>
      <button type="button" onClick={() => onSort(order === 'ascending' ? `-${id}` : id)}>
        {label}
        <Icon name="chevron" className={`size-4 ${order ? '' : 'invisible'}`} />
      </button>
    </th>
  )
}

interface KeyContext {
  selection: RowSelection
  shown: readonly string[]
  here: string
}

// Space selects a row, Shift a range, Ctrl+A or Cmd+A all, Escape none
export function selectionAfterKey(
  { key, altKey, ctrlKey, metaKey, shiftKey }: PressedKey,
  { selection, shown, here }: KeyContext
): { selection: RowSelection; focus: string } | undefined {
  if (altKey) return undefined
  if (ctrlKey || metaKey) {
    const isAll = key.toLowerCase() === 'a' && !shiftKey
    return isAll ? { selection: addShownRowsToSelection(selection, shown), focus: here } : undefined
  }
  if (key === ' ') {
    const choose = shiftKey ? extendRange : toggleRow
    return { selection: choose(selection, here, shown), focus: here }
  }
  if (key === 'Escape' && countSelectedRows(selection) > 0)
    return { selection: emptySelection, focus: here }
  if (!shiftKey || (key !== 'ArrowDown' && key !== 'ArrowUp')) return undefined
  const focus = shown[shown.indexOf(here) + (key === 'ArrowDown' ? 1 : -1)]
  if (focus === undefined) return undefined
  // a new range begins at the row that loses the focus
  const begun = selection.range ? selection : extendRange(selection, here, shown)
  return { selection: extendRange(begun, focus, shown), focus }
}
