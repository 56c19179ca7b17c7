import type { DisabledState } from './disabled.ts'
import {
  AppError,
  type ErrorCode,
  errorCodes,
  type FieldErrors,
  type ReachedLimit,
  type SelectableCategory,
  type UseCountsByKind
} from './errors.ts'

/** RFC 9457. */
export interface Problem {
  type: 'about:blank'
  title: string
  status: number
  detail: string
  code: ErrorCode
  instance?: string
  fields?: FieldErrors
  fields_omitted?: number
  disabled?: DisabledState
  categories?: readonly SelectableCategory[]
  uses?: UseCountsByKind
  used?: number
  limit?: number
  resets_at?: string | null
}

const titles: Record<number, string> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  408: 'Request Timeout',
  409: 'Conflict',
  410: 'Gone',
  411: 'Length Required',
  412: 'Precondition Failed',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  416: 'Range Not Satisfiable',
  421: 'Misdirected Request',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  431: 'Request Header Fields Too Large',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable'
}

// `instance` is the id of the HTTP request
export function toProblem(error: AppError, instance?: string): Problem {
  return {
    type: 'about:blank',
    title: titles[error.status] ?? 'Error',
    status: error.status,
    detail: error.message,
    code: error.code,
    ...(instance ? { instance } : {}),
    ...(error.fields ? { fields: error.fields } : {}),
    ...(error.fieldsOmitted > 0 ? { fields_omitted: error.fieldsOmitted } : {}),
    ...(error.disabled ? { disabled: error.disabled } : {}),
    ...(error.categories ? { categories: error.categories } : {}),
    ...(error.uses ? { uses: error.uses } : {}),
    ...error.figures
  }
}

/** Without a known code, a 401 is `unauthenticated` and the rest `unexpected_answer`. */
export function errorFromProblem(status: number, body: unknown, retryAfter?: number): AppError {
  const problem = isRecord(body) ? body : {}
  // a 403 with this object means a disabled account, whatever its code
  const isDisabled = status === 403 && isRecord(problem['disabled'])
  const code = isDisabled ? 'account_disabled' : problem['code']
  if (typeof code !== 'string' || !(code in errorCodes)) {
    const plain = status === 401 ? 'unauthenticated' : 'unexpected_answer'
    return new AppError(plain, `The API answered ${status} without a known code`)
  }
  const error = new AppError(code as ErrorCode, String(problem['detail'] ?? ''), {
    // as: the API is ours and writes these members through toProblem()
    ...(isRecord(problem['fields']) ? { fields: problem['fields'] as unknown as FieldErrors } : {}),
    ...(isRecord(problem['disabled'])
      ? { disabled: problem['disabled'] as unknown as DisabledState }
      : {}),
    ...(Array.isArray(problem['categories']) ? { categories: problem['categories'] } : {}),
    ...(isRecord(problem['uses']) ? { uses: problem['uses'] as UseCountsByKind } : {}),
    ...(typeof problem['limit'] === 'number'
      ? { figures: problem as unknown as ReachedLimit }
      : {}),
    ...(retryAfter === undefined ? {} : { retryAfter })
  })
  if (typeof problem['instance'] === 'string') error.instance = problem['instance']
  return error
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
