import { useRef, useState } from 'react'
import { type AppError, asAppError } from '../../contract/errors.ts'

type State<Result> =
  | { status: 'idle' | 'working' }
  | { status: 'done'; result: Result }
  | { status: 'failed'; error: AppError }

export interface ActionOptions<Input, Result> {
  /** What the action does, in English, for errors that nobody expects: `Saving the group failed`. */
  what: string
  /**
   * Makes the calls. `key` is the `Idempotency-Key` of the action: it stays the same where the same
   * input is sent again because the outcome of the first try is unknown.
   */
  send: (input: Input, key: string) => Promise<Result>
  /** Returns whether it has told the person about the error, which is then not shown. */
  handle?: (error: AppError, input: Input) => boolean
}

/**
 * Runs an action of a person, such as sending a form, one at a time, and says whether it is working,
 * done or failed.
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
      if (isOpen(error)) repeatable.current = { sent, key }
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
    /** Forgets the outcome of the last run. */
    reset: () => setState(now => (now.status === 'working' ? now : { status: 'idle' }))
  }
}

/** Returns whether the server may have done what the call asked for. */
function isOpen({ status, code }: AppError): boolean {
  return status < 400 || status >= 500 || code === 'idempotency_in_flight'
}
