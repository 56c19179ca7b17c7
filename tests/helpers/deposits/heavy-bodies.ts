import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import * as z from 'zod/mini'
import { createDeposit } from '../../../src/contract/deposits.ts'
import { type Endpoint, pathParameters } from '../../../src/contract/kit/endpoint.ts'
import { batchForm, batchItem, smallFiles } from './batches.ts'

export interface HeavyBody {
  what: string
  text: string
}

/**
 * Returns the path of a valid call of `endpoint`. Path parameters that are not in `known` get
 * example values.
 */
export function examplePathOf(endpoint: Endpoint, known: Record<string, unknown> = {}): string {
  const example = exampleOf(endpoint, known)
  return pathParameters(endpoint.path).reduce(
    (path, name) => path.replace(`{${name}}`, String(example[name])),
    endpoint.path
  )
}

interface Schema {
  type?: string
  format?: string
  pattern?: string
  enum?: unknown[]
  const?: unknown
  minLength?: number
  minimum?: number
  anyOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
}

/** Texts that take long to normalize, match or parse. Each is repeated up to the wanted size. */
const fillers = {
  marks: '\u0327\u0301',
  'marks that decompose': '\u0344\u0327',
  letters: 'a',
  dots: '.',
  blanks: ' ',
  percents: '%41',
  elements: '<g>',
  attributes: ' a="" '
}

/** Returns the fields of an input, each with its schema as text. Equal texts are parsed alike. */
export function fieldSchemasOf(endpoint: Endpoint): Record<string, string> {
  const schemas = Object.entries(jsonSchemaOf(endpoint).properties ?? {})
  return Object.fromEntries(
    schemas.map(([name, schema]) => [name, `${name} ${JSON.stringify(schema)}`])
  )
}

/**
 * Returns JSON bodies of about `bytes` bytes that take long to parse with the input schema of
 * `endpoint`. `known` has values for some fields; the others get example values. Only `filled`
 * fields are made heavy, by default all.
 */
export function makeHeavyBodies(
  endpoint: Endpoint,
  known: Record<string, unknown>,
  bytes: number,
  filled: (field: string) => boolean = () => true
): HeavyBody[] {
  const base = exampleOf(endpoint, known)
  for (const name of pathParameters(endpoint.path)) delete base[name]
  const leaves = leavesOf(base).filter(({ path }) => filled(String(path[0])))
  const texts = Object.entries(fillers).flatMap(([name, filler]) => {
    const filled = escaped(filler).repeat(Math.floor(bytes / Buffer.byteLength(filler)))
    return leaves.flatMap(({ path, value }) => {
      const good = escaped(String(value))
      const variants = {
        '': filled,
        'after a good start: ': `${good}${filled}`,
        ...(good.includes('@') ? { 'inside: ': good.replace('@', `${filled}@`) } : {})
      }
      return Object.entries(variants).map(([where, text]) => ({
        what: `${path.join('.')} of ${where}${name}`,
        text: withJson(base, path, `"${text}"`)
      }))
    })
  })
  const arrays = Object.keys(base)
    .filter(filled)
    .flatMap(name =>
      ['0', '{}', '""', '[]'].map(item => ({
        what: `${name} as a long array of ${item}`,
        text: withJson(base, [name], `[${repeated(item, bytes)}]`)
      }))
    )
  const lists = Object.entries(base).flatMap(([name, value]) =>
    Array.isArray(value) && filled(name)
      ? [
          {
            what: `${name} as a long list of good items`,
            text: withJson(base, [name], `[${repeated(JSON.stringify(value[0]), bytes)}]`)
          }
        ]
      : []
  )
  return [...texts, ...arrays, ...lists, ...shapes(base, bytes)]
}

/**
 * Returns form bodies that take long to parse. In some, the part `items` has about `bytes` bytes
 * and is as slow to parse as its schema `form` allows. The others are the heaviest valid forms.
 */
export function makeHeavyForms(
  form: z.ZodMiniType,
  bytes: number
): { what: string; body: Buffer }[] {
  const input = z.strictObject({ items: form })
  const bodies = makeHeavyBodies({ ...createDeposit, input }, {}, bytes)
  const start = '{"items":'
  const bad = bodies.map(({ what, text }) => ({
    what,
    body: batchForm(text.startsWith(start) ? text.slice(start.length, -1) : text, [])
  }))
  const few = Array.from({ length: 7 }, () => randomBytes(1024 * 1024))
  const { files: many, items } = smallFiles(50)
  return [
    ...bad,
    {
      what: 'seven files of 1 MiB',
      body: batchForm(
        few.map(file => batchItem(file)),
        few
      )
    },
    { what: 'fifty small files', body: batchForm(items, many) }
  ]
}

