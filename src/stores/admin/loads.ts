import { AppError } from '../../contract/kit/errors.ts'
import { sessionNumber } from '../sessions.ts'

/**
 * Creates the function that starts a load of a store. It returns a function that says whether this
 * load is still the latest one, in the same session. The result of any other load is dropped.
 */
export function createLoadStart(): () => () => boolean {
  let loads = 0
  return () => {
    loads += 1
    const [session, mine] = [sessionNumber(), loads]
    return () => session === sessionNumber() && mine === loads
  }
}

/** Makes a call and returns its result, or the `AppError` with which it fails. */
export async function resultOf<Value>(call: () => Promise<Value>): Promise<Value | AppError> {
  try {
    return await call()
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}
