import { useWords } from '../kit/use-words.ts'
import { LabeledFilter } from './FilterFields.tsx'

interface DayRange {
  /** The first and the last day, as `2026-05-01`. */
  from?: string
  to?: string
}

interface DayFieldsProps {
  address: DayRange
  onChange: (change: DayRange) => void
}

/** Two date fields that filter a list by the days between them. */
export function DayFields({ address, onChange }: DayFieldsProps) {
  const { t } = useWords()
  return (['from', 'to'] as const).map(name => (
    <LabeledFilter key={name} label={t(`lists.filters.${name}`)}>
      {id => (
        <input
          id={id}
          type="date"
          className="input w-full"
          max="2999-12-31"
          value={address[name] ?? ''}
          onChange={event => onChange({ [name]: event.target.value })}
        />
      )}
    </LabeledFilter>
  ))
}

/** Says that the first day is after the last one, if it is. */
export function DayRangeNote({ address: { from, to } }: { address: DayRange }) {
  const { t } = useWords()
  if (!from || !to || from <= to) return null
  return (
    <p role="status" className="text-sm text-warning">
      {t('lists.filters.range')}
    </p>
  )
}
