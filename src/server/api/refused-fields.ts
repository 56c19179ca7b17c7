import { AppError, type FieldError } from '../../contract/errors.ts'
import { type IssueLike, refusalOf, shortName } from '../../contract/field-errors.ts'

/** Fields that the sentence of a refusal names; `fields` names more. */
const maxSaid = 5

/** The refusal of an input that its schema does not take: each field with its rule and what is wanted. */
export function refusedInput(error: { issues: readonly IssueLike[] }): AppError {
  const { fields, omitted } = refusalOf(error, wanted)
  const names = Object.entries(fields)
  const said = names.slice(0, maxSaid).map(([name, { detail }]) => `${name} (${detail})`)
  const more = names.length + omitted - said.length
  const rest = more > 0 ? [`and ${more} more`] : []
  return new AppError('invalid_input', `Refused. Wanted: ${[...said, ...rest].join('; ')}`, {
    fields,
    fieldsOmitted: omitted
  })
}

/** The refusal of one field or header by a rule that no schema holds. */
export function refusedField(
  name: string,
  error: FieldError & { detail: string },
  cause?: unknown
): AppError {
  const field = shortName(name)
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

/** zod/mini's message for whatever has none of its own. */
const unsaid = 'Invalid input'

function wanted(issue: IssueLike): string {
  const { code, message, expected, values = [], format, minimum, maximum, origin } = issue
  if (message !== undefined && message !== unsaid) return message
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
