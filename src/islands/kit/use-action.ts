import { useRef, useState } from 'react'
import { type AppError, asAppError } from '../../contract/kit/errors.ts'

type State<Result> =
  | { status: 'idle' | 'working' }
  | { status: 'done'; result: Result }
  | { status: 'failed'; error: AppError }

export interface ActionOptions<Input, Result> {
  /** English message for an unexpected error: `Saving the group failed`. */
  what: string
  /**
   * `key` is the `Idempotency-Key`. It is repeated with the same input if the first try may have
   * succeeded.
   */
  send: (input: Input, key: string) => Promise<Result>
  /** Returns true if it shows the error itself. */
  handle?: (error: AppError, input: Input) => boolean
}

/** Ignores `start()` while the action runs. */
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
    reset: () => setState(now => (now.status === 'working' ? now : { status: 'idle' }))
  }
}

function mayHaveSucceeded({ status, code }: AppError): boolean {
  return status < 400 || status >= 500 || code === 'idempotency_in_flight'
}
