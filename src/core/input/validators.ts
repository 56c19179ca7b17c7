import { canonicalEmail } from './email.ts'

/**
 * The rule that a value breaks. Its message is the translation of `fields.<rule>`, which may
 * contain `limit`.
 */
export interface Fault {
  rule: string
  limit?: number | string
}

/** The other values of the form, by field. */
export type FormValues = Readonly<Record<string, unknown>>

/**
 * Returns what is wrong with a value, or undefined. All validators except `required` and
 * `requiredIf` accept an empty value, so that optional fields may stay empty.
 */
export type Validator = (value: unknown, form?: FormValues) => Fault | undefined

/** Accepts a value that is not blank. */
export const required: Validator = value => (isEmpty(value) ? { rule: 'required' } : undefined)

/** Requires a value if `condition` returns true for the fields of the form. */
export function requiredIf(condition: (form: FormValues) => boolean): Validator {
  return (value, form = {}) =>
    condition(form) && isEmpty(value) ? { rule: 'required_if' } : undefined
}

export const email: Validator = ifFilled(text => canonicalEmail(text) !== undefined, 'email')

export function minLength(min: number): Validator {
  return ifFilled(text => lengthOf(text) >= min, 'min', min)
}

export function maxLength(max: number): Validator {
  return ifFilled(text => lengthOf(text) <= max, 'max', max)
}

export function strictLength(length: number): Validator {
  return ifFilled(text => lengthOf(text) === length, 'length', length)
}

/** Accepts digits with an optional sign and a decimal point or comma: `-1,5`. */
export const numeric: Validator = ifFilled(text => /^[+-]?\d+(?:[.,]\d+)?$/.test(text), 'numeric')

export const integer: Validator = ifFilled(text => /^[+-]?\d+$/.test(text), 'integer')

/** Accepts a text without lower-case letters. */
export const uppercase: Validator = ifFilled(text => text === text.toUpperCase(), 'uppercase')

/** Accepts a text without any of these characters. */
export function excludes(characters: string): Validator {
  return ifFilled(
    text => ![...characters].some(each => text.includes(each)),
    'excluded',
    characters
  )
}

export function matches(pattern: RegExp): Validator {
  return ifFilled(text => pattern.test(text), 'format')
}

/** Accepts a list with at least one value. */
export const atLeastOne: Validator = value =>
  Array.isArray(value) && value.length > 0 ? undefined : { rule: 'some' }

/**
 * Accepts a value equal to that of the field `field`. The error message calls this field `name`.
 */
export function sameAs(field: string, name = field): Validator {
  return (value, form = {}) =>
    value === form[field] ? undefined : { rule: 'same_as', limit: name }
}

/** Accepts a value that all validators accept. */
export function all(...validators: Validator[]): Validator {
  return (value, form) =>
    validators.some(validator => validator(value, form)) ? { rule: 'all' } : undefined
}

/** Accepts a value that the other validator refuses. */
export function not(validator: Validator): Validator {
  return (value, form) => (validator(value, form) ? undefined : { rule: 'not' })
}

/** Returns the fault of the first validator that refuses the value. */
export function firstOf(...validators: Validator[]): Validator {
  return (value, form) => {
    for (const validator of validators) {
      const fault = validator(value, form)
      if (fault) return fault
    }
    return undefined
  }
}

/** Returns the faults of a form by field. */
export function faultsOf(
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

/** Counts code points, so an emoji is one. */
function lengthOf(text: string): number {
  return [...text].length
}
