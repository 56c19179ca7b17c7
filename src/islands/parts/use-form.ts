import { type SyntheticEvent, useRef, useState } from 'react'
import type { FieldErrors } from '../../contract/errors.ts'

export type Values = Record<string, string>

/**
 * A native form whose inputs keep their own values. A field is checked when it is left, from then on
 * at every change; submitting checks all and leads to the first that is wrong.
 */
export function useForm(check: (values: Values) => FieldErrors) {
  const form = useRef<HTMLFormElement>(null)
  const seen = useRef(new Set<string>())
  const [errors, setErrors] = useState<FieldErrors>({})

  const read = (): Values => {
    const values: Values = {}
    if (!form.current) return values
    for (const [name, value] of new FormData(form.current)) values[name] = String(value)
    return values
  }

  const showSeen = () => {
    const found = Object.entries(check(read())).filter(([name]) => seen.current.has(name))
    setErrors(Object.fromEntries(found))
  }

  const focus = (...names: string[]) => {
    const first = [...(form.current?.elements ?? [])].find(
      element => element instanceof HTMLInputElement && names.includes(element.name)
    )
    if (first instanceof HTMLInputElement) first.focus()
  }

  const refuse = (found: FieldErrors) => {
    setErrors(found)
    focus(...Object.keys(found))
  }

  return {
    errors,
    /** What stands in the fields now. */
    read,
    /** Shows what the server found, too. */
    refuse,
    focus,
    /** Empties all fields, and what was said of them. */
    clear(): void {
      seen.current.clear()
      setErrors({})
      form.current?.reset()
    },
    /** The values, if all of them are right. */
    submit(): Values | undefined {
      const values = read()
      for (const name of Object.keys(values)) seen.current.add(name)
      const found = check(values)
      refuse(found)
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
      onInput: showSeen
    }
  }
}
