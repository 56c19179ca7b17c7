import { useStore } from '@nanostores/react'
import { type CsvDialect, delimiters } from '../../core/csv/dialect.ts'
import { type Encoding, encodings } from '../../core/csv/encodings.ts'
import { formatBytes } from '../../core/text/format.ts'
import {
  $countedFileFraction,
  changeDialect,
  countDataRows,
  firstDataRows,
  headingsOf,
  type OpenedFile
} from '../../stores/imports/import-file.ts'
import type { ImportKind } from '../../stores/imports/import-kinds.ts'
import { SelectField } from '../forms/ChoiceFields.tsx'
import { Icon } from '../kit/Icon.tsx'
import { ProgressBar } from '../kit/ProgressBar.tsx'
import { useTranslation } from '../kit/use-translation.ts'

interface FileFormatStepProps {
  kind: ImportKind
  file: OpenedFile
  onNext: () => void
  onBack: () => void
}

const delimiterNames = { ',': 'comma', ';': 'semicolon', '\t': 'tab', '|': 'pipe' } as const
// the others are named by their script
const plainEncodings: Partial<Record<Encoding, string>> = {
  'utf-8': 'UTF-8',
  'utf-16le': 'UTF-16 LE',
  'utf-16be': 'UTF-16 BE'
}
// the page only gives notice of the other faults
const fatal = ['unclosed', 'nul', 'wide'] as const
const told = ['unknown', 'malformed', 'long', 'short'] as const

export function FileFormatStep({ kind, file, onNext, onBack }: FileFormatStepProps) {
  const { locale, t } = useTranslation()
  const { dialect, count } = file
  const rows = countDataRows(file)
  const faults = count?.faults ?? {}
  const isBad = fatal.some(each => faults[each])
  const isOver = rows !== undefined && rows > kind.limits.rows
  const isReady = rows !== undefined && rows > 0 && !isOver && !isBad
  const isKnownDelimiter = delimiters.some(each => each === dialect.delimiter)
  const change = (next: Partial<CsvDialect>) => void changeDialect(kind, next)

  return (
    <section className="sheet flex flex-col gap-4" aria-labelledby="import-read">
      <div>
        <h2 id="import-read" data-step-heading tabIndex={-1} className="section-title">
          {t('imports.wizard.read.title')}
        </h2>
        <p className="meta wrap-anywhere">
          {t('imports.wizard.read.file', {
            name: file.file.name,
            size: formatBytes(file.file.size, locale)
          })}
        </p>
      </div>
      <div className="grid grid-cols-1 gap-4 sm:grid-cols-2">
        <SelectField
          label={t('imports.wizard.read.delimiter')}
          value={dialect.delimiter}
          onChange={delimiter => change({ delimiter })}
          options={[
            ...delimiters.map(value => ({
              value,
              label: t(`imports.wizard.read.delimiters.${delimiterNames[value]}`)
            })),
            ...(isKnownDelimiter ? [] : [{ value: dialect.delimiter, label: dialect.delimiter }])
          ]}
        />
        <SelectField
          label={t('imports.wizard.read.encoding')}
          value={dialect.encoding}
          // as: the values of the options below
          onChange={value => change({ encoding: value as Encoding })}
          options={encodings.map(value => ({
            value,
            label:
              plainEncodings[value] ?? t(`imports.wizard.read.encodings.${value as 'macintosh'}`)
          }))}
        />
      </div>
      <SelectField
        label={t('imports.wizard.read.header')}
        value={dialect.hasHeader ? String(dialect.firstRow) : ''}
        onChange={value =>
          change({ hasHeader: value !== '', firstRow: value === '' ? 1 : Number(value) })
        }
        options={[
          { value: '', label: t('imports.wizard.read.noHeader') },
          ...file.headingRows.map(({ row, cells }) => ({
            value: String(row),
            label: t('imports.wizard.read.headerRow', { row, cells: clip(cells.join(' · '), 20) })
          }))
        ]}
      />
      <Counting rows={rows} />
      <div role="alert" className="flex flex-col gap-2 empty:hidden">
        {rows === 0 && <Fault text={t('imports.wizard.read.noRows')} />}
        {isOver && (
          <Fault
            text={t('imports.wizard.read.tooMany', {
              count: rows,
              limit: kind.limits.rows
            })}
          />
        )}
        {[...fatal, ...told].map(name => {
          const fault = faults[name]
          return (
            fault && (
              <Fault key={name} text={t(`imports.wizard.read.faults.${name}`, { ...fault })} />
            )
          )
        })}
      </div>
      <Preview file={file} />
      <div className="flex flex-wrap gap-3">
        <button
          type="button"
          className="btn btn-primary"
          aria-disabled={!isReady}
          onClick={() => {
            if (isReady) onNext()
          }}
        >
          {t('imports.wizard.read.next')}
        </button>
        <button type="button" className="btn btn-outline" onClick={onBack}>
          {t('imports.wizard.read.back')}
        </button>
      </div>
    </section>
  )
}

function Counting({ rows }: { rows: number | undefined }) {
  const { t } = useTranslation()
  const share = useStore($countedFileFraction, { ssr: 'initial' })
  return (
    <div className="flex flex-col gap-1">
      <p role="status" className="meta">
        {rows === undefined
          ? t('imports.wizard.read.counting')
          : t('imports.wizard.read.rows', { count: rows })}
      </p>
      {rows === undefined && (
        <ProgressBar label={t('imports.wizard.read.counting')} ratio={share} />
      )}
    </div>
  )
}

function Fault({ text }: { text: string }) {
  return (
    <p className="flex items-start gap-2 text-sm">
      <Icon name="alert" className="mt-0.5 size-4 text-error" />
      <span>{text}</span>
    </p>
  )
}

function Preview({ file }: { file: OpenedFile }) {
  const { t } = useTranslation()
  const headings = headingsOf(file)
  const rows = firstDataRows(file).slice(0, 20)
  const label = t('imports.wizard.read.preview', { count: rows.length })
  return (
    <section
      className="overflow-x-auto rounded-box border border-base-300"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: arrow keys scroll it
      tabIndex={0}
      aria-label={label}
    >
      <table className="w-full text-sm">
        <caption className="label-text p-2 text-start">{label}</caption>
        <thead>
          <tr>
            {headings.map((heading, at) => (
              <th
                key={columnLetters(at)}
                scope="col"
                className="label-text whitespace-nowrap p-2 text-start"
              >
                {heading || t('imports.wizard.read.column', { name: columnLetters(at) })}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, number) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows of a file have nothing but their place
            <tr key={number} className="border-base-300 border-t">
              {headings.map((_, at) => (
                <td key={columnLetters(at)} className="max-w-72 truncate p-2">
                  {row[at] ?? ''}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

export function clip(text: string, most = 60): string {
  return text.length > most ? `${text.slice(0, most)}…` : text
}

/** 0 → `A`, 26 → `AA` */
export function columnLetters(at: number): string {
  const last = String.fromCharCode(65 + (at % 26))
  return at < 26 ? last : columnLetters(Math.floor(at / 26) - 1) + last
}
