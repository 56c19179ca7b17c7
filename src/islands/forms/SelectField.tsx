import type { SyntheticEvent } from 'react'
import { FieldFrame, type FieldTexts } from '../kit/FieldFrame.tsx'
import { useFieldError } from './Field.tsx'

export interface SelectOption {
  value: string
  label: string
}

interface SelectFieldProps extends FieldTexts {
  name?: string
  options: SelectOption[]
  initial?: string | undefined
  /** Controls the field, which otherwise begins with `initial`. */
  value?: string
  onChange?: (value: string) => void
  onInput?: (event: SyntheticEvent<HTMLSelectElement>) => void
}

export function SelectField(props: SelectFieldProps) {
  const { name, options, initial, value, onChange, onInput, ...texts } = props
  const error = useFieldError(name ?? '', texts.error)
  return (
    <FieldFrame
      {...texts}
      error={error}
      control={described => (
        <select
          {...described}
          name={name}
          className={`select w-full overflow-hidden ${error ? 'border-error' : ''}`}
          {...(value === undefined ? { defaultValue: initial } : { value })}
          onChange={event => onChange?.(event.currentTarget.value)}
          onInput={onInput}
        >
          {options.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      )}
    />
  )
}
