import { registerLimits } from '../../contract/kit/limits.ts'
import type { DateOrder, RegisterColumn } from '../../contract/registers.ts'
import { normalizeHeading } from '../../core/csv/columns.ts'

/** `ask`: dates whose order of day and month the cells do not show. */
export type DraftColumn = Omit<RegisterColumn, 'date'> & {
  date?: DateOrder | 'ask' | undefined
}

export interface ReadTable {
  /** `''` for a column without a name. */
  headings: readonly string[]
  /** The first rows below the headings. */
  rows: readonly (readonly string[])[]
}

export type ColumnFault =
  | { kind: 'key' }
  | { kind: 'label'; index: number; language: 'en' | 'fr' }
  | { kind: 'date'; index: number }

/** A column of references or fingerprints has at least this share of them. */
const lookShare = 0.6
const comparedRows = 20
const labelLength = 80
const headerLength = 255

// labels of the same column in both languages
const terms: readonly (readonly [en: string, fr: string])[] = [
  ['Number', 'Numéro'],
  ['Diploma number', 'Numéro de diplôme'],
  ['Certificate number', 'Numéro de certificat'],
  ['Invoice number', 'Numéro de facture'],
  ['Student number', 'Numéro d’étudiant'],
  ['Serial number', 'Numéro de série'],
  ['Reference', 'Référence'],
  ['Fingerprint', 'Empreinte'],
  ['Last name', 'Nom de famille'],
  ['Last name', 'Nom'],
  ['Surname', 'Nom de famille'],
  ['First name', 'Prénom'],
  ['Date of birth', 'Date de naissance'],
  ['Birth date', 'Date de naissance'],
  ['Degree', 'Diplôme'],
  ['Diploma', 'Diplôme'],
  ['Title', 'Intitulé'],
  ['Year', 'Année'],
  ['Honors', 'Mention'],
  ['Subject', 'Discipline'],
  ['Field', 'Spécialité'],
  ['School', 'Établissement'],
  ['Institution', 'Établissement'],
  ['Program', 'Programme'],
  ['Issue date', 'Date de délivrance'],
  ['Expiry date', 'Date d’expiration'],
  ['Invoice date', 'Date de facture'],
  ['Amount', 'Montant'],
  ['Currency', 'Devise'],
  ['Status', 'Statut'],
  ['Product', 'Produit'],
  ['Standard', 'Norme']
]
const frenchTerms = new Map(terms.map(([en, fr]) => [normalizeHeading(en), fr]))
const englishTerms = new Map(terms.map(([en, fr]) => [normalizeHeading(fr), en]))
const keyWords = ['number', 'numero', 'reference', 'matricule', 'serial', 'identifier']
// the first or the last word of a heading
const keyNames = ['n°', '#', 'n', 'no', 'nr', 'num', 'ref', 'réf', 'id']
const otherNumbers = ['phone', 'telephone', 'street', 'house', 'student', 'etudiant']
const lastNames = ['lastname', 'surname', 'familyname', 'nom', 'nomdefamille', 'nomdusage']
const birthWords = ['birth', 'naissance', 'dob']
// what a register shows unless somebody chooses more: nothing about the person
const shownWords = [
  ...['degree', 'diploma', 'diplome', 'title', 'intitule', 'year', 'annee', 'honors', 'honours'],
  ...['mention', 'subject', 'discipline', 'specialit', 'institution', 'school', 'etablissement'],
  ...['program', 'issue', 'delivrance', 'expir', 'valid', 'amount', 'montant', 'currency'],
  ...['devise', 'status', 'statut', 'product', 'produit', 'standard', 'norme', 'invoicedate']
]

/**
 * Guesses what the columns of a file are for: as in `known`, by their headings, if these have the
 * key; else from headings and cells. The result has no key if none is found.
 */
export function guessRegisterColumns(
  table: ReadTable,
  known: readonly DraftColumn[] = []
): DraftColumn[] {
  const found = findKnown(table, known)
  if (found.some(isKey)) return found
  const names = table.headings.map(normalizeHeading)
  const taken = new Set<number>()
  const columns: DraftColumn[] = []
  const add = (index: number, use: RegisterColumn['use']) => {
    if (index < 0 || taken.has(index) || columns.length === registerLimits.columns) return
    taken.add(index)
    columns.push(newColumn(table, index, use))
  }
  const hash = names.findIndex((_, at) => isMostly(table, at, isFingerprint))
  if (hash >= 0) add(hash, 'fingerprint')
  else {
    add(findReference(table, names), 'reference')
    add(
      names.findIndex((name, at) => !taken.has(at) && lastNames.includes(name)),
      'check'
    )
    add(
      names.findIndex((name, at) => !taken.has(at) && containsOne(name, birthWords)),
      'check'
    )
  }
  for (const [at, name] of names.entries()) if (containsOne(name, shownWords)) add(at, 'shown')
  return columns
}

/** Dates are recognized by their cells, and labels come from the heading. */
export function newColumn(
  table: ReadTable,
  index: number,
  use: RegisterColumn['use']
): DraftColumn {
  const header = (table.headings[index] ?? '').slice(0, headerLength)
  const column = { index, header, use, shown: use === 'shown', labels: labelsOf(header) }
  const date =
    use === 'check' || use === 'shown' ? guessDateOrder(cellsOf(table, index)) : undefined
  return date ? { ...column, date } : column
}

