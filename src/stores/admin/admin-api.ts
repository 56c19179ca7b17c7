import { AppError } from '../../contract/kit/errors.ts'
import { withPasswordConfirmation } from '../confirmation.ts'
import { $route } from '../routes.ts'
import {
  type ApiOptions,
  api,
  type CallInput,
  type CallName,
  type CallOutput,
  sessionGeneration
} from '../sessions.ts'

/**
 * Calls the API for the company in the address of the page. If the server requires the password
 * again, asks for it and repeats the call.
 */
export function callAdminApi<Name extends CallName>(
  name: Name,
  input: CallInput<Name>,
  options: ApiOptions = {}
): Promise<CallOutput<Name>> {
  // the call that is repeated after the password has the same key
  const idempotencyKey = crypto.randomUUID()
  const sent = { company: companyIdOfPage(), idempotencyKey, ...options }
  return withPasswordConfirmation(name, () => api(name, input, sent))
}

/**
 * Returns the id of the company in the page's address, such as `/en/admin/{company}/groups`. Empty
 * if the address contains none.
 */
export function companyIdOfPage(): string {
  const params: Record<string, string> = $route.get()?.params ?? {}
  return params['company'] ?? ''
}

/**
 * Creates a function `startLoad` with which a store drops outdated responses:
 * `const isLatest = startLoad(); const data = await load(); if (isLatest()) show(data)`.
 * `isLatest()` returns false once `startLoad()` has been called again or the session has ended.
 */
export function createLatestLoadTracker(): () => () => boolean {
  let loads = 0
  return () => {
    loads += 1
    const [session, mine] = [sessionGeneration(), loads]
    return () => session === sessionGeneration() && mine === loads
  }
}

/** Makes a call and returns its result, or the `AppError` with which it fails. */
export async function resultOrError<Value>(call: () => Promise<Value>): Promise<Value | AppError> {
  try {
    return await call()
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}
