import { useStore } from '@nanostores/react'
import { useEffect, useRef, useState } from 'react'
import type { Import, ImportVerdict } from '../../contract/imports.ts'
import { AppError } from '../../contract/kit/errors.ts'
import type { RefusalReason, RowValues, StoredRow } from '../../stores/imports/import-kinds.ts'
import { type SourceFile, spreadsheetRow } from '../../stores/imports/import-memory.ts'
import { $importRows, correctRow, loadMoreRows, openRows } from '../../stores/imports/imports.ts'
import { createRefusedFile } from '../../stores/imports/refused-file.ts'
import { downloadFile } from '../files/download-file.ts'
import { useAction } from '../forms/use-action.ts'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { Icon } from '../kit/Icon.tsx'
import { useWords } from '../kit/use-words.ts'
import type { ImportWizardProps } from './wizard-props.ts'

interface RowListProps extends ImportWizardProps {
  item: Import
  origin: SourceFile | undefined
  /** Whether the person can correct refused cells. */
  canMend: boolean
}

const verdicts = ['refused', 'new', 'changed', 'unchanged'] as const

/**
 * Shows the rows of an import by verdict. Before the run, refused rows come first; after it,
 * imported ones.
 */
export function RowList(props: RowListProps) {
  const { kind, item, origin, labels, reasonText, canMend } = props
  const { t } = useWords()
  const rows = useStore($importRows, { ssr: 'initial' })
  const counts = item.counts ?? { new: 0, changed: 0, unchanged: 0, refused: 0 }
  const order = canMend ? verdicts : (['new', 'changed', 'refused', 'unchanged'] as const)
  const first = order.find(each => counts[each] > 0) ?? 'new'
  const [news, setNews] = useState('')
  const list = useRef<HTMLDivElement>(null)
  const verdict = rows?.verdict ?? first
  const numberOf = (row: number) => (origin ? spreadsheetRow(row, origin) : row)
  const withNumber = (reason: RefusalReason) =>
    reasonText({ ...reason, ...(reason.row === undefined ? {} : { row: numberOf(reason.row) }) })

  const isOpen = rows !== undefined
  useEffect(() => {
    if (!isOpen) void openRows(kind, first)
  }, [isOpen, kind, first])

  const mending = useAction({
    what: 'Mending the row failed',
    async send({ row, values }: { row: StoredRow; values: RowValues }) {
      const number = numberOf(row.row)
      const mended = await correctRow(kind, item.id, row.row, values)
      if (!mended?.verdict) return
      setNews(
        t('imports.wizard.check.mended', {
          row: number,
          verdict: t(`imports.wizard.check.verdicts.${mended.verdict}`)
        })
      )
      focusAfter(row.row, mended.verdict !== 'refused')
    }
  })
  const downloading = useAction({
    what: 'Downloading the refused rows failed',
    async send() {
      const content = await createRefusedFile(kind, {
        item,
        origin,
        labels,
        added: {
          row: t('imports.wizard.check.row'),
          error: t('imports.wizard.check.errorHeading')
        },
        errorOf: reason => `${labels[reason.field] ?? reason.field}: ${withNumber(reason)}`
      })
      const name = item.file_name.replace(/\.\w{1,4}$/, '')
      downloadFile(content, t('imports.wizard.check.downloadName', { name }), 'csv')
    }
  })

  /** Focuses the first refused cell of the row or, if the row is correct now, of the next row. */
  function focusAfter(row: number, isRight: boolean): void {
    // after React has drawn
    setTimeout(() => {
      const inputs = [
        ...(list.current?.querySelectorAll<HTMLInputElement>('input[data-row]') ?? [])
      ]
      const next =
        inputs.find(input => Number(input.dataset['row']) >= (isRight ? row + 1 : row)) ?? inputs[0]
      if (next) next.focus()
      else list.current?.focus()
    })
  }

  return (
    <div ref={list} tabIndex={-1} className="flex flex-col gap-4">
      <fieldset aria-label={t('imports.wizard.check.filter')} className="flex flex-wrap gap-2">
        {verdicts.map(each => (
          <button
            key={each}
            type="button"
            className={`btn btn-sm ${each === verdict ? 'btn-secondary' : 'btn-outline'}`}
            aria-pressed={each === verdict}
            onClick={() => void openRows(kind, each)}
          >
            {t(`imports.wizard.check.verdicts.${each}`)} <Count count={counts[each]} />
          </button>
        ))}
      </fieldset>
      {canMend && verdict === 'refused' && counts.refused > 0 && (
        <p className="meta">{t('imports.wizard.check.mendHint')}</p>
      )}
      <p role="status" className="empty:hidden">
        {news}
      </p>
      {mending.failure && <ErrorNote error={mending.failure} />}
      {rows?.status instanceof AppError && (
        <ErrorNote error={rows.status}>
          <button
            type="button"
            className="btn btn-outline btn-sm self-start"
            onClick={() => void openRows(kind, verdict)}
          >
            {t('imports.wizard.check.retry')}
          </button>
        </ErrorNote>
      )}
      {rows?.status === 'loading' && (
        <p role="status" className="text-ink-soft">
          {t('common.loading')}
        </p>
      )}
      {rows?.status === 'ready' && rows.rows.length === 0 && (
        <p className="text-ink-soft">{t('imports.wizard.check.empty')}</p>
      )}
      {rows && rows.rows.length > 0 && (
        <RowTable
          {...props}
          rows={rows.rows}
          verdict={verdict}
          canMend={canMend && verdict === 'refused'}
          numberOf={numberOf}
          reasonText={withNumber}
          isBusy={mending.isWorking}
          onMend={(row, values) => void mending.start({ row, values })}
        />
      )}
      <div className="flex flex-wrap gap-3 empty:hidden">
        {rows?.next != null && (
          <button
            type="button"
            className="btn btn-outline btn-sm"
            onClick={() => void loadMoreRows(kind)}
          >
            {t('imports.wizard.check.more')}
          </button>
        )}
        {counts.refused > 0 && (
          <button
            type="button"
            className="btn btn-outline btn-sm"
            aria-disabled={downloading.isWorking}
            onClick={() => void downloading.start(undefined)}
          >
            <Icon name="save" className="size-4" />
            {t('imports.wizard.check.download', { count: counts.refused })}
          </button>
        )}
      </div>
      {downloading.failure && <ErrorNote error={downloading.failure} />}
    </div>
  )
}

