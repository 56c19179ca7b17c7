import { useEffect, useRef } from 'react'
import type { FieldErrors } from '../../contract/kit/errors.ts'
import { loadInputCheck } from '../../stores/input-check.ts'
import type { CallName } from '../../stores/sessions.ts'

/**
 * Returns a function that checks an input with the schema of an API call and returns the errors by
 * field. Until the schema is loaded, the function returns no errors, and only the API checks the
 * input.
 */
export function useInputCheck(name: CallName): (input: unknown) => FieldErrors {
  const check = useRef<(input: unknown) => FieldErrors>(() => ({}))
  useEffect(() => {
    loadInputCheck(name).then(
      loaded => {
        check.current = loaded
      },
      () => {}
    )
  }, [name])
  return input => check.current(input)
}
