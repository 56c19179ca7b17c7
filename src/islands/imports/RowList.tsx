import { useStore } from '@nanostores/react'
import { useEffect, useRef, useState } from 'react'
import { type Import, type ImportRowVerdict, zeroImportCounts } from '../../contract/imports.ts'
import { AppError } from '../../contract/kit/errors.ts'
import {
  type ImportRowFromServer,
  type RowRefusalReason,
  type RowValues,
  wholeFields
} from '../../stores/imports/import-kinds.ts'
import { type SourceFileFormat, spreadsheetRowNumber } from '../../stores/imports/import-memory.ts'
import {
  $importRows,
  correctRow,
  loadMoreImportRows,
  setRowSkipped,
  showRowsWithVerdict
} from '../../stores/imports/imports.ts'
import { createOmittedRowsFile } from '../../stores/imports/omitted-file.ts'
import { downloadFile } from '../files/download-file.ts'
import { ErrorNote } from '../kit/ErrorNote.tsx'
import { Icon } from '../kit/Icon.tsx'
import { useAction } from '../kit/use-action.ts'
import { useTranslation } from '../kit/use-translation.ts'
import type { ImportWizardProps } from './wizard-props.ts'

interface RowListProps extends ImportWizardProps {
  item: Import
  sourceFormat: SourceFileFormat | undefined
  canCorrect: boolean
}

const verdicts = ['refused', 'new', 'changed', 'unchanged', 'skipped'] as const

