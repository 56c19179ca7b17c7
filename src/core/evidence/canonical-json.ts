// without null: an object omits a member that has no value
export type Json = string | number | boolean | Json[] | { [name: string]: Json }

// Leaves have at most five levels. The bound keeps a hostile text from exhausting the stack.
const maxDepth = 32

/**
 * Returns RFC 8785 JSON: `{ b: 1, a: ['x'] }` → `{"a":["x"],"b":1}`. Throws for other numbers than
 * integers from 0 to 2^53−1.
 */
export function canonicalize(value: Json): string {
  return write(value, 0)
}

/**
 * Throws for duplicate keys, lone surrogates, null, and other numbers than `canonicalize` takes.
 */
export function parseStrictJson(text: string): Json {
  const reader = { text, at: 0 }
  const value = readValue(reader, 0)
  skipSpace(reader)
  if (reader.at !== text.length) fail(reader, 'text after the end')
  return value
}

export function parseCanonicalJson(text: string): Json {
  const value = parseStrictJson(text)
  if (canonicalize(value) !== text) throw new SyntaxError('JSON: not canonical')
  return value
}

function write(value: unknown, depth: number): string {
  if (depth > maxDepth) throw new TypeError('JSON: too deep')
  if (typeof value === 'string') return writeString(value)
  if (typeof value === 'boolean') return String(value)
  if (typeof value === 'number') {
    if (!Number.isSafeInteger(value) || value < 0 || Object.is(value, -0))
      throw new TypeError('JSON: a number must be an integer from 0 to 2^53-1')
    return String(value)
  }
  if (Array.isArray(value))
    return `[${Array.from(value, item => write(item, depth + 1)).join(',')}]`
  if (isPlainObject(value)) {
    // The default order of sort() is by UTF-16 code units, as RFC 8785 §3.2.3 asks.
    const members = Object.keys(value)
      .sort()
      .map(name => `${writeString(name)}:${write(value[name], depth + 1)}`)
    return `{${members.join(',')}}`
  }
  throw new TypeError(`JSON: ${value === null ? 'null' : typeof value} has no canonical form`)
}

function writeString(text: string): string {
  if (!text.isWellFormed()) throw new TypeError('JSON: lone surrogate')
  return JSON.stringify(text)
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

type Reader = { text: string; at: number }

function readValue(reader: Reader, depth: number): Json {
  if (depth > maxDepth) fail(reader, 'too deep')
  skipSpace(reader)
  const { text, at } = reader
  switch (text[at]) {
    case '{':
      return readObject(reader, depth)
    case '[':
      return readArray(reader, depth)
    case '"':
      return readString(reader)
    case 't':
      return readWord(reader, 'true', true)
    case 'f':
      return readWord(reader, 'false', false)
    default:
      return readNumber(reader)
  }
}

function readObject(reader: Reader, depth: number): Json {
  const members = new Map<string, Json>()
  reader.at++
  if (takes(reader, '}')) return {}
  do {
    skipSpace(reader)
    const name = readString(reader)
    if (members.has(name)) fail(reader, 'duplicate key')
    if (!takes(reader, ':')) fail(reader, 'a colon is missing')
    members.set(name, readValue(reader, depth + 1))
  } while (takes(reader, ','))
  if (!takes(reader, '}')) fail(reader, 'the object does not end')
  // fromEntries defines own members, so a key "__proto__" cannot change the prototype.
  return Object.fromEntries(members)
}

function readArray(reader: Reader, depth: number): Json {
  const items: Json[] = []
  reader.at++
  if (takes(reader, ']')) return items
  do items.push(readValue(reader, depth + 1))
  while (takes(reader, ','))
  if (!takes(reader, ']')) fail(reader, 'the array does not end')
  return items
}

function readString(reader: Reader): string {
  const start = reader.at
  const { text } = reader
  if (text[start] !== '"') fail(reader, 'a string is missing')
  let end = start + 1
  while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1
  reader.at = end + 1
  if (end >= text.length) fail(reader, 'the string does not end')
  // JSON.parse checks escapes and control characters; only after it are surrogates paired
  const value: string = JSON.parse(text.slice(start, end + 1))
  if (!value.isWellFormed()) fail(reader, 'lone surrogate')
  return value
}

function readNumber(reader: Reader): number {
  const digits = /^(?:0|[1-9][0-9]{0,15})(?![0-9.eE])/.exec(
    reader.text.slice(reader.at, reader.at + 17)
  )?.[0]
  const value = Number(digits)
  if (!Number.isSafeInteger(value)) fail(reader, 'not a value')
  reader.at += digits?.length ?? 0
  return value
}

function readWord(reader: Reader, word: string, value: boolean): boolean {
  if (!reader.text.startsWith(word, reader.at)) fail(reader, 'not a value')
  reader.at += word.length
  return value
}

function takes(reader: Reader, character: string): boolean {
  skipSpace(reader)
  if (reader.text[reader.at] !== character) return false
  reader.at++
  return true
}

function skipSpace(reader: Reader): void {
  while (/[ \t\n\r]/.test(reader.text.charAt(reader.at))) reader.at++
}

function fail(reader: Reader, reason: string): never {
  throw new SyntaxError(`JSON: ${reason} (at ${reader.at})`)
}
