import type { SyntheticEvent } from 'react'
import { FieldFrame, type FieldTexts } from '../kit/Field.tsx'

export interface SelectOption {
  value: string
  label: string
}

interface SelectFieldProps extends FieldTexts {
  name: string
  options: SelectOption[]
  initial?: string | undefined
  onInput?: (event: SyntheticEvent<HTMLSelectElement>) => void
}

export function SelectField({
  name,
  options,
  initial,
  onInput,
  error,
  ...texts
}: SelectFieldProps) {
  return (
    <FieldFrame
      {...texts}
      error={error}
      control={props => (
        <select
          {...props}
          name={name}
          className={`select w-full overflow-hidden ${error ? 'border-error' : ''}`}
          defaultValue={initial}
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
