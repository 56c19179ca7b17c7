import { FieldFrame, type FieldTexts } from '../kit/Field.tsx'

export interface Option {
  value: string
  label: string
}

interface SelectFieldProps extends FieldTexts {
  name: string
  options: Option[]
  /** Initial value of the field. */
  initial?: string | undefined
}

/** A field in which one of a few values is chosen from a list. */
export function SelectField({ name, options, initial, error, ...texts }: SelectFieldProps) {
  return (
    <FieldFrame
      {...texts}
      error={error}
      control={props => (
        <select
          {...props}
          name={name}
          className={`select w-full ${error ? 'border-error' : ''}`}
          defaultValue={initial}
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
