import type * as z from 'zod/mini'
import { AppError, type FieldError } from '../../../contract/kit/errors.ts'
import {
  firstFieldErrors,
  truncateFieldName,
  type ZodIssueLike
} from '../../../contract/kit/field-errors.ts'

// in the text `detail`; the list `fields` may be longer
const maxNamedFields = 5

// does not say what is wrong, so a description replaces it
const zodDefaultMessage = 'Invalid input'

export function parseFields<Schema extends z.ZodMiniType>(
  schema: Schema,
  given: unknown
): { success: true; data: z.output<Schema> } | { success: false; error: AppError } {
  // Set for each call, because the packages of a page may set messages for the whole process. Those
  // of the classic zod repeat the names of unknown fields, which may be long.
  const parsed = schema.safeParse(given, { error: () => zodDefaultMessage })
  return parsed.success ? parsed : { success: false, error: refusedInput(parsed.error) }
}

function refusedInput(error: { issues: readonly ZodIssueLike[] }): AppError {
  const { fields, omitted } = firstFieldErrors(error, wanted)
  const names = Object.entries(fields)
  const said = names.slice(0, maxNamedFields).map(([name, { detail }]) => `${name} (${detail})`)
  const more = names.length + omitted - said.length
  const rest = more > 0 ? [`and ${more} more`] : []
  return new AppError('invalid_input', `Refused. Wanted: ${[...said, ...rest].join('; ')}`, {
    fields,
    fieldsOmitted: omitted
  })
}

export function invalidFieldError(
  name: string,
  error: FieldError & { detail: string },
  cause?: unknown
): AppError {
  const field = truncateFieldName(name)
  return new AppError('invalid_input', `Refused. Wanted: ${field} (${error.detail})`, {
    fields: { [field]: error },
    cause
  })
}

/** Nobody receives it. Any error but an `AppError` would be logged as a failure of the service. */
export function interruptedRequestError(cause?: unknown): AppError {
  return invalidFieldError('(body)', { rule: 'format', detail: 'whole: this one broke off' }, cause)
}

const types: Record<string, string> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object'
}

const formats: Record<string, string> = {
  uuid: 'a UUID',
  datetime: 'a time as in RFC 3339, such as 2026-01-31T12:00:00Z'
}

const units: Record<string, string> = { string: ' characters', array: ' items' }

function wanted(issue: ZodIssueLike): string {
  const { code, message, expected, values = [], format, minimum, maximum, origin } = issue
  if (message !== undefined && message !== zodDefaultMessage) return message
  const unit = units[String(origin)] ?? ''
  if (code === 'too_small') {
    return minimum === 1 && unit !== '' ? 'not empty' : `at least ${minimum}${unit}`
  }
  if (code === 'too_big') return `at most ${maximum}${unit}`
  if (code === 'invalid_type') return types[String(expected)] ?? 'another type'
  if (code === 'invalid_value') return `one of ${values.join(', ')}`
  if (code === 'invalid_format') return formats[String(format)] ?? 'another form'
  if (code === 'unrecognized_keys') return 'no field of this call'
  return 'another form'
}
