import { useTranslation } from '../kit/use-translation.ts'
import { LabeledFilter } from './FilterFields.tsx'

interface DayRange {
  /** Days: `2026-05-01`. */
  from?: string
  to?: string
}

interface DayRangeFieldsProps {
  address: DayRange
  onChange: (change: DayRange) => void
}

export function DayRangeFields({ address, onChange }: DayRangeFieldsProps) {
  const { t } = useTranslation()
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

export function DayRangeWarning({ address: { from, to } }: { address: DayRange }) {
  const { t } = useTranslation()
  if (!from || !to || from <= to) return null
  return (
    <p role="status" className="text-sm text-warning">
      {t('lists.filters.range')}
    </p>
  )
}