export function RowList(props: RowListProps) {
  const { kind, item, sourceFormat, labels, reasonText, canCorrect } = props
  const { t } = useTranslation()
  const rows = useStore($importRows, { ssr: 'initial' })
  const counts = item.counts ?? zeroImportCounts
  const order = canCorrect
    ? verdicts
    : (['new', 'changed', 'refused', 'unchanged', 'skipped'] as const)
  const first = order.find(each => counts[each] > 0) ?? 'new'
  const [news, setNews] = useState('')
  const list = useRef<HTMLDivElement>(null)
  const verdict = rows?.verdict ?? first
  const shown = verdicts.filter(each => each !== 'skipped' || counts[each] > 0 || each === verdict)
  const omitted = counts.refused + counts.skipped
  const numberOf = (row: number) => (sourceFormat ? spreadsheetRowNumber(row, sourceFormat) : row)
  const withNumber = (reason: RowRefusalReason) =>
    reasonText({ ...reason, ...(reason.row === undefined ? {} : { row: numberOf(reason.row) }) })

  const isOpen = rows !== undefined
  useEffect(() => {
    if (!isOpen) void showRowsWithVerdict(kind, first)
  }, [isOpen, kind, first])

  const mending = useAction({
    what: 'Mending the row failed',
    async send({ row, values }: { row: ImportRowFromServer; values: RowValues }) {
      const number = numberOf(row.row)
      const mended = await correctRow(kind, item.id, row.row, values)
      if (!mended?.verdict) return
      setNews(
        t('imports.wizard.check.mended', {
          row: number,
          verdict: t(`imports.wizard.check.rowVerdicts.${mended.verdict}`)
        })
      )
      focusFrom('input[data-row]', mended.verdict === 'refused' ? row.row : row.row + 1)
    }
  })
  const skipping = useAction({
    what: 'Skipping the row failed',
    async send({ row, skip }: { row: number; skip: boolean }) {
      const number = numberOf(row)
      const judged = await setRowSkipped(kind, item.id, row, skip)
      if (!judged?.verdict) return
      setNews(
        skip
          ? t('imports.wizard.check.skipped', { row: number })
          : t('imports.wizard.check.takenBack', {
              row: number,
              verdict: t(`imports.wizard.check.rowVerdicts.${judged.verdict}`)
            })
      )
      focusFrom('button[data-row]', row + 1)
    }
  })
  const downloading = useAction({
    what: 'Downloading the refused rows failed',
    async send() {
      const content = await createOmittedRowsFile(kind, {
        item,
        sourceFormat,
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

  // the next row, or else the first, or else the list
  function focusFrom(selector: string, row: number): void {
    // after React has drawn
    setTimeout(() => {
      const found = [...(list.current?.querySelectorAll<HTMLElement>(selector) ?? [])]
      const next = found.find(each => Number(each.dataset['row']) >= row) ?? found[0]
      if (next) next.focus()
      else list.current?.focus()
    })
  }

  return (
    <div ref={list} tabIndex={-1} className="flex flex-col gap-4">
      <fieldset aria-label={t('imports.wizard.check.filter')} className="flex flex-wrap gap-2">
        {shown.map(each => (
          <button
            key={each}
            type="button"
            className={`btn btn-sm ${each === verdict ? 'btn-secondary' : 'btn-outline'}`}
            aria-pressed={each === verdict}
            onClick={() => void showRowsWithVerdict(kind, each)}
          >
            {t(`imports.wizard.check.verdicts.${each}`)} <Count count={counts[each]} />
          </button>
        ))}
      </fieldset>
      {canCorrect && verdict === 'refused' && counts.refused > 0 && (
        <p className="meta">{t('imports.wizard.check.mendHint')}</p>
      )}
      <p role="status" className="empty:hidden">
        {news}
      </p>
      {mending.failure && <ErrorNote error={mending.failure} />}
      {skipping.failure && <ErrorNote error={skipping.failure} />}
      {rows?.status instanceof AppError && (
        <ErrorNote error={rows.status}>
          <button
            type="button"
            className="btn btn-outline btn-sm self-start"
            onClick={() => void showRowsWithVerdict(kind, verdict)}
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
          canCorrect={canCorrect && verdict === 'refused'}
          canSkip={canCorrect && (verdict === 'refused' || verdict === 'skipped')}
          numberOf={numberOf}
          reasonText={withNumber}
          isBusy={mending.isWorking || skipping.isWorking}
          onCorrect={(row, values) => void mending.start({ row, values })}
          onSkip={({ row }) => void skipping.start({ row, skip: verdict !== 'skipped' })}
        />
      )}
      <div className="flex flex-wrap gap-3 empty:hidden">
        {rows?.next != null && (
          <button
            type="button"
            className="btn btn-outline btn-sm"
            onClick={() => void loadMoreImportRows(kind)}
          >
            {t('imports.wizard.check.more')}
          </button>
        )}
        {omitted > 0 && (
          <button
            type="button"
            className="btn btn-outline btn-sm"
            aria-disabled={downloading.isWorking}
            onClick={() => void downloading.start(undefined)}
          >
            <Icon name="save" className="size-4" />
            {t('imports.wizard.check.download', { count: omitted })}
          </button>
        )}
      </div>
      {downloading.failure && <ErrorNote error={downloading.failure} />}
    </div>
  )
}

function Count({ count }: { count: number }) {
  const { locale } = useTranslation()
  return <span className="tabular">{new Intl.NumberFormat(locale).format(count)}</span>
}

interface RowTableProps extends RowListProps {
  rows: readonly ImportRowFromServer[]
  verdict: ImportRowVerdict
  numberOf: (row: number) => number
  isBusy: boolean
  canSkip: boolean
  onCorrect: (row: ImportRowFromServer, values: RowValues) => void
  onSkip: (row: ImportRowFromServer) => void
}

function RowTable(props: RowTableProps) {
  const { kind, labels, rows, verdict, numberOf } = props
  const { t } = useTranslation()
  return (
    <table className="data-table" aria-label={t(`imports.wizard.check.verdicts.${verdict}`)}>
      <thead>
        <tr>
          <th scope="col">{t('imports.wizard.check.row')}</th>
          {wholeFields(kind).map(({ name }, at) => (
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

function TableRow(props: RowTableProps & { row: ImportRowFromServer; number: number }) {
  const { kind, labels, row, number, canCorrect, canSkip, reasonText, keptText, isBusy } = props
  const { onCorrect, onSkip } = props
  const { t } = useTranslation()
  const [values, setValues] = useState<RowValues>(row.values)
  const isChanged = wholeFields(kind).some(({ name }) => values[name] !== row.values[name])
  const id = `import-row-${row.row}`
  const skip = row.verdict === 'skipped' ? 'takeBack' : 'skip'
  return (
    <tr>
      <th scope="row" className="tabular">
        <span className="sm:hidden">{t('imports.wizard.check.row')} </span>
        {number}
        {canCorrect && isChanged && (
          <button
            type="button"
            className="btn btn-secondary btn-sm ms-2"
            aria-disabled={isBusy}
            aria-label={t('imports.wizard.check.mend', { row: number })}
            onClick={() => onCorrect(row, values)}
          >
            {t('imports.wizard.check.mendShort')}
          </button>
        )}
        {canSkip && (
          <button
            type="button"
            className="btn btn-outline btn-sm ms-2"
            aria-disabled={isBusy}
            aria-label={t(`imports.wizard.check.${skip}Row`, { row: number })}
            data-row={row.row}
            onClick={() => !isBusy && onSkip(row)}
          >
            {t(`imports.wizard.check.${skip}Short`)}
          </button>
        )}
      </th>
      {wholeFields(kind).map(({ name }, at) => {
        const reasons = row.reasons.filter(({ field }) => field === name)
        const label = labels[name] ?? name
        const isWrong = reasons.length > 0
        return (
          <td key={name} data-label={label} className="whitespace-normal! wrap-anywhere">
            {canCorrect && isWrong ? (
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
                  if (!isBusy) onCorrect(row, values)
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