/** `ask` for dates such as `03/05/2026` only, undefined for cells that are no dates. */
export function guessDateOrder(cells: readonly string[]): DateOrder | 'ask' | undefined {
  const dates = cells.map(cell => /^(\d{1,4})[-/. ](\d{1,2})[-/. ](\d{1,4})$/.exec(cell))
  if (dates.length === 0 || dates.some(date => !date)) return undefined
  const parts = dates.map(date => (date ?? []).slice(1).map(Number))
  if (dates.every(date => date?.[1]?.length === 4)) return 'ymd'
  if (dates.some(date => (date?.[1]?.length ?? 0) > 2)) return undefined
  if (parts.some(([first = 0]) => first > 12)) return 'dmy'
  return parts.some(([, second = 0]) => second > 12) ? 'mdy' : 'ask'
}

export function isKey({ use }: Pick<DraftColumn, 'use'>): boolean {
  return use === 'fingerprint' || use === 'reference'
}

/** What somebody still has to choose or type. */
export function findColumnFaults(columns: readonly DraftColumn[]): ColumnFault[] {
  const faults: ColumnFault[] = columns.some(isKey) ? [] : [{ kind: 'key' }]
  for (const { index, labels, date } of columns) {
    for (const language of ['en', 'fr'] as const) {
      if (labels[language].trim() === '') faults.push({ kind: 'label', index, language })
    }
    if (date === 'ask') faults.push({ kind: 'date', index })
  }
  return faults
}

/** Throws if `findColumnFaults()` finds one. */
export function completeColumns(columns: readonly DraftColumn[]): RegisterColumn[] {
  return columns.map(({ date, labels, ...column }) => {
    if (date === 'ask') throw new Error('the order of a date is not chosen')
    const trimmed = { en: labels.en.trim(), fr: labels.fr.trim() }
    return { ...column, labels: trimmed, ...(date && { date }) }
  })
}

/**
 * Returns the index of the row of headings among the first rows of a file, or undefined if it has
 * none: the first row that is filled and whose cells differ, none of them a value such as a date or
 * like the cell below.
 */
export function findRegisterHeadings(rows: readonly (readonly string[])[]): number | undefined {
  const width = Math.max(0, ...rows.map(row => filled(row).length))
  const at = rows.slice(0, 10).findIndex(row => {
    const cells = filled(row)
    return cells.length * 2 > width && new Set(cells).size === cells.length
  })
  const [row = [], next] = rows.slice(at, at + 2)
  const isData = row.some((cell, column) => isValue(cell) || isLike(cell, next?.[column] ?? ''))
  return at < 0 || !next || isData ? undefined : at
}

// `D-2024-001` and `D-2024-002`
function isLike(cell: string, other: string): boolean {
  const shape = (text: string) => text.replace(/\d+/g, '9').replace(/\p{L}+/gu, 'a')
  return /\d/.test(cell) && shape(cell) === shape(other)
}

function findKnown({ headings }: ReadTable, known: readonly DraftColumn[]): DraftColumn[] {
  const names = headings.map(normalizeHeading)
  const taken = new Set<number>()
  return known.flatMap(column => {
    const name = normalizeHeading(column.header)
    // a file without headings has its columns at the same place
    const index =
      name === '' ? column.index : names.findIndex((each, at) => each === name && !taken.has(at))
    const isThere = index >= 0 && index < names.length && (name !== '' || names[index] === '')
    if (!isThere || taken.has(index)) return []
    taken.add(index)
    return [{ ...column, index, header: (headings[index] ?? '').slice(0, headerLength) }]
  })
}

function findReference(table: ReadTable, names: readonly string[]): number {
  const isOther = (at: number) => containsOne(names[at] ?? '', otherNumbers)
  const named = table.headings.findIndex((heading, at) => isNamedKey(heading) && !isOther(at))
  if (named >= 0) return named
  const containing = names.findIndex((name, at) => containsOne(name, keyWords) && !isOther(at))
  if (containing >= 0) return containing
  // a column in which every cell has a digit, and no two are the same
  return names.findIndex((_, at) => {
    const cells = cellsOf(table, at)
    return (
      cells.length > 1 &&
      cells.every(cell => /\d/.test(cell)) &&
      new Set(cells).size === cells.length &&
      guessDateOrder(cells) === undefined
    )
  })
}

// `Certificate No.`, `N° de diplôme`
function isNamedKey(heading: string): boolean {
  const words = heading.toLowerCase().match(/[\p{L}\p{N}#°]+/gu) ?? []
  return [words[0], words.at(-1)].some(word => word !== undefined && keyNames.includes(word))
}

function labelsOf(header: string): RegisterColumn['labels'] {
  const own = header.trim().slice(0, labelLength)
  const name = normalizeHeading(own)
  return { en: englishTerms.get(name) ?? own, fr: frenchTerms.get(name) ?? own }
}

function isMostly(table: ReadTable, at: number, isOne: (cell: string) => boolean): boolean {
  const cells = cellsOf(table, at)
  return cells.length > 0 && cells.filter(isOne).length / cells.length >= lookShare
}

function cellsOf({ rows }: ReadTable, at: number): string[] {
  const cells: string[] = []
  for (const row of rows.slice(0, comparedRows)) {
    const cell = row[at]?.trim()
    if (cell) cells.push(cell)
  }
  return cells
}

function filled(row: readonly string[]): string[] {
  return row.map(cell => cell.trim()).filter(Boolean)
}

function isValue(cell: string): boolean {
  const text = cell.trim()
  return isFingerprint(text) || guessDateOrder([text]) !== undefined || /^[\d.,\s-]+$/.test(text)
}

function isFingerprint(cell: string): boolean {
  return /^[0-9a-f]{64}$/i.test(cell)
}

function containsOne(name: string, words: readonly string[]): boolean {
  return words.some(word => name.includes(word))
}
