import type { SyntheticEvent } from 'react'
import { useId } from 'react'
import { FieldFrame, FieldNotes, type FieldTexts, fieldNoteIds } from '../kit/FieldFrame.tsx'
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

interface CheckBoxesProps extends FieldTexts {
  name: string
  options: SelectOption[]
  initial?: readonly string[]
}

/** The value of the field has one line for each checked box. */
export function CheckBoxes({ label, name, options, initial = [], hint, ...own }: CheckBoxesProps) {
  const id = useId()
  const error = useFieldError(name, own.error)
  return (
    <fieldset className="flex flex-col gap-1.5" aria-describedby={fieldNoteIds(id, hint, error)}>
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
      <FieldNotes {...{ id, hint, error }} />
    </fieldset>
  )
}

interface RadioFieldProps {
  label: string
  name: string
  options: (SelectOption & { note: string; isDisabled?: boolean })[]
  initial: string
}

export function RadioField({ label, name, options, initial }: RadioFieldProps) {
  const id = useId()
  const error = useFieldError(name, undefined)
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
      <FieldNotes {...{ id, error }} />
    </fieldset>
  )
}
