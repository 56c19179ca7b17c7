import { canonicalEmail } from './email.ts'

/** The message is the text `fields.<rule>`, which can mention `limit`. */
export interface Fault {
  rule: string
  limit?: number | string
}

export type FormValues = Readonly<Record<string, unknown>>

/** Returns the broken rule. Only `required` and lists refuse an empty value. */
export type Validator = (value: unknown, form?: FormValues) => Fault | undefined

export const required: Validator = value => (isEmpty(value) ? { rule: 'required' } : undefined)

export function requiredIf(condition: (form: FormValues) => boolean): Validator {
  return (value, form = {}) =>
    condition(form) && isEmpty(value) ? { rule: 'required_if' } : undefined
}

export const email: Validator = ifFilled(text => canonicalEmail(text) !== undefined, 'email')

// in code points
export function minLength(min: number): Validator {
  return ifFilled(text => lengthOf(text) >= min, 'min', min)
}

// in UTF-16 code units, as the API counts
export function maxLength(max: number): Validator {
  return ifFilled(text => text.length <= max, 'max', max)
}

export function exactLength(length: number): Validator {
  return ifFilled(text => lengthOf(text) === length, 'length', length)
}

// `15`, `+1.5`, `-1,5`
export const numeric: Validator = ifFilled(text => /^[+-]?\d+(?:[.,]\d+)?$/.test(text), 'numeric')

// `-15`
export const integer: Validator = ifFilled(text => /^[+-]?\d+$/.test(text), 'integer')

export const uppercase: Validator = ifFilled(text => text === text.toUpperCase(), 'uppercase')

export function excludes(characters: string): Validator {
  return ifFilled(
    text => ![...characters].some(each => text.includes(each)),
    'excluded',
    characters
  )
}

export function matches(pattern: RegExp, rule = 'format'): Validator {
  return ifFilled(text => pattern.test(text), rule)
}

export const nonEmptyList: Validator = value =>
  Array.isArray(value) && value.length > 0 ? undefined : { rule: 'some' }

export function sameAs(field: string, label = field): Validator {
  return (value, form = {}) =>
    value === form[field] ? undefined : { rule: 'same_as', limit: label }
}

/** The broken rule is always `all`. */
export function allOf(...validators: Validator[]): Validator {
  return (value, form) =>
    validators.some(validator => validator(value, form)) ? { rule: 'all' } : undefined
}

export function not(validator: Validator, rule = 'not'): Validator {
  return (value, form) => (validator(value, form) ? undefined : { rule })
}

/** The broken rule is that of the first validator that refuses the value. */
export function firstFaultOf(...validators: Validator[]): Validator {
  return (value, form) => {
    for (const validator of validators) {
      const fault = validator(value, form)
      if (fault) return fault
    }
    return undefined
  }
}

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

// so that `😀` counts as one
function lengthOf(text: string): number {
  return [...text].length
}
