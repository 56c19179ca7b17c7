import { useId, useState } from 'react'
import type { Category } from '../../contract/categories.ts'
import type { HistoryExportFormat } from '../../stores/history/request-export.ts'
import { loadCode } from '../kit/load-code.ts'
import { useTranslation } from '../kit/use-translation.ts'
import { DayRangeFields, DayRangeWarning } from '../lists/DayRange.tsx'
import { ExportButton } from '../lists/ExportButton.tsx'
import { LabeledFilter, SearchBox } from '../lists/FilterFields.tsx'
import { withoutEmptyFilters } from '../lists/use-address.ts'
import { type HistoryQuery, requestFilterOf, requestStates } from './history-query.ts'
import { PrintButton } from './PrintButton.tsx'
import { stateFilterLabel } from './request-labels.ts'

interface HistoryFiltersProps {
  address: HistoryQuery
  categories: readonly Category[]
  onChange: (address: HistoryQuery) => void
}

export function HistoryFilters({ address, categories, onChange }: HistoryFiltersProps) {
  const { locale, t } = useTranslation()
  const [isOpen, setOpen] = useState(false)
  const panel = useId()
  const { q: _q, request: _request, ...filters } = address
  const count = Object.keys(filters).length
  const set = (change: { [Name in keyof HistoryQuery]?: HistoryQuery[Name] | undefined }) =>
    onChange(withoutEmptyFilters({ ...address, ...change }))
  const save = async (format: HistoryExportFormat) => {
    const { downloadHistory } = await loadCode(() => import('../files/download-exports.ts'))
    await downloadHistory(requestFilterOf(address), format, t('history.filters.fileName'))
  }
  return (
    <search className="flex flex-col gap-4" aria-label={t('history.filters.label')}>
      <div className="flex flex-wrap items-end gap-3">
        <SearchBox
          label={t('history.filters.search')}
          value={address.q ?? ''}
          onSearch={q => set({ q })}
        />
        <button
          type="button"
          className="btn btn-outline lg:hidden"
          aria-expanded={isOpen}
          aria-controls={panel}
          onClick={() => setOpen(!isOpen)}
        >
          {count === 0 ? t('history.filters.toggleNone') : t('history.filters.toggle', { count })}
        </button>
        <ExportButton save={() => save('spreadsheet')} />
        <PrintButton isCovered={address.request !== undefined} />
      </div>
      <div
        id={panel}
        className={`grid grid-cols-1 gap-3 sm:grid-cols-2 md:grid-cols-3 lg:flex lg:flex-wrap lg:items-end ${isOpen ? '' : 'max-lg:hidden'}`}
      >
        <Choice
          label={t('history.filters.kind')}
          value={address.kind}
          options={(['deposit', 'verify'] as const).map(kind => [
            kind,
            t(`history.filters.${kind}`)
          ])}
          all={t('history.filters.all')}
          onChoose={kind => set({ kind })}
        />
        <Choice
          label={t('history.filters.state')}
          value={address.state}
          options={requestStates.map(state => [state, stateFilterLabel(state, t)])}
          all={t('history.filters.all')}
          onChoose={state => set({ state })}
        />
        {(categories.length > 1 || address.category) && (
          <Choice
            label={t('history.filters.category')}
            value={address.category}
            options={categories.map(({ id, names }) => [id, names[locale]])}
            all={t('history.filters.allCategories')}
            onChoose={category => set({ category })}
          />
        )}
        <DayRangeFields address={address} onChange={set} />
        <ExportButton save={() => save('machine')} label={t('history.filters.machine')} />
        {(count > 0 || address.q) && (
          <button
            type="button"
            className="btn btn-ghost text-secondary"
            onClick={() => onChange(withoutEmptyFilters({ request: address.request }))}
          >
            {t('history.filters.clear')}
          </button>
        )}
      </div>
      <DayRangeWarning address={address} />
    </search>
  )
}

interface ChoiceProps<Value extends string> {
  label: string
  value: Value | undefined
  options: readonly (readonly [Value, string])[]
  all: string
  onChoose: (value: Value | undefined) => void
}

function Choice<Value extends string>({
  label,
  value,
  options,
  all,
  onChoose
}: ChoiceProps<Value>) {
  return (
    <LabeledFilter label={label}>
      {id => (
        <select
          id={id}
          className="select w-full"
          value={value ?? ''}
          onChange={event => onChoose(options.find(([each]) => each === event.target.value)?.[0])}
        >
          <option value="">{all}</option>
          {options.map(([each, word]) => (
            <option key={each} value={each}>
              {word}
            </option>
          ))}
        </select>
      )}
    </LabeledFilter>
  )
}
