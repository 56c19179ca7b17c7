import { readPastedEmail } from '../input/pasted-text.ts'

/** A field that can be imported, and how its column is recognized. */
export interface ImportField {
  name: string
  /** Whether the file must have a column for the field. */
  isRequired: boolean
  /** Known headings of the field's column, in any language: `E-mail`, `Courriel`. */
  headings: readonly string[]
  /** Headings that may stand for the field where no other column does. */
  lesserHeadings?: readonly string[]
  /**
   * Words of headings that contain a known one and mean something else: `Company` in `Company name`.
   */
  otherWords?: readonly string[]
  /** The kind of value that identifies the column if its heading is not known. */
  looks?: 'email'
  /**
   * The name of another field to which this one belongs: its cells follow those of the other field,
   * as a last name follows a first name. `firstHeadings` are the known headings of that first part.
   */
  joins?: { field: string; firstHeadings: readonly string[] }
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
 * the cells. Of several columns with a known heading, prefers those whose cells have the content that
 * the field `looks` for. A field in two parts gets both of them or none. Each column gets at most one
 * field.
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
  const find = (isOne: (name: string, column: number) => boolean) => {
    const column = names.findIndex((name, at) => !taken.has(at) && isOne(name, at))
    return column < 0 ? undefined : column
  }
  const set = (field: string, column: number | undefined) => {
    if (column === undefined || mapping[field] !== undefined) return
    mapping[field] = column
    taken.add(column)
  }
  const take = ({ name }: ImportField, isOne: (name: string, column: number) => boolean) => {
    if (mapping[name] === undefined) set(name, find(isOne))
  }
  for (const field of fields) take(field, name => name !== '' && remembered[name] === field.name)
  // a column for which the person chose no field is not guessed again
  for (const [at, name] of names.entries())
    if (name !== '' && remembered[name] === '') taken.add(at)

  for (const field of fields) {
    if (field.looks !== 'email') continue
    const isEmail = (column: number) => isMostlyEmail(rows, column)
    take(field, (name, at) => isKnown(field, name) && isEmail(at))
    take(field, (name, at) => containsKnown(field, name) && isEmail(at))
    take(field, (_, at) => isEmail(at))
    take(field, name => isKnown(field, name))
    take(field, (name, at) => containsKnown(field, name) && isEmpty(rows, at))
  }
  for (const field of fields) if (field.joins) guessParts(field, field.joins)
  for (const field of fields) if (!field.looks && !field.joins) take(field, isKnownTo(field))
  for (const field of fields) {
    if (field.looks || field.joins) continue
    take(field, name => containsKnown(field, name))
    take(field, isKnownTo({ ...field, headings: field.lesserHeadings ?? [] }))
  }
  return mapping

  function isKnownTo(field: ImportField) {
    return (name: string) => isKnown(field, name)
  }

  /**
   * Finds the two parts of a field, unless one column has the whole. A heading that names both parts
   * (`Nom, prénom`), or that is known for the whole and stands beside both parts, has the whole.
   */
  function guessParts(second: ImportField, { field, firstHeadings }: Join): void {
    const whole = fields.find(({ name }) => name === field)
    if (!whole || mapping[field] !== undefined || mapping[second.name] !== undefined) return
    const first = { ...second, headings: firstHeadings }
    const hasBoth = (name: string) =>
      firstHeadings.some(each => {
        const [part, rest] = [normalizeHeading(each), second.headings.map(normalizeHeading)]
        const found = name.includes(part) && part.length >= minPart ? name.replace(part, '') : ''
        return rest.some(other => found.includes(other))
      })
    const isPart = (part: ImportField) => (name: string) => isKnown(part, name) && !hasBoth(name)
    const containsPart = (part: ImportField) => (name: string) =>
      containsKnown(part, name) && !hasBoth(name)
    const firstAt = find(isPart(first)) ?? find(containsPart(first))
    const secondAt = find(isPart(second)) ?? find(containsPart(second))
    const both = find(name => hasBoth(name) && !isOther(second, name))
    const wholeAt = find(
      (name, at) =>
        at !== firstAt && at !== secondAt && isKnown(whole, name) && isAsFull(at, firstAt)
    )
    if (firstAt === undefined) set(field, both ?? wholeAt ?? find(isKnownTo(whole)))
    else {
      // beside a first name, the heading `Name` may be that of the last name
      const last = secondAt ?? find((name, at) => name === 'name' && !contains(at, firstAt))
      if (both !== undefined) set(field, both)
      else if (last !== undefined && (secondAt === undefined || wholeAt === undefined)) {
        set(field, firstAt)
        set(second.name, last)
      } else set(field, wholeAt)
    }
    // no half of it
    for (const part of [firstAt, secondAt]) if (part !== undefined) taken.add(part)
  }

