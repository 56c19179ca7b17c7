import * as z from 'zod/mini'
import * as accounts from '../accounts.ts'
import * as apiKeys from '../api-keys.ts'
import * as audit from '../audit.ts'
import * as categories from '../categories.ts'
import * as companies from '../companies.ts'
import * as companyCategories from '../company-categories.ts'
import * as companyDeposits from '../company-deposits.ts'
import * as dataSources from '../data-sources.ts'
import * as deposits from '../deposits.ts'
import * as domains from '../domains.ts'
import * as exports from '../exports.ts'
import * as groups from '../groups.ts'
import * as imports from '../imports.ts'
import type { FieldError } from '../kit/errors.ts'
import * as members from '../members.ts'
import * as overview from '../overview.ts'
import * as requests from '../requests.ts'
import * as sessions from '../sessions.ts'
import * as setup from '../setup.ts'
import * as users from '../users.ts'
import * as verifications from '../verifications.ts'

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
  /** What JSON Schema cannot express, as `fields` of an error says it. */
  'x-rules'?: FieldError[]
}

const nouns = [
  accounts,
  apiKeys,
  audit,
  categories,
  companies,
  companyCategories,
  companyDeposits,
  dataSources,
  deposits,
  domains,
  exports,
  groups,
  imports,
  members,
  overview,
  requests,
  sessions,
  setup,
  users,
  verifications
]

// the documentation describes a named schema once
const names = z.registry<{ id: string }>()
for (const [id, value] of nouns.flatMap(noun => Object.entries<unknown>(noun))) {
  if (value instanceof z.ZodMiniObject) names.add(value, { id })
}

export function inputSchema(schema: z.ZodMiniType): JsonSchema {
  return convert(schema, 'input').schema
}

// `parts` are the named schemas to which it refers
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
