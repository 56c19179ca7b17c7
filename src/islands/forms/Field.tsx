import {
  createContext,
  type InputHTMLAttributes,
  type ReactNode,
  type Ref,
  useContext
} from 'react'
import type { FieldErrors } from '../../contract/kit/errors.ts'
import type { Translate } from '../../i18n/index.ts'
import { FieldFrame, type FieldTexts } from '../kit/FieldFrame.tsx'
import { useTranslation } from '../kit/use-translation.ts'

/** The errors of the form around a field, by the names of its fields. */
export const FormErrors = createContext<FieldErrors>({})

type Events = Pick<
  InputHTMLAttributes<HTMLInputElement>,
  'onBlur' | 'onFocus' | 'onInput' | 'onKeyDown' | 'onKeyUp' | 'onPaste'
>

interface FieldProps extends Events, FieldTexts {
  name: string
  type?: 'text' | 'email' | 'password'
  autoComplete?: string
  inputMode?: 'numeric' | 'decimal'
  spellCheck?: boolean
  mono?: boolean
  initial?: string | undefined
  /** Content inside the input at its end. */
  action?: ReactNode
  children?: ReactNode
  ref?: Ref<HTMLInputElement>
}

/** The input is uncontrolled: changing `initial` later has no effect. */
export function Field({ name, type = 'text', mono, initial, action, ref, ...props }: FieldProps) {
  const { label, hint, error: own, children, ...attributes } = props
  const error = useFieldError(name, own)
  return (
    <FieldFrame
      {...{ label, hint, error, children }}
      control={described => (
        <div className="relative">
          <input
            {...described}
            ref={ref}
            name={name}
            type={type}
            className={`input w-full ${mono ? 'font-mono' : ''} ${action ? 'pe-20' : ''} ${error ? 'border-error' : ''}`}
            autoCapitalize={type === 'text' ? undefined : 'none'}
            defaultValue={initial}
            {...attributes}
          />
          {action && <div className="absolute inset-y-0 end-1 z-1 flex items-center">{action}</div>}
        </div>
      )}
    />
  )
}

/** Returns what a field says about its error: `own`, or the message of the form. */
export function useFieldError(name: string, own: string | undefined): string | undefined {
  const { t } = useTranslation()
  const errors = useContext(FormErrors)
  return own ?? fieldErrorText(errors, name, t)
}

export function fieldErrorText(
  errors: FieldErrors,
  name: string,
  t: Translate
): string | undefined {
  const error = errors[name]
  if (!error) return undefined
  return t(`fields.${error.rule}`, error.limit === undefined ? {} : { limit: error.limit })
}
