import type { FieldError } from '../kit/errors.ts'
import type { JsonSchema } from './json-schema.ts'

export interface SchemaField {
  /** `transform.from.bytes`, `items[].sha256`, or empty for a single value. */
  name: string
  // its format, else its JSON type
  type: string
  /** The schema that the documentation describes in a section of its own. */
  shared?: string
  isOptional: boolean
  isNullable: boolean
  options: (string | number | boolean)[]
  pattern?: string
  rules: FieldError[]
}

/** Returns the members of a union, without `null`. */
export function alternativesOf(schema: JsonSchema): JsonSchema[] {
  const members = schema.anyOf?.filter(({ type }) => type !== 'null') ?? []
  return members.length > 1 ? members : [schema]
}

/** Includes the fields of nested objects, whose paths begin with `prefix`. */
export function fieldsOf(schema: JsonSchema, prefix = '', isOptional = false): SchemaField[] {
  const isNullable = [schema, ...(schema.anyOf ?? [])].some(({ type }) =>
    [type].flat().includes('null')
  )
  const [first, ...others] = schema.anyOf?.filter(({ type }) => type !== 'null') ?? [schema]
  if (!first) return []
  // a union has the fields of every member, and each may be absent
  if (others.length > 0) return [first, ...others].flatMap(each => fieldsOf(each, prefix, true))
  if (first.items) return fieldsOf(first.items, `${prefix}[]`, isOptional)
  if (first.properties) return fieldsWithin(first, prefix, isOptional)
  const shared = first.$ref?.split('/').at(-1)
  return [
    {
      name: prefix.replace(/^\./, ''),
      type: first.format ?? typeOf(first) ?? typeof first.const,
      ...(shared === undefined ? {} : { shared }),
      ...(first.pattern === undefined ? {} : { pattern: first.pattern }),
      isOptional,
      isNullable,
      options: first.const === undefined ? (first.enum ?? []) : [first.const],
      rules: rulesOf(first)
    }
  ]
}

function typeOf({ type }: JsonSchema): string | undefined {
  return [type].flat().find(each => each !== 'null')
}

function fieldsWithin(
  { properties = {}, required = [] }: JsonSchema,
  prefix: string,
  isOptional: boolean
): SchemaField[] {
  return Object.entries(properties).flatMap(([name, field]) =>
    fieldsOf(field, `${prefix}.${name}`, isOptional || !required.includes(name))
  )
}

const limits = ['minLength', 'maxLength', 'minimum', 'maximum', 'minItems', 'maxItems'] as const

function rulesOf(schema: JsonSchema): FieldError[] {
  const known = limits.flatMap(rule => {
    const limit = schema[rule]
    return limit === undefined ? [] : [{ rule, limit }]
  })
  return [...known, ...(schema['x-rules'] ?? [])]
}
