import { withConfirmation } from '../confirmation.ts'
import { $route } from '../routes.ts'
import {
  type ApiOptions,
  api,
  type CallInput,
  type CallName,
  type CallOutput
} from '../sessions.ts'

/**
 * Calls the API for the company in the address of the page. If the server requires the password
 * again, asks for it and repeats the call.
 */
export function adminApi<Name extends CallName>(
  name: Name,
  input: CallInput<Name>,
  options: ApiOptions = {}
): Promise<CallOutput<Name>> {
  // the key of the action, the same when the call is made again
  const idempotencyKey = crypto.randomUUID()
  const sent = { company: companyIdOfPage(), idempotencyKey, ...options }
  return withConfirmation(() => api(name, input, sent))
}

/** Returns the id of the company in the page's address: `/en/admin/{company}/groups`. */
export function companyIdOfPage(): string {
  const params: Record<string, string> = $route.get()?.params ?? {}
  return params['company'] ?? ''
}
