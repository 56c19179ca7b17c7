import { type ComponentType, useCallback, useEffect, useRef, useState } from 'react'
import { AppError } from '../../contract/errors.ts'

/** A part of a page whose code comes after the page; another try is open where it was lost on the way. */
export function useLazyPart<Props>(load: () => Promise<ComponentType<Props>>) {
  const [Part, setPart] = useState<ComponentType<Props>>()
  const [error, setError] = useState<AppError>()
  const first = useRef(load)
  const retry = useCallback(async () => {
    setError(undefined)
    try {
      const part = await first.current()
      setPart(() => part)
    } catch (cause) {
      setError(new AppError('offline', 'A part of the page could not be loaded', { cause }))
    }
  }, [])
  useEffect(() => void retry(), [retry])
  return { Part, error, retry }
}
