import type { FieldError, FieldErrors } from './errors.ts'

export interface IssueLike {
  code?: string | undefined
  expected?: unknown
  values?: readonly unknown[] | undefined
  origin?: unknown
  path: PropertyKey[]
  format?: unknown
  minimum?: unknown
  maximum?: unknown
  keys?: unknown
  params?: Record<string, unknown> | undefined
  input?: unknown
  message?: string | undefined
  /** For each member of a union, the issues that the member found. */
  errors?: readonly (readonly IssueLike[])[] | undefined
}

/** The most refused fields that an answer lists. */
const maxFields = 20
const maxFieldNameLength = 64

/** The result of a failed parse: the first broken rule of each field, and the number of further fields. */
export interface Refusal {
  fields: FieldErrors
  omitted: number
}

/**
 * Returns the broken rule of each field: `{ issues: [{ path: ['email'], format: 'email', … }] }` →
 * `{ email: { rule: 'email' } }`
 */
export function fieldErrors(error: { issues: readonly IssueLike[] }): FieldErrors {
  return refusalOf(error).fields
}

/**
 * Returns the broken rule of each field with a description, and the number of fields beyond the
 * maximum.
 */
export function refusalOf(
  { issues }: { issues: readonly IssueLike[] },
  describe?: (issue: IssueLike) => string
): Refusal {
  // a map, because callers choose the names, and every plain object has a member `constructor`
  const fields = new Map<string, FieldError>()
  const omitted = new Set<string>()
  const add = (path: PropertyKey[], error: FieldError) => {
    const field = path.map(String).join('.') || '(body)'
    if (fields.has(field)) return
    if (fields.size < maxFields) fields.set(field, error)
    else omitted.add(field)
  }
  for (const issue of issues.flatMap(bestIssues)) {
    const detail = describe && { detail: describe(issue) }
    if (issue.code === 'unrecognized_keys' && Array.isArray(issue.keys)) {
      for (const key of issue.keys) add([...issue.path, key], { rule: 'unknown', ...detail })
    } else add(issue.path, { ...ruleOf(issue), ...detail })
  }
  const named = [...fields].map(([field, error]) => [shortenFieldName(field), error])
  return { fields: Object.fromEntries(named), omitted: omitted.size }
}

/** Shortens a field name, because callers can send names of any length. */
export function shortenFieldName(field: string): string {
  if (field.length <= maxFieldNameLength) return field
  return `${field.slice(0, maxFieldNameLength - 1).toWellFormed()}…`
}

/** Replaces the issue of a union by the issues of the member that the value resembles most. */
function bestIssues(issue: IssueLike): IssueLike[] {
  const [first, ...others] = issue.errors ?? []
  if (issue.code !== 'invalid_union' || !first) return [issue]
  const best = others.reduce((least, each) => (each.length < least.length ? each : least), first)
  return best.map(each => ({ ...each, path: [...issue.path, ...each.path] })).flatMap(bestIssues)
}

function ruleOf(issue: IssueLike): FieldError {
  const { params } = issue
  if (params && typeof params['rule'] === 'string') {
    const limit = params['limit']
    return {
      rule: params['rule'],
      ...(typeof limit === 'number' || typeof limit === 'string' ? { limit } : {})
    }
  }
  if (issue.code === 'too_small') {
    const minimum = Number(issue.minimum)
    return minimum === 1 ? { rule: 'required' } : { rule: 'min', limit: minimum }
  }
  if (issue.code === 'too_big') return { rule: 'max', limit: Number(issue.maximum) }
  if (issue.code === 'invalid_format') return { rule: String(issue.format ?? 'format') }
  if (issue.code === 'invalid_type' && issue.input === undefined) return { rule: 'required' }
  return { rule: 'format' }
}
