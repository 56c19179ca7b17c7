import { readPastedEmail } from '../input/pasted-text.ts'

export interface ImportField {
  name: string
  isRequired: boolean
  headings: readonly string[]
  /** Headings that may stand for the field where no other column does. */
  lesserHeadings?: readonly string[]
  /** Words of headings that mean something else: `Company` in `Company name`. */
  otherWords?: readonly string[]
  // identifies a column without a known heading
  looks?: 'email'
  /** The other half of the value, whose column comes first: a first name before a last name. */
  joins?: { field: string; firstHeadings: readonly string[] }
}

export type ColumnMapping = Readonly<Record<string, number>>

// also found inside longer headings: `email` in `workemail`
const minPart = 4
// a column of e-mails has at least this share of them
const lookShare = 0.6

/**
 * Guesses the column of each field: that of an earlier file (`remembered`), else a known heading,
 * else the content of the cells. A field in two parts gets both of them or none.
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

  // A heading that names both parts (`Nom, prénom`), or that is known for the whole and stands
  // beside both parts, has the whole.
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

/** Returns what `guessMapping` can use for later files: `{ courriel: 'email', notes: '' }` */
export function fieldOfEachHeading(
  headings: readonly string[],
  mapping: ColumnMapping
): Record<string, string> {
  const fields = new Map(Object.entries(mapping).map(([field, column]) => [column, field]))
  return Object.fromEntries(
    headings.map((heading, at) => [normalizeHeading(heading), fields.get(at) ?? ''])
  )
}

/** Moves `field` to `column`. A field that had this column before gets none. */
export function withAssignedColumn(
  mapping: ColumnMapping,
  field: string,
  column: number | undefined
): ColumnMapping {
  const others = Object.entries(mapping).filter(([name, at]) => name !== field && at !== column)
  return Object.fromEntries(column === undefined ? others : [...others, [field, column]])
}

export const headingRowChoices = 10

/**
 * Returns the index of the row of headings. It is the row with most known headings above the first
 * e-mail, else the first row as wide as the table whose cells are filled and different.
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
