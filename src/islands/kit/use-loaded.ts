import { useEffect, useRef, useState } from 'react'
import { type AppError, asAppError } from '../../contract/kit/errors.ts'

/**
 * Loads a value as soon as `isReady` is true. Returns the value, the error if loading failed, and a
 * function that loads again. `what` is the message, in English, of the error if `load` throws
 * something unexpected: `Loading the default group failed`.
 */
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
