import {
  type MouseEvent,
  type SyntheticEvent,
  useEffect,
  useEffectEvent,
  useRef,
  useState
} from 'react'
import { AppError, type ErrorCode, type FieldErrors } from '../../contract/kit/errors.ts'
import { findFaults, type Validator } from '../../core/input/validators.ts'
import {
  type FieldElement,
  type FormValues,
  formDraftName,
  isCheckable,
  isFieldChanged,
  readFormValues
} from '../../stores/form-values.ts'
import { type ActionOptions, useAction } from '../kit/use-action.ts'
import { takeUnsavedInput } from './page-drafts.ts'

export type { FormValues } from '../../stores/form-values.ts'

export interface FormOptions<Result> extends ActionOptions<FormValues, Result> {
  rules?: Readonly<Record<string, Validator>>
  /** Errors that `rules` do not find, such as those of the API's schema. */
  inputErrors?: (values: FormValues) => FieldErrors
  /** Errors of asynchronous checks when the form is submitted. */
  slowErrors?: (values: FormValues) => Promise<FieldErrors | undefined>
  /** `{ name_taken: { name: { rule: 'taken' } } }` */
  codeErrors?: Partial<Record<ErrorCode, FieldErrors>>
  /** The field that gets the focus after an error that belongs to no field. */
  focusAfterFailure?: string
  isEmptiedBySuccess?: boolean
}

export type FormState = ReturnType<typeof useForm>

/**
 * Checks a field when it loses the focus and then at every change. Submitting checks all, focuses
 * the first error, or sends. Keeps the values over a change of language.
 */
export function useForm<Result>(options: FormOptions<Result>) {
  const { rules = {}, inputErrors, slowErrors, codeErrors } = options
  const form = useRef<HTMLFormElement>(null)
  const seen = useRef(new Set<string>())
  // shown until one of the sent values changes or the form is submitted again
  const refused = useRef<{ values: FormValues; found: FieldErrors }>({ values: {}, found: {} })
  const [errors, setErrors] = useState<FieldErrors>({})

  const action = useAction<FormValues, Result>({
    what: options.what,
    async send(values, key) {
      const fields = await slowErrors?.(values)
      if (fields) throw new AppError('invalid_input', 'A field has an error', { fields })
      const result = await options.send(values, key)
      if (options.isEmptiedBySuccess) clear()
      return result
    },
    handle(error, values) {
      const found = ownErrors(codeErrors?.[error.code] ?? error.fields)
      const isShown = Object.keys(found).length > 0
      if (isShown) refuse(values, found)
      else if (options.focusAfterFailure) focus(options.focusAfterFailure)
      return options.handle?.(error, values) || isShown
    }
  })

  const read = (): FormValues => (form.current ? readFormValues(form.current) : {})

  const fillInDraft = useEffectEvent(() => {
    const draft = { ...Object(takeUnsavedInput(formDraftName(read()))) }
    // the person may have typed before the script had loaded
    for (const field of [...(form.current?.elements ?? [])].map(fieldOf))
      if (field && isFieldChanged(field)) delete draft[field.name]
    fillIn(form.current, draft)
  })
  useEffect(() => fillInDraft(), [])

  const faults = (values: FormValues): FieldErrors => ({
    ...ownErrors(inputErrors?.(values)),
    ...findFaults(rules, values)
  })

  // an error of one value of a field, such as `emails.2`, is one of the whole field
  const ownErrors = (found: FieldErrors = {}): FieldErrors => {
    const own: FieldErrors = {}
    for (const [path, error] of Object.entries(found)) {
      const isField = (name: string) => Boolean(form.current?.elements.namedItem(name))
      const name = [path, path.split('.')[0] ?? ''].find(isField)
      if (name !== undefined) own[name] ??= error
    }
    return own
  }

  const showSeen = () => {
    if (action.isDone) action.reset()
    const values = read()
    const { values: sent, found: kept } = refused.current
    const isAsSent = Object.entries(sent).every(([name, value]) => values[name] === value)
    const found = Object.entries(faults(values)).filter(([name]) => seen.current.has(name))
    setErrors({ ...(isAsSent ? kept : {}), ...Object.fromEntries(found) })
  }

  const focus = (...names: string[]) => {
    const fields = [...(form.current?.elements ?? [])].map(fieldOf)
    const first = fields.find(field => field && names.includes(nameOf(field)))
    if (!first) return
    // screen readers do not repeat a field that has the focus already
    if (first === document.activeElement) first.blur()
    first.focus()
  }

  const show = (found: FieldErrors) => {
    // first, because this checks the field that loses the focus
    focus(...Object.keys(found))
    setErrors(found)
  }

  const refuse = (values: FormValues, found: FieldErrors) => {
    refused.current = { values, found }
    show(found)
  }

  const addSlowErrors = async (values: FormValues) => {
    // submitting checks again and shows the error
    const found = await slowErrors?.(values).catch(() => undefined)
    if (!found) return
    refused.current = { values, found }
    showSeen()
  }

  const clear = () => {
    seen.current.clear()
    refused.current = { values: {}, found: {} }
    setErrors({})
    form.current?.reset()
  }

  return {
    ...action,
    errors,
    read,
    fill: (values: FormValues) => fillIn(form.current, values),
    focus,
    props: {
      ref: form,
      // the browser must not show its own error messages
      noValidate: true,
      // never `get`: a form submitted before its script runs must not put a password into the
      // address
      method: 'post' as const,
      onSubmit(event: SyntheticEvent): void {
        event.preventDefault()
        if (action.isWorking) return
        const values = read()
        for (const name of Object.keys(values)) seen.current.add(name)
        const found = faults(values)
        refused.current = { values: {}, found: {} }
        show(found)
        if (Object.keys(found).length === 0) void action.start(values)
        else void addSlowErrors(values)
      },
      onBlur({ target }: SyntheticEvent) {
        // an empty field may still be filled in, so only submitting reports it
        const field = fieldOf(target)
        if (!field?.value) return
        seen.current.add(nameOf(field))
        showSeen()
      },
      onInput: showSeen,
      onMouseDown(event: MouseEvent): void {
        // errors that appear or disappear would move the button away from the pointer
        const isPressed = event.target instanceof Element && event.target.closest('button, a')
        if (isPressed && event.button === 0) event.preventDefault()
      }
    }
  }
}

function fieldOf(element: EventTarget): FieldElement | undefined {
  const isField =
    element instanceof Element &&
    element.matches('input:not([type=hidden]), select, textarea:not([hidden])')
  return isField ? (element as FieldElement) : undefined // as: what the selector names
}

// the search field of a combobox belongs to the value of its hidden input
function nameOf(field: FieldElement): string {
  return field.dataset['for'] ?? field.name
}

function fillIn(form: HTMLFormElement | null, values: unknown): void {
  const given = new Map<string, unknown>(Object.entries(Object(values)))
  for (const field of form?.querySelectorAll<FieldElement>('input, select, textarea') ?? []) {
    if (!given.has(field.name) || field.matches('[readonly]')) continue
    const value = String(given.get(field.name))
    if (field instanceof HTMLInputElement && isCheckable(field))
      field.checked = value.split('\n').includes(field.value)
    else field.value = value
    field.dispatchEvent(new Event('input', { bubbles: true }))
  }
}
