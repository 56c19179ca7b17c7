import { canonicalEmail } from '../input/email.ts'

/** A field that can be imported, and how its column is recognized. */
export interface ImportField {
  name: string
  /** Whether the file must have a column for the field. */
  isRequired: boolean
  /** Known headings of the field's column, in any language: `E-mail`, `Courriel`. */
  headings: readonly string[]
  /** The kind of value that identifies the column if its heading is not known. */
  looks?: 'email'
}

/** The index of the column of each field, from 0. Fields without a column are left out. */
export type ColumnMapping = Readonly<Record<string, number>>

/**
 * Known headings of at least this many characters are also found inside longer headings of a file:
 * `email` in `workemail`.
 */
const minPart = 4
/**
 * A column counts as a column of e-mails if at least this fraction of its filled cells contains an
 * e-mail.
 */
const lookShare = 0.6

/**
 * Guesses which column of a file contains which field. Prefers the field that the person chose for
 * the same heading in an earlier file (`remembered`), then a known heading, then the content of
 * the cells. Each column gets at most one field.
 */
export function guessMapping(
  fields: readonly ImportField[],
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  remembered: Readonly<Record<string, string>> = {}
): ColumnMapping {
  const mapping: Record<string, number> = {}
  const taken = new Set<number>()
  const names = headings.map(normalizeHeading)
  const take = (field: ImportField, isOne: (name: string, column: number) => boolean) => {
    if (mapping[field.name] !== undefined) return
    const column = names.findIndex((name, at) => !taken.has(at) && isOne(name, at))
    if (column < 0) return
    mapping[field.name] = column
    taken.add(column)
  }
  for (const field of fields) take(field, name => name !== '' && remembered[name] === field.name)
  // a column for which the person chose no field is not guessed again
  for (const [at, name] of names.entries())
    if (name !== '' && remembered[name] === '') taken.add(at)
  for (const field of fields) {
    const known = field.headings.map(normalizeHeading)
    take(field, name => known.includes(name))
  }
  for (const field of fields) {
    const known = field.headings.map(normalizeHeading).filter(each => each.length >= minPart)
    take(field, name => known.some(each => name.includes(each)))
  }
  for (const field of fields) {
    if (field.looks === 'email') take(field, (_, column) => isMostlyEmail(rows, column))
  }
  return mapping
}

/**
 * Returns the name of the chosen field for each normalized heading, or `''` for a heading without a
 * field: `{ courriel: 'email', notes: '' }`. The browser stores the result, so that `guessMapping`
 * can use it for later files.
 */
export function fieldOfEachHeading(
  headings: readonly string[],
  mapping: ColumnMapping
): Record<string, string> {
  const fields = new Map(Object.entries(mapping).map(([field, column]) => [column, field]))
  return Object.fromEntries(
    headings.map((heading, at) => [normalizeHeading(heading), fields.get(at) ?? ''])
  )
}

/**
 * Returns a copy of a mapping in which `field` has the column `column`. A field that had this
 * column before has no column in the copy.
 */
export function withAssignedColumn(
  mapping: ColumnMapping,
  field: string,
  column: number | undefined
): ColumnMapping {
  const others = Object.entries(mapping).filter(([name, at]) => name !== field && at !== column)
  return Object.fromEntries(column === undefined ? others : [...others, [field, column]])
}

/**
 * Guesses whether the first row of a file contains headings. Returns false if one of its cells is
 * an e-mail. Otherwise returns true if one of its cells is a known heading. Without a known
 * heading, returns true if the first row's cells are all filled and all different, and other rows
 * follow.
 */
export function hasHeaderRow(
  fields: readonly ImportField[],
  rows: readonly (readonly string[])[]
): boolean {
  const [first = [], ...others] = rows
  if (first.some(cell => isEmail(cell))) return false
  const known = new Set(fields.flatMap(({ headings }) => headings.map(normalizeHeading)))
  if (first.some(cell => known.has(normalizeHeading(cell)))) return true
  // names of columns are filled and differ
  const filled = first.filter(cell => cell.trim() !== '')
  return (
    others.length > 0 && filled.length === first.length && new Set(filled).size === first.length
  )
}

/** Ignores case, accents and punctuation: `E-Mail (privé)` → `emailprive` */
function normalizeHeading(heading: string): string {
  return heading
    .normalize('NFD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '')
}

function isEmail(text: string): boolean {
  return canonicalEmail(text) !== undefined
}

function isMostlyEmail(rows: readonly (readonly string[])[], column: number): boolean {
  const filled = rows.map(row => row[column]?.trim() ?? '').filter(Boolean)
  const emails = filled.filter(isEmail)
  return filled.length > 0 && emails.length / filled.length >= lookShare
}
