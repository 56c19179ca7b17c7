import {
  type MouseEvent,
  type SyntheticEvent,
  useEffect,
  useEffectEvent,
  useRef,
  useState
} from 'react'
import type { FieldErrors } from '../../contract/errors.ts'
import { faultsOf, type Validator } from '../../core/input/validators.ts'
import { keepDraft, takeDraft } from './page-drafts.ts'

export type Values = Record<string, string>

/**
 * Connects a native form, whose inputs keep their own values, with rules. Checks a field when it
 * loses the focus, and from then on at every change. Submitting checks all fields and focuses the
 * first with an error. Values survive a change of the page's language. Pass `checkStrength` in
 * forms in which a person chooses a password.
 */
export function useForm(
  rules: Readonly<Record<string, Validator>>,
  checkStrength: (values: Values) => Promise<FieldErrors | undefined> = async () => undefined
) {
  const form = useRef<HTMLFormElement>(null)
  const seen = useRef(new Set<string>())
  /**
   * Errors from the server or from `checkStrength`, with the values they belong to. They are shown
   * until one of these values changes or the form is submitted again.
   */
  const refused = useRef<{ values: Values; found: FieldErrors }>({ values: {}, found: {} })
  const [errors, setErrors] = useState<FieldErrors>({})

  const read = (): Values => {
    const values: Values = {}
    if (!form.current) return values
    for (const [name, value] of new FormData(form.current)) values[name] = String(value)
    return values
  }

  const connectDraft = useEffectEvent(() => {
    const name = `form ${Object.keys(rules).join(' ')}`
    fill(form.current, takeDraft(name))
    return keepDraft(name, read)
  })
  useEffect(() => connectDraft(), [])

  const showSeen = () => {
    const values = read()
    const { values: sent, found: kept } = refused.current
    const isAsSent = Object.entries(sent).every(([name, value]) => values[name] === value)
    const found = Object.entries(faultsOf(rules, values)).filter(([name]) => seen.current.has(name))
    setErrors({ ...(isAsSent ? kept : {}), ...Object.fromEntries(found) })
  }

  const focus = (...names: string[]) => {
    const first = [...(form.current?.elements ?? [])].find(
      element => element instanceof HTMLInputElement && names.includes(element.name)
    )
    if (!(first instanceof HTMLInputElement)) return
    // screen readers do not repeat a field that has the focus already
    if (first === document.activeElement) first.blur()
    first.focus()
  }

  const show = (found: FieldErrors) => {
    // first, because the field that loses the focus is checked then
    focus(...Object.keys(found))
    setErrors(found)
  }

  const refuse = (values: Values, found: FieldErrors) => {
    refused.current = { values, found }
    show(found)
  }

  const addWeakness = async (values: Values) => {
    // sending the form again checks again, and says what failed
    const found = await checkStrength(values).catch(() => undefined)
    if (!found) return
    refused.current = { values, found }
    showSeen()
  }

  return {
    errors,
    /** Returns the present values of the fields. */
    read,
    /** Shows errors that the rules cannot find in these values, such as those of the server. */
    refuse,
    /** Returns whether the chosen password is strong enough, and shows the error if it is not. */
    async isStrong(values: Values): Promise<boolean> {
      const found = await checkStrength(values)
      if (found) refuse(values, found)
      return !found
    },
    focus,
    /** Empties all fields and removes their errors. */
    clear(): void {
      seen.current.clear()
      refused.current = { values: {}, found: {} }
      setErrors({})
      form.current?.reset()
    },
    /** Returns the values if they break no rule; otherwise shows all errors. */
    submit(): Values | undefined {
      const values = read()
      for (const name of Object.keys(values)) seen.current.add(name)
      const found = faultsOf(rules, values)
      refused.current = { values: {}, found: {} }
      show(found)
      if (Object.keys(found).length === 0) return values
      void addWeakness(values)
      return undefined
    },
    props: {
      ref: form,
      // our own sentences instead of the browser's
      noValidate: true,
      // never a query: a form sent before its script runs must not put a password in the address
      method: 'post' as const,
      onBlur({ target }: SyntheticEvent) {
        // an empty field may still be filled: only submitting complains about it
        if (!(target instanceof HTMLInputElement) || !target.value) return
        seen.current.add(target.name)
        showSeen()
      },
      onInput: showSeen,
      onMouseDown(event: MouseEvent): void {
        // errors that come or go with the focus would move the button from under the pointer
        const isPressed = event.target instanceof Element && event.target.closest('button, a')
        if (isPressed && event.button === 0) event.preventDefault()
      }
    }
  }
}

/** Fills in values as if they were typed. */
function fill(form: HTMLFormElement | null, values: unknown): void {
  for (const [name, value] of Object.entries(Object(values))) {
    const field = form?.elements.namedItem(name)
    if (field instanceof RadioNodeList) field.value = String(value)
    if (!(field instanceof HTMLInputElement) || field.readOnly) continue
    field.value = String(value)
    field.dispatchEvent(new Event('input', { bubbles: true }))
  }
}
