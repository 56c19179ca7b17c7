import { useId } from 'react'
import type { FieldTexts } from '../kit/Field.tsx'
import type { SelectOption } from './SelectField.tsx'

interface CheckBoxesProps extends FieldTexts {
  name: string
  options: SelectOption[]
  initial?: readonly string[]
}

/** The value of the field has one line for each checked box. */
export function CheckBoxes({ label, name, options, initial = [], hint, error }: CheckBoxesProps) {
  const id = useId()
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ')
  return (
    <fieldset className="flex flex-col gap-1.5" aria-describedby={described || undefined}>
      <legend className="label-text mb-1.5">{label}</legend>
      {options.map((option, at) => (
        <label key={option.value} className="flex min-h-8 items-center gap-3">
          <input
            id={at === 0 ? id : undefined}
            type="checkbox"
            name={name}
            value={option.value}
            className="checkbox"
            defaultChecked={initial.includes(option.value)}
            aria-invalid={error !== undefined}
          />
          {option.label}
        </label>
      ))}
      {hint && (
        <p id={`${id}-hint`} className="text-ink-soft text-sm">
          {hint}
        </p>
      )}
      {error && (
        <p id={`${id}-error`} className="text-error text-sm">
          {error}
        </p>
      )}
    </fieldset>
  )
}
