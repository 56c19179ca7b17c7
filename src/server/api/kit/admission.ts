import type * as z from 'zod/mini'
import type { Endpoint } from '../../../contract/kit/endpoint.ts'
import { AppError } from '../../../contract/kit/errors.ts'
import type { Deps, Tenant } from '../../domain/deps.ts'
import { consumeRateLimit } from '../../domain/limits/rate-limits.ts'
import { looksLikeApiKey } from '../../domain/sessions/api-key-secrets.ts'
import { accountDisabledError, authenticate } from '../../domain/sessions/authentication.ts'
import type { AuthenticatedCaller } from '../../domain/sessions/sessions.ts'
import type { CallPlace } from './context.ts'
import { invalidFieldError, parseFields } from './refused-fields.ts'

export type AccessRules = Pick<
  Endpoint,
  'access' | 'pending' | 'suspended' | 'confirmation' | 'scopes'
>

interface Caller {
  /** Empty for a call from within the process. */
  address: string
  place?: CallPlace | undefined
}

export async function admitCaller(
  deps: Pick<Deps, 'db' | 'tokens' | 'clock' | 'keys' | 'settings' | 'counters'>,
  tenant: Tenant,
  route: AccessRules,
  token: string | undefined,
  { address, place }: Caller
): Promise<AuthenticatedCaller> {
  if (token === undefined) {
    throw new AppError('unauthenticated', 'This call needs a bearer token')
  }
  const countCall = (id: string) => place?.countPerson(id)
  const person = await authenticate(deps, tenant, token, countCall).catch(
    async (error: unknown) => {
      const isWrongKey = looksLikeApiKey(token) && Object(error).code === 'unauthenticated'
      if (isWrongKey) await consumeRateLimit(deps, 'wrong_key_address', ['keys', { address }])
      throw error
    }
  )
  requireScope(person, route)
  if (person.pending && !route.pending) {
    throw new AppError('forbidden', 'The session is pending: the e-mail is not confirmed')
  }
  // the scope stands for the permission in these calls alone
  const isAdministratorKey = route.access === 'admin' && person.key?.administers === true
  if (!isAdministratorKey) requirePermission(person, route.access)
  return person
}

/** Whoever loses one of these permissions while the call is under way loses the call. */
export function permissionsNeededFor(
  { access }: AccessRules,
  { key, permissions }: AuthenticatedCaller
): readonly string[] {
  if (key && access === 'admin') return ['admin']
  return access === 'user' ? [] : permissions
}

function requireScope({ key }: AuthenticatedCaller, { scopes }: AccessRules): void {
  if (!key) return
  if (!scopes) throw new AppError('person_required', 'Keys for programs may not make this call')
  if (scopes.some(scope => key.scopes.includes(scope))) return
  throw new AppError('scope_missing', `The key needs the scope ${scopes.join(' or ')}`)
}

export function requirePermission(person: AuthenticatedCaller, access: Endpoint['access']): void {
  if (hasAccess(person, access)) return
  throw new AppError('forbidden', `This call needs the permission ${access}`)
}

export function requirePasswordConfirmation(person: AuthenticatedCaller, route: AccessRules): void {
  if (!route.confirmation || person.confirmed) return
  throw new AppError('confirmation_required', 'Confirm the password first: POST /user/confirm')
}

/** For calls without a token, so the reason is left out. */
export function refuseSuspendedCompany({ disabled }: Tenant, route: AccessRules): void {
  if (!disabled || route.suspended === true) return
  if (route.suspended === 'verification' && disabled.verification !== 'closed') return
  throw accountDisabledError('company', disabled)
}

export function hasAccess(person: AuthenticatedCaller, access: Endpoint['access']): boolean {
  if (access === 'public' || access === 'user') return true
  return person.permissions.includes(access) || person.permissions.includes('operator')
}

/** Undefined without the header, and `''`, which is no valid token, if it has no bearer token. */
export function bearerToken(header: string | undefined): string | undefined {
  if (header === undefined) return undefined
  const match = /^Bearer +([A-Za-z0-9._~+/=-]+)$/i.exec(header)
  return match?.[1] ?? ''
}

export function parseInput<Input extends z.ZodMiniType>(
  { input }: { input: Input },
  given: unknown
): z.output<Input> {
  const parsed = parseFields(input, given)
  if (parsed.success) return parsed.data
  throw parsed.error
}

/** Throws `invalid_input` for a field that occurs twice. */
export function parseQueryFields(query: URLSearchParams): Record<string, string> {
  const values = new Map<string, string>()
  for (const [name, value] of query) {
    if (values.has(name)) {
      throw invalidFieldError(name, { rule: 'format', detail: 'once in the query' })
    }
    values.set(name, value)
  }
  return Object.fromEntries(values)
}

export function parseIdempotencyKey(header: string | undefined): string | undefined {
  if (header === undefined || /^[\x21-\x7e]{1,255}$/.test(header)) return header
  throw invalidFieldError('idempotency-key', {
    rule: 'format',
    detail: '1 to 255 printable characters of ASCII'
  })
}
