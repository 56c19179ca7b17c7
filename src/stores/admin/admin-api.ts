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
 * Calls the API for the company in the address of the page. Asks for the password if the call needs
 * it.
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

/** Empty if the address contains none. */
export function companyIdOfPage(): string {
  const params: Record<string, string> = $route.get()?.params ?? {}
  return params['company'] ?? ''
}

/** `const isLatest = startLoad(); const data = await load(); if (isLatest()) show(data)` */
export function createLatestLoadTracker(): () => () => boolean {
  let loads = 0
  return () => {
    loads += 1
    const [session, mine] = [sessionGeneration(), loads]
    return () => session === sessionGeneration() && mine === loads
  }
}

export async function resultOrError<Value>(call: () => Promise<Value>): Promise<Value | AppError> {
  try {
    return await call()
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}
