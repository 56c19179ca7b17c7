import type { FieldError, FieldErrors } from './errors.ts'

export interface ZodIssueLike {
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
  // one list for each alternative of a union
  errors?: readonly (readonly ZodIssueLike[])[] | undefined
}

const maxFields = 20
const maxFieldNameLength = 64

export interface FirstFieldErrors {
  fields: FieldErrors
  omitted: number
}

/** `{ issues: [{ path: ['email'], format: 'email', … }] }` → `{ email: { rule: 'email' } }` */
export function fieldErrors(error: { issues: readonly ZodIssueLike[] }): FieldErrors {
  return firstFieldErrors(error).fields
}

export function firstFieldErrors(
  { issues }: { issues: readonly ZodIssueLike[] },
  describe?: (issue: ZodIssueLike) => string
): FirstFieldErrors {
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
  const named = [...fields].map(([field, error]) => [truncateFieldName(field), error])
  return { fields: Object.fromEntries(named), omitted: omitted.size }
}

// callers can send names of any length
export function truncateFieldName(field: string): string {
  if (field.length <= maxFieldNameLength) return field
  return `${field.slice(0, maxFieldNameLength - 1).toWellFormed()}…`
}

// of a union, those of the closest alternative
function bestIssues(issue: ZodIssueLike): ZodIssueLike[] {
  const [first, ...others] = issue.errors ?? []
  if (issue.code !== 'invalid_union' || !first) return [issue]
  const best = others.reduce((least, each) => (each.length < least.length ? each : least), first)
  return best.map(each => ({ ...each, path: [...issue.path, ...each.path] })).flatMap(bestIssues)
}

function ruleOf(issue: ZodIssueLike): FieldError {
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
  if (issue.code === 'invalid_type' && issue.expected === 'int') return { rule: 'integer' }
  if (issue.code === 'invalid_type' && issue.input === undefined) return { rule: 'required' }
  return { rule: 'format' }
}
