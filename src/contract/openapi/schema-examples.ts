import type { JsonSchema } from './json-schema.ts'

const sha256 = 'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9'

// by the name of fields whose schema has no good example
const samples: Record<string, unknown> = {
  access_token: 'eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIwMTlhIn0.c2lnbmF0dXJl',
  company: 'Acme',
  device: '4f1d…',
  email: 'ada@example.com',
  hint: 'vdm_mKs83d',
  key: 'vdm_…',
  leaf_hash: sha256,
  name: 'report.pdf',
  original: sha256,
  receipt: '/deposit/k7Qx2bVdT0mZr9LpYw3HsA/receipt',
  sha256,
  stored: sha256,
  title: 'Acme',
  username: 'Ada'
}

const ofPattern: [RegExp, string][] = [
  [/^\^#\[0-9a-f\]\{6\}\$$/, '#1d4ed8'],
  [/^\^\[0-9a-f\]\{64\}\$$/, sha256],
  [/\\\/\[a-z0-9\]/, 'application/pdf'],
  [/\{91\}\$$/, 'AbCdEfGhIjKlM'.repeat(7)],
  [/^\^\[A-Za-z0-9_-\]\{2[12]\}/, 'k7Qx2bVdT0mZr9LpYw3HsA']
]

const ofFormat: Record<string, string> = {
  uuid: '019a8f5e-7c00-7000-8000-000000000001',
  'date-time': '2026-05-04T12:00:00.000Z',
  date: '2026-05-04'
}

/** Returns the same value for the same schema, whose named schemas are `parts`. */
export function exampleOf(
  schema: JsonSchema,
  parts: Record<string, JsonSchema>,
  name = ''
): unknown {
  const shared = schema.$ref?.split('/').at(-1)
  if (shared !== undefined) return exampleOf(parts[shared] ?? {}, parts, name)
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return schema.enum[0]
  const member = schema.anyOf?.find(({ type }) => type !== 'null')
  if (member) return exampleOf(member, parts, name)
  const type = [schema.type].flat().find(each => each !== 'null')
  if (type === 'array') return [exampleOf(schema.items ?? {}, parts, name)]
  if (type === 'object') return objectOf(schema, parts)
  if (type === 'boolean') return true
  if (type === 'number' || type === 'integer') return Math.max(schema.minimum ?? 0, 1)
  return textOf(schema, name)
}

function objectOf(
  { properties = {} }: JsonSchema,
  parts: Record<string, JsonSchema>
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [name, exampleOf(field, parts, name)])
  )
}

function textOf({ format, pattern = '' }: JsonSchema, name: string): unknown {
  const ofForm = ofFormat[format ?? ''] ?? ofPattern.find(([form]) => form.test(pattern))?.[1]
  return ofForm ?? samples[name] ?? name
}
