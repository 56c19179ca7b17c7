import * as z from 'zod/mini'
import { Category } from './categories.ts'
import { Deposit, Transform } from './deposits.ts'
import { DomainConfig, Theme } from './domains.ts'
import type { FieldError } from './errors.ts'
import { ProcessedRequest } from './requests.ts'
import { Session } from './sessions.ts'
import { UserInfo } from './users.ts'
import { Answer } from './verifications.ts'

/** The part of JSON Schema 2020-12 that zod uses for the contract. */
export interface JsonSchema {
  $ref?: string
  type?: string | string[]
  properties?: Record<string, JsonSchema>
  required?: string[]
  items?: JsonSchema
  anyOf?: JsonSchema[]
  enum?: (string | number)[]
  const?: string | number | boolean
  format?: string
  pattern?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  minItems?: number
  maxItems?: number
  additionalProperties?: boolean | JsonSchema
  /** Rules that JSON Schema cannot express, named like the rules in an error's `fields`. */
  'x-rules'?: FieldError[]
}

/**
 * Schemas that several answers contain. The documentation describes each of them once, under its
 * name.
 */
const shared = {
  Answer,
  Category,
  Deposit,
  DomainConfig,
  ProcessedRequest,
  Session,
  Theme,
  Transform,
  UserInfo
}

const names = z.registry<{ id: string }>()
for (const [id, schema] of Object.entries(shared)) names.add(schema, { id })

/** Returns the JSON Schema of an input. */
export function inputSchema(schema: z.ZodMiniType): JsonSchema {
  return convert(schema, 'input').schema
}

/** Returns the JSON Schema of an output and the shared schemas that it refers to. */
export function outputSchema(schema: z.ZodMiniType): {
  schema: JsonSchema
  parts: Record<string, JsonSchema>
} {
  return convert(schema, 'output')
}

function convert(schema: z.ZodMiniType, io: 'input' | 'output') {
  const made = z.toJSONSchema(schema, {
    io,
    metadata: io === 'output' ? names : z.registry(),
    override: ({ zodSchema, jsonSchema }) => {
      const rules = rulesOf(zodSchema)
      if (rules.length > 0) jsonSchema['x-rules'] = rules
      // the format is enough, and client generators fail on the pattern
      if (jsonSchema.format) delete jsonSchema.pattern
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
      // a later release may add fields
      if (io === 'output' && jsonSchema.properties) delete jsonSchema.additionalProperties
    }
  })
  const text = JSON.stringify(made).replaceAll('"#/$defs/', '"#/components/schemas/')
  // as: zod wrote it
  const {
    $schema: _dialect,
    $defs = {},
    ...rest
  } = JSON.parse(text) as JsonSchema & {
    $schema?: string
    $defs?: Record<string, JsonSchema>
  }
  return { schema: rest, parts: $defs }
}

function rulesOf(schema: z.core.$ZodTypes): FieldError[] {
  const checks = 'checks' in schema._zod.def ? (schema._zod.def.checks ?? []) : []
  return checks.flatMap(check => {
    const params = 'params' in check._zod.def ? check._zod.def.params : undefined
    return isRule(params) ? [params] : []
  })
}

function isRule(params: unknown): params is FieldError {
  return typeof params === 'object' && params !== null && 'rule' in params
}
