import { $route } from './routes.ts'
import { type ApiOptions, api, type CallName, type InputOf, type OutputOf } from './sessions.ts'

/** Makes a call of the administration, in the company that the address of the page names. */
export function adminApi<Name extends CallName>(
  name: Name,
  input: InputOf<Name>,
  options: ApiOptions = {}
): Promise<OutputOf<Name>> {
  return api(name, input, { company: actingCompany(), ...options })
}

/** Returns the id of the company in the page's address: `/en/admin/{company}/groups`. */
export function actingCompany(): string {
  const params: Record<string, string> = $route.get()?.params ?? {}
  return params['company'] ?? ''
}
