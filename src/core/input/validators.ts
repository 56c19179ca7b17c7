import { canonicalEmail } from './email.ts'

/**
 * The rule that the value of a form field breaks. The error message is the translated text with the
 * key `fields.<rule>`. It can mention `limit`, for example the maximum length.
 */
export interface Fault {
  rule: string
  limit?: number | string
}

/** The values of all fields of a form, by field name. */
export type FormValues = Readonly<Record<string, unknown>>

/**
 * Checks the value of a form field. Returns the broken rule, or undefined for a valid value.
 * Validators of a text, such as `email` or `minLength`, accept an empty value, so that optional
 * fields may stay empty. Combine them with `required` for other fields.
 */
export type Validator = (value: unknown, form?: FormValues) => Fault | undefined

/** Accepts a value that is not blank. */
export const required: Validator = value => (isEmpty(value) ? { rule: 'required' } : undefined)

/** Returns a validator that refuses an empty value if `condition` returns true for the form. */
export function requiredIf(condition: (form: FormValues) => boolean): Validator {
  return (value, form = {}) =>
    condition(form) && isEmpty(value) ? { rule: 'required_if' } : undefined
}

/** Accepts a valid e-mail. Like most validators, it also accepts an empty field. */
export const email: Validator = ifFilled(text => canonicalEmail(text) !== undefined, 'email')

/**
 * Returns a validator that accepts texts of at least `min` characters (code points), and empty
 * values.
 */
export function minLength(min: number): Validator {
  return ifFilled(text => lengthOf(text) >= min, 'min', min)
}

/**
 * Returns a validator that accepts texts of at most `max` UTF-16 code units, and empty values. The
 * maximum lengths of the API are in code units, too.
 */
export function maxLength(max: number): Validator {
  return ifFilled(text => text.length <= max, 'max', max)
}

/**
 * Returns a validator that accepts texts of exactly `length` characters (code points), and empty
 * values.
 */
export function exactLength(length: number): Validator {
  return ifFilled(text => lengthOf(text) === length, 'length', length)
}

/** Accepts a number with an optional sign and optional decimal places: `15`, `+1.5`, `-1,5`. */
export const numeric: Validator = ifFilled(text => /^[+-]?\d+(?:[.,]\d+)?$/.test(text), 'numeric')

/** Accepts digits with an optional sign: `-15`. */
export const integer: Validator = ifFilled(text => /^[+-]?\d+$/.test(text), 'integer')

/** Accepts a text without lower-case letters. */
export const uppercase: Validator = ifFilled(text => text === text.toUpperCase(), 'uppercase')

/** Returns a validator that accepts texts that contain none of `characters`. */
export function excludes(characters: string): Validator {
  return ifFilled(
    text => ![...characters].some(each => text.includes(each)),
    'excluded',
    characters
  )
}

/**
 * Returns a validator that accepts texts that match `pattern`, and empty values. `rule` is the rule
 * that other texts break.
 */
export function matches(pattern: RegExp, rule = 'format'): Validator {
  return ifFilled(text => pattern.test(text), rule)
}

/** Accepts a list that is not empty. Refuses any other value. */
export const nonEmptyList: Validator = value =>
  Array.isArray(value) && value.length > 0 ? undefined : { rule: 'some' }

/**
 * Returns a validator that accepts a value equal to the value of the field `field`. The error
 * message calls that field `label`.
 */
export function sameAs(field: string, label = field): Validator {
  return (value, form = {}) =>
    value === form[field] ? undefined : { rule: 'same_as', limit: label }
}

/**
 * Returns a validator that accepts a value if all of `validators` accept it. The broken rule is
 * always `all`, and not the rule of the validator that refuses the value.
 */
export function allOf(...validators: Validator[]): Validator {
  return (value, form) =>
    validators.some(validator => validator(value, form)) ? { rule: 'all' } : undefined
}

/**
 * Returns a validator that accepts only values that `validator` refuses. `rule` is the rule that
 * other values break.
 */
export function not(validator: Validator, rule = 'not'): Validator {
  return (value, form) => (validator(value, form) ? undefined : { rule })
}

/**
 * Returns a validator that accepts a value if all of `validators` accept it. The broken rule is
 * that of the first validator that refuses the value.
 */
export function firstFaultOf(...validators: Validator[]): Validator {
  return (value, form) => {
    for (const validator of validators) {
      const fault = validator(value, form)
      if (fault) return fault
    }
    return undefined
  }
}

/** Validates a form. Returns the broken rule of each invalid field, by field name. */
export function findFaults(
  rules: Readonly<Record<string, Validator>>,
  form: FormValues
): Record<string, Fault> {
  const faults: Record<string, Fault> = {}
  for (const [field, rule] of Object.entries(rules)) {
    const fault = rule(form[field], form)
    if (fault) faults[field] = fault
  }
  return faults
}

function ifFilled(
  isRight: (text: string) => boolean,
  rule: string,
  limit?: Fault['limit']
): Validator {
  const fault = limit === undefined ? { rule } : { rule, limit }
  return value => {
    if (isEmpty(value)) return undefined
    return typeof value === 'string' && isRight(value) ? undefined : fault
  }
}

function isEmpty(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() === ''
  return value === undefined || value === null
}

/** Counts code points and not UTF-16 code units, so that `😀` counts as one. */
function lengthOf(text: string): number {
  return [...text].length
}
