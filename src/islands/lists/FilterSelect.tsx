import type { ReactNode } from 'react'
import { Icon } from '../kit/Icon.tsx'
import { useTranslation } from '../kit/use-translation.ts'

interface FilterSelectProps<Value extends string> {
  label: string
  value: Value | undefined
  options: readonly (readonly [Value, string])[]
  onChoose: (value: Value | undefined) => void
}

export function FilterSelect<Value extends string>(props: FilterSelectProps<Value>) {
  const { label, value, options, onChoose } = props
  const { t } = useTranslation()
  return (
    <label className="chip" data-set={value !== undefined}>
      {label}
      <select
        className="chip-value chip-select"
        value={value ?? ''}
        onChange={event => onChoose(options.find(([each]) => each === event.target.value)?.[0])}
      >
        <option value="">{t('lists.filters.any')}</option>
        {options.map(([each, word]) => (
          <option key={each} value={each}>
            {word}
          </option>
        ))}
      </select>
      <Icon name="chevron" className="pointer-events-none size-4 rotate-90" />
    </label>
  )
}

interface FilterBarProps {
  activeFilterCount: number
  onClear: () => void
  children: ReactNode
}

export function FilterBar({ activeFilterCount, onClear, children }: FilterBarProps) {
  const { t } = useTranslation()
  return (
    <fieldset className="flex min-w-0 flex-wrap items-center gap-2">
      <legend className="sr-only">{t('lists.filters.label')}</legend>
      {children}
      {activeFilterCount > 0 && (
        <button type="button" className="btn btn-ghost btn-sm text-secondary" onClick={onClear}>
          {t('lists.filters.clear')}
        </button>
      )}
    </fieldset>
  )
}
