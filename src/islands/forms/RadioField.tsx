import { useId } from 'react'
import type { FieldTexts } from '../kit/Field.tsx'
import type { SelectOption } from './SelectField.tsx'

interface RadioFieldProps extends Omit<FieldTexts, 'hint'> {
  name: string
  options: (SelectOption & { note: string; isDisabled?: boolean })[]
  initial: string
}

export function RadioField({ label, name, options, initial, error }: RadioFieldProps) {
  const id = useId()
  return (
    <fieldset className="flex flex-col gap-2" aria-describedby={error && `${id}-error`}>
      <legend className="label-text mb-1.5">{label}</legend>
      {options.map(option => (
        <label key={option.value} className="flex min-h-8 items-start gap-3">
          <input
            type="radio"
            name={name}
            value={option.value}
            className="radio"
            defaultChecked={option.value === initial}
            disabled={option.isDisabled && option.value !== initial}
            aria-labelledby={`${id}-${option.value}-label`}
            aria-describedby={`${id}-${option.value}`}
          />
          <span className="flex min-w-0 flex-col">
            <span id={`${id}-${option.value}-label`}>{option.label}</span>
            <span id={`${id}-${option.value}`} className="text-ink-soft text-sm">
              {option.note}
            </span>
          </span>
        </label>
      ))}
      {error && (
        <p id={`${id}-error`} className="text-error text-sm">
          {error}
        </p>
      )}
    </fieldset>
  )
}
