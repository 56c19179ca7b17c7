import { useEffect, useRef } from 'react'
import type { FieldErrors } from '../../contract/kit/errors.ts'
import { loadInputCheck } from '../../stores/input-check.ts'
import type { CallName } from '../../stores/sessions.ts'

/**
 * Returns the function that finds what the schema of a call refuses in an input, by field. Until the
 * schema is loaded it finds nothing: the call then finds the same when the form is sent.
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
