import { canonicalEmail } from './email.ts'

/** What a value breaks: the sentence is `fields.<rule>` of the interface, `limit` stands in it. */
export interface Fault {
  rule: string
  limit?: number | string
}

/** The other values of the form, by field. */
export type Form = Readonly<Record<string, unknown>>

/**
 * Answers what is wrong with a value, `undefined` when nothing is. All but `required` and
 * `requiredIf` let an empty value pass, so that an optional field may stay empty.
 */
export type Validator = (value: unknown, form?: Form) => Fault | undefined

/** Something other than blanks. */
export const required: Validator = value => (isEmpty(value) ? { rule: 'required' } : undefined)

/** Needed where `condition` says so of the other fields. */
export function requiredIf(condition: (form: Form) => boolean): Validator {
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

/** Digits with a sign and a decimal point or comma: `-1,5`. */
export const numeric: Validator = ifFilled(text => /^[+-]?\d+(?:[.,]\d+)?$/.test(text), 'numeric')

export const integer: Validator = ifFilled(text => /^[+-]?\d+$/.test(text), 'integer')

/** No letter has an upper case that it is not in. */
export const uppercase: Validator = ifFilled(text => text === text.toUpperCase(), 'uppercase')

/** Holds none of these characters. */
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

/** Of a list: at least one value. */
export const atLeastOne: Validator = value =>
  Array.isArray(value) && value.length > 0 ? undefined : { rule: 'some' }

/** Equal to another field, which the sentence calls by `name`. */
export function sameAs(field: string, name = field): Validator {
  return (value, form = {}) =>
    value === form[field] ? undefined : { rule: 'same_as', limit: name }
}

/** Passes what all of them let pass. */
export function all(...validators: Validator[]): Validator {
  return (value, form) =>
    validators.some(validator => validator(value, form)) ? { rule: 'all' } : undefined
}

/** Passes what the other one refuses. */
export function not(validator: Validator): Validator {
  return (value, form) => (validator(value, form) ? undefined : { rule: 'not' })
}

/** What the first of them that refuses says. */
export function firstOf(...validators: Validator[]): Validator {
  return (value, form) => {
    for (const validator of validators) {
      const fault = validator(value, form)
      if (fault) return fault
    }
    return undefined
  }
}

/** What is wrong with each value of a form, by field. */
export function faultsOf(
  rules: Readonly<Record<string, Validator>>,
  form: Form
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

/** As people count: an emoji is one. */
function lengthOf(text: string): number {
  return [...text].length
}