  /** A column of whole names with gaps is worth less than the parts of the names. */
  function isAsFull(column: number, other: number | undefined): boolean {
    const filled = filledCellsOf(rows, column).length
    return filled > 0 && (other === undefined || filled >= filledCellsOf(rows, other).length)
  }

  function contains(whole: number, part: number): boolean {
    return rows.some(row => row[part] && row[whole]?.includes(row[part]))
  }
}

type Join = NonNullable<ImportField['joins']>

function isKnown({ headings }: ImportField, name: string): boolean {
  return headings.some(heading => normalizeHeading(heading) === name)
}

function containsKnown(field: ImportField, name: string): boolean {
  if (isOther(field, name)) return false
  return field.headings
    .map(normalizeHeading)
    .some(known => known.length >= minPart && name.includes(known))
}

function isOther({ otherWords = [] }: ImportField, name: string): boolean {
  return otherWords.some(word => name.includes(normalizeHeading(word)))
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

/** A row of headings is searched in so many rows from the top. */
export const headingRowChoices = 10

/**
 * Guesses which of the first rows of a file contains the headings. Returns its index, or undefined
 * if the file has no headings. Takes the row with most known headings above the first row with an
 * e-mail. Without a known heading, takes the first row that is as wide as the table and whose cells
 * are all filled and all different, if other rows follow.
 */
export function findHeadingRow(
  fields: readonly ImportField[],
  rows: readonly (readonly string[])[]
): number | undefined {
  const withEmail = rows.findIndex(row => row.some(isEmail))
  if (withEmail === 0) return undefined
  const above = rows.slice(0, Math.min(withEmail < 0 ? Infinity : withEmail, headingRowChoices))
  const known = new Set(
    fields.flatMap(({ headings, lesserHeadings = [], joins }) =>
      [...headings, ...lesserHeadings, ...(joins?.firstHeadings ?? [])].map(normalizeHeading)
    )
  )
  const knownIn = above.map(row => row.filter(cell => known.has(normalizeHeading(cell))).length)
  const most = Math.max(0, ...knownIn)
  if (most > 0) return knownIn.indexOf(most)
  // names of columns are filled and differ
  const width = withEmail < 0 ? 1 : filledCells(rows[withEmail] ?? []).length
  const named = above.findIndex(row => {
    const filled = filledCells(row)
    const isFilled = filled.length === row.length && filled.length >= width
    return isFilled && new Set(filled).size === filled.length
  })
  return named < 0 || rows.length === named + 1 ? undefined : named
}

function filledCells(row: readonly string[]): string[] {
  return row.filter(cell => cell.trim() !== '')
}

/** Ignores case, accents and punctuation: `E-Mail (privé)` → `emailprive` */
function normalizeHeading(heading: string): string {
  return heading
    .normalize('NFD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '')
}

function isEmail(text: string): boolean {
  return text.includes('@') && readPastedEmail(text) !== undefined
}

function isMostlyEmail(rows: readonly (readonly string[])[], column: number): boolean {
  const filled = filledCellsOf(rows, column)
  const emails = filled.filter(isEmail)
  return filled.length > 0 && emails.length / filled.length >= lookShare
}

function isEmpty(rows: readonly (readonly string[])[], column: number): boolean {
  return filledCellsOf(rows, column).length === 0
}

function filledCellsOf(rows: readonly (readonly string[])[], column: number): string[] {
  return filledCells(rows.map(row => row[column] ?? ''))
}
