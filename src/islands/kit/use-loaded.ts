import { useEffect, useRef, useState } from 'react'
import { type AppError, asAppError } from '../../contract/kit/errors.ts'

/** `what` is the English message of an unexpected error. */
export function useLoaded<Value>(what: string, load: () => Promise<Value>, isReady = true) {
  const [state, setState] = useState<{ value?: Value; failure?: AppError }>({})
  const loader = useRef(async () => {})
  loader.current = async () => {
    try {
      setState({ value: await load() })
    } catch (cause) {
      setState({ failure: asAppError(cause, what) })
    }
  }
  useEffect(() => {
    if (isReady) void loader.current()
  }, [isReady])
  return { ...state, reload: () => loader.current() }
}
