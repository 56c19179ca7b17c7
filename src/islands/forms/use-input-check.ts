import { useEffect, useRef } from 'react'
import type { FieldErrors } from '../../contract/kit/errors.ts'
import { loadInputCheck } from '../../stores/input-check.ts'
import type { CallName } from '../../stores/sessions.ts'

/** Until the schema is loaded, there are no errors, and only the API checks the input. */
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
