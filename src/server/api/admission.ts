import type * as z from 'zod/mini'
import { disabledBy } from '../../contract/disabled.ts'
import type { Endpoint } from '../../contract/endpoint.ts'
import { AppError } from '../../contract/errors.ts'
import type { Deps, Tenant } from '../domain/deps.ts'
import { authenticate } from '../domain/sessions/authentication.ts'
import type { Person } from '../domain/sessions/sessions.ts'
import type { InFlightCall } from './in-flight-calls.ts'
import { refusedField, refusedInput } from './refused-fields.ts'

// The checks before every call, both of Hono's routes and of those that read Node's own request.

/** The part of a route that tells who may call it. */
export type Admission = Pick<Endpoint, 'access' | 'pending' | 'suspended'>

/** Returns the person of a token. Throws where they may not make the call. */
export async function admitPerson(
  deps: Pick<Deps, 'db' | 'tokens' | 'clock'>,
  tenant: Tenant,
  route: Admission,
  token: string | undefined,
  inFlight?: InFlightCall
): Promise<Person> {
  if (token === undefined) {
    throw new AppError('unauthenticated', 'This call needs a bearer token')
  }
  refuseSuspended(tenant, route)
  const person = await authenticate(deps, tenant, token, inFlight)
  if (person.pending && !route.pending) {
    throw new AppError('forbidden', 'The session is pending: the e-mail is not confirmed')
  }
  requirePermission(person, route.access)
  return person
}

/** Throws `forbidden` where a person lacks an access. */
export function requirePermission(person: Person, access: Endpoint['access']): void {
  if (hasAccess(person, access)) return
  throw new AppError('forbidden', `This call needs the permission ${access}`)
}

/** Throws where the company is suspended and the call needs an active one. */
export function refuseSuspended({ disabled }: Tenant, route: Admission): void {
  if (!disabled || route.suspended) return
  throw new AppError('account_disabled', 'The company is suspended', {
    disabled: disabledBy('company', disabled)
  })
}

/** Returns whether a person has an access. */
export function hasAccess(person: Person, access: Endpoint['access']): boolean {
  if (access === 'public' || access === 'user') return true
  return person.permissions.includes(access) || person.permissions.includes('operator')
}

/** Returns the token: `'Bearer x.y.z'` → `'x.y.z'`. Another header counts as a bad token. */
export function bearerToken(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  const match = /^Bearer +([A-Za-z0-9._~+/=-]+)$/i.exec(header)
  return match?.[1] ?? ''
}

/** Parses the input of a call. Throws `invalid_input` with the fields and their broken rules. */
export function parseInput<Input extends z.ZodMiniType>(
  { input }: { input: Input },
  given: unknown
): z.output<Input> {
  const parsed = input.safeParse(given)
  if (parsed.success) return parsed.data
  throw refusedInput(parsed.error)
}

/** Returns the fields of a query. Throws for a repeated field. */
export function queryFields(query: URLSearchParams): Record<string, string> {
  const values = new Map<string, string>()
  for (const [name, value] of query) {
    if (values.has(name)) {
      throw refusedField(name, { rule: 'format', detail: 'once in the query' })
    }
    values.set(name, value)
  }
  return Object.fromEntries(values)
}

/** Parses the header `Idempotency-Key`. Returns undefined where it is absent. */
export function idempotencyKey(header: string | undefined): string | undefined {
  if (header === undefined || /^[\x21-\x7e]{1,255}$/.test(header)) return header
  throw refusedField('idempotency-key', {
    rule: 'format',
    detail: '1 to 255 printable characters of ASCII'
  })
}
