import type * as z from 'zod/mini'
import { disabledDetails } from '../../contract/disabled.ts'
import type { Endpoint } from '../../contract/endpoint.ts'
import { AppError } from '../../contract/errors.ts'
import type { Deps, Tenant } from '../domain/deps.ts'
import { authenticate } from '../domain/sessions/authentication.ts'
import type { Person } from '../domain/sessions/sessions.ts'
import type { InFlightCall } from './in-flight-calls.ts'
import { refusedField, refusedInput } from './refused-fields.ts'

// The checks before every call, both of Hono's routes and of those that read Node's own request.

/** The properties of a route that decide who may call it. */
export type Admission = Pick<Endpoint, 'access' | 'pending' | 'suspended' | 'confirmation'>

/**
 * Returns the person to whom a token belongs. Throws `unauthenticated`, `account_disabled` or
 * `forbidden` when this person may not make the call.
 */
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

/** Throws `forbidden` when the person lacks the required permission. */
export function requirePermission(person: Person, access: Endpoint['access']): void {
  if (hasAccess(person, access)) return
  throw new AppError('forbidden', `This call needs the permission ${access}`)
}

/** Throws `confirmation_required` when the call needs the caller's password once more. */
export function requireConfirmation(person: Person, route: Admission): void {
  if (!route.confirmation || person.confirmed) return
  throw new AppError('confirmation_required', 'Confirm the password first: POST /user/confirm')
}

/**
 * Throws `account_disabled` when the company is suspended and the route is not open to suspended
 * companies.
 */
export function refuseSuspended({ disabled }: Tenant, route: Admission): void {
  if (!disabled || route.suspended) return
  throw new AppError('account_disabled', 'The company is suspended', {
    disabled: disabledDetails('company', disabled)
  })
}

/**
 * Returns whether a person has the permission that `access` requires. Operators have every
 * permission.
 */
export function hasAccess(person: Person, access: Endpoint['access']): boolean {
  if (access === 'public' || access === 'user') return true
  return person.permissions.includes(access) || person.permissions.includes('operator')
}

/**
 * Returns the token of an `Authorization` header: `'Bearer x.y.z'` → `'x.y.z'`. Returns undefined
 * without a header, and an empty (invalid) token for any other header.
 */
export function bearerToken(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  const match = /^Bearer +([A-Za-z0-9._~+/=-]+)$/i.exec(header)
  return match?.[1] ?? ''
}

/**
 * Parses the input of a call. Throws `invalid_input` with the names of the invalid fields and the
 * rules that they break.
 */
export function parseInput<Input extends z.ZodMiniType>(
  { input }: { input: Input },
  given: unknown
): z.output<Input> {
  const parsed = input.safeParse(given)
  if (parsed.success) return parsed.data
  throw refusedInput(parsed.error)
}

/** Returns the fields of a query string. Throws `invalid_input` for a field that occurs twice. */
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

/**
 * Returns the value of the header `Idempotency-Key`, or undefined if it is absent. Throws
 * `invalid_input` for an invalid value.
 */
export function idempotencyKey(header: string | undefined): string | undefined {
  if (header === undefined || /^[\x21-\x7e]{1,255}$/.test(header)) return header
  throw refusedField('idempotency-key', {
    rule: 'format',
    detail: '1 to 255 printable characters of ASCII'
  })
}
