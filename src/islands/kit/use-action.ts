import { useRef, useState } from 'react'
import { type AppError, asAppError } from '../../contract/kit/errors.ts'

type State<Result> =
  | { status: 'idle' | 'working' }
  | { status: 'done'; result: Result }
  | { status: 'failed'; error: AppError }

export interface ActionOptions<Input, Result> {
  /**
   * English error message, such as `Saving the group failed`. Used if `send` throws anything other
   * than an `AppError`.
   */
  what: string
  /**
   * Calls the API. `key` is the `Idempotency-Key` of the action. If the first try may have
   * succeeded in spite of its error, a second try with the same input gets the same key.
   */
  send: (input: Input, key: string) => Promise<Result>
  /**
   * Handles an error. Returns true if `handle` shows the error itself. The error then does not
   * appear in `failure`.
   */
  handle?: (error: AppError, input: Input) => boolean
}

/**
 * Returns `start()`, which runs an action such as a call of the API, and the state of the action:
 * whether it runs, its result, and its error. Ignores `start()` while the action runs.
 */
export function useAction<Input, Result>({ what, send, handle }: ActionOptions<Input, Result>) {
  const [state, setState] = useState<State<Result>>({ status: 'idle' })
  const isBusy = useRef(false)
  const repeatable = useRef<{ sent: string; key: string }>(undefined)

  const start = async (input: Input): Promise<void> => {
    if (isBusy.current) return
    isBusy.current = true
    setState({ status: 'working' })
    const sent = JSON.stringify(input)
    const again = repeatable.current?.sent === sent ? repeatable.current : undefined
    const { key } = again ?? { key: crypto.randomUUID() }
    repeatable.current = undefined
    try {
      setState({ status: 'done', result: await send(input, key) })
    } catch (cause) {
      const error = asAppError(cause, what)
      if (mayHaveSucceeded(error)) repeatable.current = { sent, key }
      setState(handle?.(error, input) ? { status: 'idle' } : { status: 'failed', error })
    } finally {
      isBusy.current = false
    }
  }

  return {
    start,
    isWorking: state.status === 'working',
    failure: state.status === 'failed' ? state.error : undefined,
    isDone: state.status === 'done',
    result: state.status === 'done' ? state.result : undefined,
    /** Resets the state to idle, unless the action is running. */
    reset: () => setState(now => (now.status === 'working' ? now : { status: 'idle' }))
  }
}

function mayHaveSucceeded({ status, code }: AppError): boolean {
  return status < 400 || status >= 500 || code === 'idempotency_in_flight'
}
