import type { DisabledState } from './disabled.ts'

/** Never rename or reuse a code. `src/i18n` has its sentence. */
export const errorCodes = {
  // codes with which every call may fail
  invalid_input: 400,
  unauthenticated: 401,
  forbidden: 403,
  account_disabled: 403,
  person_required: 403,
  scope_missing: 403,
  not_found: 404,
  method_not_allowed: 405,
  body_too_large: 413,
  unsupported_media_type: 415,
  rate_limited: 429,
  internal: 500,
  unavailable: 503,

  // requests that cannot be routed
  malformed_request: 400,
  request_timeout: 408,
  headers_too_large: 431,

  // connection failures, thrown by `call()` and never sent
  offline: 0,
  unexpected_answer: 502,

  // failures of the caller's disk, found by a worker and never sent
  file_unreadable: 0,

  // the browser keeps no session, found at the sign-in and never sent
  cookies_blocked: 0,

  // hosts
  unknown_domain: 404,
  unknown_host: 421,

  // sign-up and sign-in
  signup_closed: 403,
  email_taken: 409,
  setup_code_wrong: 403,
  setup_code_expired: 410,
  challenge_invalid: 422,
  key_invalid: 422,
  login_failed: 401,

  // mailed links
  mail_token_invalid: 410,
  mail_token_used: 409,
  proof_required: 422,

  // changes of people by administrators
  already_active: 409,
  email_unconfirmed: 409,
  not_waiting: 409,
  person_disabled: 409,
  not_oneself: 409,
  last_operator: 409,
  last_administrator: 409,

  // the current password was wrong; not a 401, which would sign out
  password_wrong: 422,

  // the call needs the password once more: POST /user/confirm
  confirmation_required: 403,

  // deposits
  category_unknown: 422,
  category_required: 422,
  category_unusable: 409,
  file_empty: 422,
  too_large: 413,
  type_not_allowed: 422,
  transform_not_allowed: 422,
  length_required: 411,
  fingerprint_invalid: 422,
  request_limit_reached: 429,
  storage_limit_reached: 413,
  upload_limit_reached: 409,
  upload_state: 409,
  upload_offset: 409,
  upload_busy: 409,
  transfer_corrupt: 422,
  not_stored: 500,
  held: 500,
  cancelled: 409,
  lapsed: 410,

  // downloads
  link_invalid: 403,
  range_unsatisfiable: 416,

  // receipts
  receipt_pending: 409,
  receipt_gone: 410,

  // a default group whose documents would be visible to strangers who sign up
  default_group_private: 409,
  // a company always has a group for its new people
  default_group_needed: 409,

  // administration
  own_company: 409,
  host_not_allowed: 422,
  host_taken: 409,
  domain_needed: 409,
  // a wildcard domain that verifies hosts of other companies is removed by operators alone
  domain_covers_others: 409,
  domain_unsuitable: 409,
  // a link in a mail needs a host that is served and is not a wildcard
  host_needed: 409,
  name_taken: 409,
  in_use: 409,

  // imports: a call that does not fit the state, rows that are missing, refused rows that the run is
  // not to skip, and more bytes of cells than an import may have
  import_state: 409,
  import_incomplete: 409,
  import_refused_rows: 409,
  import_too_large: 413,

  // bounds: a company, or a person of it, has as much as it may have. Domains that are not proved
  // yet are claims
  too_many_domains: 409,
  too_many_claims: 409,
  too_many_groups: 409,
  too_many_categories: 409,
  too_many_keys: 409,
  too_many_imports: 409,
  too_many_kept_imports: 409,
  too_many_import_bytes: 409,
  too_many_people: 409,
  too_many_data_sources: 409,

  // another person has changed the data since the caller read it
  changed_meanwhile: 412,

  // themes
  svg_refused: 422,

  // idempotency keys
  idempotency_key_missing: 400,
  idempotency_in_flight: 409,
  idempotency_key_reused: 422,

  // verification
  lookup_limited: 429,
  too_many_items: 422,

  // live stream
  stream_limit_reached: 429
} as const satisfies Record<string, number>

export type ErrorCode = keyof typeof errorCodes

export const commonErrorCodes = [
  'invalid_input',
  'unauthenticated',
  'forbidden',
  'account_disabled',
  'person_required',
  'scope_missing',
  'not_found',
  'method_not_allowed',
  'body_too_large',
  'unsupported_media_type',
  'rate_limited',
  'internal',
  'unavailable'
] as const satisfies readonly ErrorCode[]

/** The rule that a value breaks. Pages show the text of `rule`. */
export interface FieldError {
  rule: string
  limit?: number | string
  // the format that the field needs, in English for developers
  detail?: string
}
export type FieldErrors = Record<string, FieldError>

// `null`: `used` never begins again at 0
export interface ReachedLimit {
  used: number
  limit: number
  resets_at: string | null
}

/** What prevents a deletion: `{ users: 3, deposits: 12 }` */
export type UseCountsByKind = Record<string, number>

export interface SelectableCategory {
  id: string
  names: { en: string; fr: string }
}

interface AppErrorDetails {
  cause?: unknown
  fields?: FieldErrors
  // beyond the 20 in `fields`
  fieldsOmitted?: number
  disabled?: DisabledState
  figures?: ReachedLimit
  categories?: readonly SelectableCategory[]
  uses?: UseCountsByKind
  // seconds
  retryAfter?: number
}

/**
 * An expected failure. Programs read its code and people its sentence. Anything else thrown is a
 * bug and becomes `internal`.
 */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly fields: FieldErrors | undefined
  readonly fieldsOmitted: number
  readonly disabled: DisabledState | undefined
  readonly figures: ReachedLimit | undefined
  readonly categories: readonly SelectableCategory[] | undefined
  readonly uses: UseCountsByKind | undefined
  readonly retryAfter: number | undefined
  /** Id of the HTTP request in the server's log, to quote to support. */
  instance: string | undefined

  // `detail` is English for developers
  constructor(code: ErrorCode, detail: string, details: AppErrorDetails = {}) {
    super(detail, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'AppError'
    this.code = code
    this.status = errorCodes[code]
    this.fields = details.fields
    this.fieldsOmitted = details.fieldsOmitted ?? 0
    this.disabled = details.disabled
    this.figures = details.figures
    this.categories = details.categories
    this.uses = details.uses
    this.retryAfter = details.retryAfter
  }
}

/** Returns an `AppError` unchanged and makes an `internal` one of anything else. */
export function asAppError(thrown: unknown, detail: string): AppError {
  return thrown instanceof AppError ? thrown : new AppError('internal', detail, { cause: thrown })
}
