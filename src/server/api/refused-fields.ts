import { AppError, type FieldError } from '../../contract/errors.ts'
import { type IssueLike, refusalOf, shortenFieldName } from '../../contract/field-errors.ts'

/**
 * The most fields that the `detail` text of an error names. The member `fields` of the error may
 * contain more.
 */
const maxNamedFields = 5

/**
 * Returns the error for an invalid input. It contains each invalid field with the broken rule and a
 * description.
 */
export function refusedInput(error: { issues: readonly IssueLike[] }): AppError {
  const { fields, omitted } = refusalOf(error, wanted)
  const names = Object.entries(fields)
  const said = names.slice(0, maxNamedFields).map(([name, { detail }]) => `${name} (${detail})`)
  const more = names.length + omitted - said.length
  const rest = more > 0 ? [`and ${more} more`] : []
  return new AppError('invalid_input', `Refused. Wanted: ${[...said, ...rest].join('; ')}`, {
    fields,
    fieldsOmitted: omitted
  })
}

/** Returns the error for one invalid field or header whose rule is not part of a schema. */
export function refusedField(
  name: string,
  error: FieldError & { detail: string },
  cause?: unknown
): AppError {
  const field = shortenFieldName(name)
  return new AppError('invalid_input', `Refused. Wanted: ${field} (${error.detail})`, {
    fields: { [field]: error },
    cause
  })
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

/** The default message of zod/mini, which does not say what is wrong. */
const zodDefaultMessage = 'Invalid input'

function wanted(issue: IssueLike): string {
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