function Count({ count }: { count: number }) {
  const { locale } = useWords()
  return <span className="tabular">{new Intl.NumberFormat(locale).format(count)}</span>
}

interface RowTableProps extends RowListProps {
  rows: readonly StoredRow[]
  verdict: ImportVerdict
  numberOf: (row: number) => number
  isBusy: boolean
  onMend: (row: StoredRow, values: RowValues) => void
}

function RowTable(props: RowTableProps) {
  const { kind, labels, rows, verdict, numberOf } = props
  const { t } = useWords()
  return (
    <table className="data-table" aria-label={t(`imports.wizard.check.verdicts.${verdict}`)}>
      <thead>
        <tr>
          <th scope="col">{t('imports.wizard.check.row')}</th>
          {kind.fields.map(({ name }, at) => (
            <th key={name} scope="col" className={at === 0 ? 'w-[34%]' : ''}>
              {labels[name]}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(row => (
          <TableRow
            key={`${row.row} ${JSON.stringify(row.values)}`}
            {...props}
            row={row}
            number={numberOf(row.row)}
          />
        ))}
      </tbody>
    </table>
  )
}

function TableRow(props: RowTableProps & { row: StoredRow; number: number }) {
  const { kind, labels, row, number, canMend, reasonText, keptText, isBusy, onMend } = props
  const { t } = useWords()
  const [values, setValues] = useState<RowValues>(row.values)
  const isChanged = kind.fields.some(({ name }) => values[name] !== row.values[name])
  const id = `import-row-${row.row}`
  return (
    <tr>
      <th scope="row" className="tabular">
        <span className="sm:hidden">{t('imports.wizard.check.row')} </span>
        {number}
        {canMend && isChanged && (
          <button
            type="button"
            className="btn btn-secondary btn-sm ms-2"
            aria-disabled={isBusy}
            aria-label={t('imports.wizard.check.mend', { row: number })}
            onClick={() => onMend(row, values)}
          >
            {t('imports.wizard.check.mendShort')}
          </button>
        )}
      </th>
      {kind.fields.map(({ name }, at) => {
        const reasons = row.reasons.filter(({ field }) => field === name)
        const label = labels[name] ?? name
        const isWrong = reasons.length > 0
        return (
          <td key={name} data-label={label} className="whitespace-normal! wrap-anywhere">
            {canMend && isWrong ? (
              <input
                className="input input-sm w-full border-error"
                aria-label={label}
                aria-invalid
                aria-describedby={`${id}-${name}`}
                autoComplete="off"
                autoCapitalize="none"
                spellCheck={false}
                data-row={row.row}
                value={values[name] ?? ''}
                onChange={event => {
                  const { value } = event.currentTarget
                  setValues(before => ({ ...before, [name]: value }))
                }}
                onKeyDown={event => {
                  if (event.key !== 'Enter') return
                  event.preventDefault()
                  if (!isBusy) onMend(row, values)
                }}
              />
            ) : (
              row.values[name]
            )}
            {at === 0 && row.kept && (
              <span className="block text-ink-soft text-sm">{keptText(row.kept)}</span>
            )}
            {isWrong && (
              <span id={`${id}-${name}`} className="block text-error text-sm">
                {reasons.map(reasonText).join(' ')}
              </span>
            )}
          </td>
        )
      })}
    </tr>
  )
}