function exampleOf(endpoint: Endpoint, known: Record<string, unknown>): Record<string, unknown> {
  // as: an input is one flat object
  const example = { ...(sampleOf(jsonSchemaOf(endpoint)) as Record<string, unknown>), ...known }
  const parsed = endpoint.input.safeParse(example)
  if (parsed.success) return example
  throw new Error(`no example of ${endpoint.path}: ${JSON.stringify(parsed.error.issues)}`)
}

function jsonSchemaOf(endpoint: Endpoint): Schema {
  return z.toJSONSchema(endpoint.input, { io: 'input', unrepresentable: 'any' }) as Schema // as: it is one
}

function shapes(base: object, bytes: number): HeavyBody[] {
  const rest = JSON.stringify(base).slice(1)
  const within = (members: string) => `{${members}${rest === '}' ? '' : ','}${rest}`
  const keys = Math.floor(bytes / 10)
  const depth = Math.floor(bytes / 2)
  return [
    { what: 'many unknown keys', text: within(numbered(keys, at => `"k${at}":0`)) },
    { what: 'many equal keys', text: within(numbered(keys, () => '"k":[{}]')) },
    { what: 'one long unknown key', text: within(`"${'\u0344'.repeat(depth / 2)}":0`) },
    { what: 'deep arrays', text: within(`"k":${'['.repeat(depth)}${']'.repeat(depth)}`) },
    {
      what: 'deep objects',
      text: within(`"k":${'{"":'.repeat(depth / 3)}0${'}'.repeat(depth / 3)}`)
    },
    { what: 'escapes', text: within(`"k":"${'\\u0344'.repeat(bytes / 6)}"`) },
    { what: 'a long number', text: within(`"k":${'9'.repeat(bytes)}`) }
  ]
}

function numbered(count: number, member: (at: number) => string): string {
  return Array.from({ length: count }, (_, at) => member(at)).join(',')
}

function repeated(item: string, bytes: number): string {
  return `${item},`.repeat(Math.floor(bytes / (item.length + 1))).slice(0, -1)
}

interface Leaf {
  path: (string | number)[]
  value: unknown
}

function leavesOf(value: unknown, path: Leaf['path'] = []): Leaf[] {
  if (Array.isArray(value)) return leavesOf(value[0], [...path, 0])
  if (typeof value !== 'object' || value === null) return [{ path, value }]
  return Object.entries(value).flatMap(([name, each]) => leavesOf(each, [...path, name]))
}

/** Returns `base` as JSON, with the JSON `json` as the value at `path`. */
function withJson(base: object, path: Leaf['path'], json: string): string {
  const copy: unknown = structuredClone(base)
  const last = path.at(-1) ?? ''
  const parent = path.slice(0, -1).reduce((at, name) => Reflect.get(Object(at), name), copy)
  Reflect.set(Object(parent), last, '\0')
  return JSON.stringify(copy).replace('"\\u0000"', () => json)
}

/** Returns a text as it stands between the quotation marks of JSON. */
function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

function sampleOf(schema: Schema): unknown {
  if (schema.anyOf) return sampleOf(schema.anyOf.find(({ type }) => type !== 'null') ?? {})
  if (schema.const !== undefined) return schema.const
  if (schema.enum) return schema.enum[0]
  if (schema.type === 'array') return [sampleOf(schema.items ?? {})]
  if (schema.type === 'boolean') return true
  if (schema.type === 'integer' || schema.type === 'number') return Math.max(1, schema.minimum ?? 1)
  if (schema.type === 'object') {
    const entries = Object.entries(schema.properties ?? {})
    return Object.fromEntries(entries.map(([name, each]) => [name, sampleOf(each)]))
  }
  return textOf(schema)
}

function textOf({ format, pattern = '', minLength = 0 }: Schema): string {
  if (format === 'uuid') return '0197f2a0-0000-7000-8000-000000000000'
  if (format === 'date-time') return '2026-01-01T00:00:00Z'
  const plain = [
    'ada@example.com',
    'image/png',
    'https://acme.example/',
    'a'.repeat(Math.max(1, minLength))
  ]
  const found = plain.find(text => new RegExp(pattern, 'u').test(text))
  return (
    found ?? fc.sample(fc.stringMatching(new RegExp(pattern)), { numRuns: 1, seed: 1 })[0] ?? ''
  )
}
