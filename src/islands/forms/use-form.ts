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
 * A native form whose inputs keep their own values. A field is checked when it is left, from then on
 * at every change; submitting checks all and leads to the first that is wrong. What was typed stays when
 * the page changes its language.
 */
export function useForm(rules: Readonly<Record<string, Validator>>) {
  const form = useRef<HTMLFormElement>(null)
  const seen = useRef(new Set<string>())
  /** What others found wrong, and in which values: it holds until one changes or the form is sent again. */
  const refused = useRef<{ values: Values; found: FieldErrors }>({ values: {}, found: {} })
  const [errors, setErrors] = useState<FieldErrors>({})

  const read = (): Values => {
    const values: Values = {}
    if (!form.current) return values
    for (const [name, value] of new FormData(form.current)) values[name] = String(value)
    return values
  }

  const holdDraft = useEffectEvent(() => {
    const name = `form ${Object.keys(rules).join(' ')}`
    fill(form.current, takeDraft(name))
    return keepDraft(name, read)
  })
  useEffect(() => holdDraft(), [])

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
    // a field that has the focus already is not read out again
    if (first === document.activeElement) first.blur()
    first.focus()
  }

  const show = (found: FieldErrors) => {
    // first: the field that is left for it is checked by then
    focus(...Object.keys(found))
    setErrors(found)
  }

  return {
    errors,
    /** What stands in the fields now. */
    read,
    /** Shows what others found in the values that were sent: the server, or the judge of passwords. */
    refuse(values: Values, found: FieldErrors): void {
      refused.current = { values, found }
      show(found)
    },
    /** Adds what the judge of passwords found in the values that were sent, where other fields are wrong too. */
    async add(judging: Promise<FieldErrors | undefined>): Promise<void> {
      const values = read()
      // sending the form again asks again, and says what failed
      const found = await judging.catch(() => undefined)
      if (!found) return
      refused.current = { values, found }
      showSeen()
    },
    focus,
    /** Empties all fields, and what was said of them. */
    clear(): void {
      seen.current.clear()
      refused.current = { values: {}, found: {} }
      setErrors({})
      form.current?.reset()
    },
    /** The values, if all of them are right. */
    submit(): Values | undefined {
      const values = read()
      for (const name of Object.keys(values)) seen.current.add(name)
      const found = faultsOf(rules, values)
      refused.current = { values: {}, found: {} }
      show(found)
      return Object.keys(found).length === 0 ? values : undefined
    },
    props: {
      ref: form,
      // our own words instead of the browser's
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
        // what leaving a field shows or takes away would move them from under the pointer, and lose the click
        const isPressed = event.target instanceof Element && event.target.closest('button, a')
        if (isPressed && event.button === 0) event.preventDefault()
      }
    }
  }
}

/** Puts values back as if they were typed again. */
function fill(form: HTMLFormElement | null, values: unknown): void {
  for (const [name, value] of Object.entries(Object(values))) {
    const field = form?.elements.namedItem(name)
    if (field instanceof RadioNodeList) field.value = String(value)
    if (!(field instanceof HTMLInputElement) || field.readOnly) continue
    field.value = String(value)
    field.dispatchEvent(new Event('input', { bubbles: true }))
  }
}
