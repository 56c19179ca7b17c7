import { setImmediate as nextTurn } from 'node:timers/promises'
import { sql } from 'kysely'
import type * as z from 'zod/mini'
import type * as endpoints from '../../../contract/imports.ts'
import {
  type Import,
  type ImportCounts,
  ImportRowVerdict,
  importLimits,
  NotUndoneReason,
  type UserImportRow
} from '../../../contract/imports.ts'
import { AppError } from '../../../contract/kit/errors.ts'
import { Username } from '../../../contract/users.ts'
import { readPastedEmail, trimInvisible } from '../../../core/input/pasted-text.ts'
import { foldText } from '../../../core/text/search-words.ts'
import {
  deleteInCompany,
  selectInCompany,
  updateById,
  updateInCompany
} from '../../db/company-queries.ts'
import type { StoredUserImportOptions } from '../../db/schema.ts'
import { inCompany, type Tx } from '../../db/scope.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { countVerdicts, lockImport, readImport } from '../imports/imports.ts'
import { requireRoom } from '../limits/bounds.ts'
import { checkUserImportRows, findRowsToRecheck } from './user-import-checks.ts'

type Sent = z.output<typeof endpoints.storeImportRows.input>
type Cells = UserImportRow['cells']
type Reason = UserImportRow['reasons'][number]

interface Storing extends Sent {
  company_id: CompanyId
}

interface ReadRow {
  number: number
  cells: Cells
  bytes: number
  kept_bytes: number
  faults: Reason[] | null
  email: string | null
  username: string | null
  locale: string | null
  group_names: string[]
}

// parsed in one turn of the event loop, which takes a few milliseconds
const readAtOnce = 250

/**
 * If the import has been checked, checks these rows again, and rows with the same e-mails whose
 * verdicts are out of date.
 */
export async function storeUserImportRows(
  deps: Pick<Deps, 'db' | 'clock' | 'settings'>,
  { company_id, id, from, rows }: Storing
): Promise<Import> {
  const read: ReadRow[] = []
  for (let at = 0; at < rows.length; at += readAtOnce) {
    for (const [index, cells] of rows.slice(at, at + readAtOnce).entries()) {
      read.push(readRow(from + at + index, cells))
    }
    await nextTurn()
  }
  const to = from + rows.length - 1
  return inCompany(deps.db, company_id, async tx => {
    const found = await lockImport(tx, id, ['open', 'checked', 'failed'])
    if (to > found.row_count) {
      const fields = { rows: { rule: 'max', limit: found.row_count - from + 1 } }
      throw new AppError('invalid_input', `The import has ${found.row_count} rows`, { fields })
    }
    const former = await deleteInCompany(tx, 'import_row')
      .where('import_id', '=', id)
      .where('number', '>=', from)
      .where('number', '<=', to)
      .returning(['bytes', 'kept_bytes', 'email'])
      .execute()
    await insertRows(tx, id, read)
    const stored_count = found.stored_count + read.length - former.length
    const stored_bytes = found.stored_bytes + sumOf(read, 'bytes') - sumOf(former, 'bytes')
    const kept_more = sumOf(read, 'kept_bytes') - sumOf(former, 'kept_bytes')
    if (stored_bytes > importLimits.bytes) {
      throw new AppError('import_too_large', `The cells have ${stored_bytes} bytes`)
    }
    await requireRoom(tx, deps, 'import_bytes', kept_more)
    const numbers = read.map(({ number }) => number)
    const changed = { id, options: found.options, numbers, rows: [...former, ...read] }
    const counts = found.counts && (await checkAgain(tx, deps, changed))
    await updateById(tx, 'import', id)
      .set({
        stored_count,
        stored_bytes,
        kept_bytes: sql<number>`kept_bytes + ${kept_more}`,
        counts: counts && JSON.stringify(counts)
      })
      .execute()
    return readImport(tx, id)
  })
}

interface Skipping extends z.output<typeof endpoints.skipImportRows.input> {
  company_id: CompanyId
}

export async function setUserImportRowsSkipped(
  deps: Pick<Deps, 'db' | 'clock'>,
  { company_id, id, rows, skip }: Skipping
): Promise<Import> {
  const numbers = [...new Set(rows)]
  return inCompany(deps.db, company_id, async tx => {
    const { options } = await lockImport(tx, id, ['checked'])
    const changed = await updateInCompany(tx, 'import_row')
      .set({ verdict: skip ? 'skipped' : null })
      .where('import_id', '=', id)
      .where('number', 'in', numbers)
      .returning('email')
      .execute()
    if (changed.length < numbers.length) throw new AppError('not_found', 'No such row')
    const counts = await checkAgain(tx, deps, { id, options, numbers, rows: changed })
    await updateById(tx, 'import', id)
      .set({ counts: JSON.stringify(counts) })
      .execute()
    return readImport(tx, id)
  })
}

interface Changed {
  id: string
  options: StoredUserImportOptions
  numbers: number[]
  /** A replaced row counts with its old and its new e-mail. */
  rows: { email: string | null }[]
}

// one statement of so many rows takes a fraction of a second
const checkedAgainAtOnce = 2_000

async function checkAgain(
  tx: Tx,
  deps: Pick<Deps, 'clock'>,
  { id, options, numbers, rows }: Changed
): Promise<ImportCounts> {
  const emails = new Set(rows.flatMap(({ email }) => email ?? []))
  const stale = await findRowsToRecheck(tx, id, [...emails])
  const all = [...new Set([...numbers, ...stale])]
  for (let at = 0; at < all.length; at += checkedAgainAtOnce) {
    await checkUserImportRows(tx, deps, { id, options }, all.slice(at, at + checkedAgainAtOnce))
  }
  return countVerdicts(tx, id)
}

interface Reading extends z.output<typeof endpoints.listImportRows.input> {
  company_id: CompanyId
}

const usualLimit = 100

export async function listUserImportRows(
  deps: Pick<Deps, 'db'>,
  { company_id, id, verdict, kept, after = 0, limit = usualLimit }: Reading
): Promise<{ rows: UserImportRow[]; next: number | null }> {
  return inCompany(deps.db, company_id, async tx => {
    await readImport(tx, id)
    let rows = selectInCompany(tx, 'import_row')
      .where('import_id', '=', id)
      .where('number', '>', after)
    if (verdict !== undefined) rows = rows.where('verdict', '=', verdict)
    if (kept !== undefined) rows = rows.where('kept', 'is not', null)
    const found = await rows
      .select(['number', 'cells', 'verdict', 'reasons', 'kept'])
      .orderBy('number')
      .limit(limit + 1)
      .execute()
    const page = found.slice(0, limit)
    return {
      rows: page.map(row => ({
        row: row.number,
        cells: row.cells as Cells, // as: `readRow` made them
        verdict: row.verdict === null ? null : ImportRowVerdict.parse(row.verdict),
        reasons: (row.reasons ?? []) as Reason[], // as: `readRow` and `checkUserImportRows` made them
        kept: row.kept === null ? null : NotUndoneReason.parse(row.kept)
      })),
      next: found.length > limit ? (page.at(-1)?.number ?? null) : null
    }
  })
}

// never throws; `faults` says why the row is refused
function readRow(number: number, sent: Cells): ReadRow {
  const cells: Cells = {
    email: storable(sent.email),
    ...(sent.username === undefined ? {} : { username: storable(sent.username) }),
    // one more than allowed, so that there are still too many when the row is mended
    ...(sent.groups && { groups: sent.groups.slice(0, importLimits.groups + 1).map(storable) }),
    ...(sent.locale === undefined ? {} : { locale: storable(sent.locale) })
  }
  const faults: Reason[] = []
  const email = readEmail(trimInvisible(sent.email), faults)
  const username = readUsername(trimInvisible(sent.username ?? ''), faults)
  const group_names = readGroups(cells.groups ?? [], faults)
  const locale = readLocale(cells.locale ?? '', faults)
  // the texts alone, so that a file within the limits can be stored
  const bytes = Buffer.byteLength(Object.values(cells).flat().join(''))
  const read = { number, cells, bytes, email, username, group_names, locale }
  const kept_bytes = keptBytes([read, faults, faults, possibleReasons(group_names)])
  return { ...read, kept_bytes, faults: faults.length > 0 ? faults : null }
}

// headers, ids and entries of indexes
const rowOverheadBytes = 300

// counted when the row is stored, because a check must not fail for want of room
function keptBytes(values: unknown[]): number {
  return rowOverheadBytes + Buffer.byteLength(JSON.stringify(values))
}

// more reasons than a check stores with a row that names these groups
function possibleReasons(group_names: string[]): Reason[] {
  return [
    ...group_names.map(
      (name): Reason => ({ column: 'groups', code: 'unknown', value: shortened(name) })
    ),
    { column: 'email', code: 'duplicate', row: importLimits.rows },
    { column: 'groups', code: 'too_many' },
    { column: 'email', code: 'administrator' }
  ]
}

function readEmail(cell: string, faults: Reason[]): string | null {
  if (cell === '') {
    faults.push({ column: 'email', code: 'required' })
    return null
  }
  const email = readPastedEmail(cell)
  if (email !== undefined) return email
  const isLong = cell.length > 254
  faults.push({ column: 'email', code: isLong ? 'too_long' : 'format' })
  return null
}

function readUsername(cell: string, faults: Reason[]): string | null {
  if (cell === '') return null
  const parsed = Username.safeParse(cell)
  if (parsed.success) return parsed.data
  const isLong = parsed.error.issues.some(({ code }) => code === 'too_big')
  faults.push({ column: 'username', code: isLong ? 'too_long' : 'format' })
  return null
}

function readGroups(names: string[], faults: Reason[]): string[] {
  const given = [...new Set(names.filter(Boolean))]
  if (given.length <= importLimits.groups) return given
  faults.push({ column: 'groups', code: 'too_many' })
  return []
}

// each language with the words that may stand for it in a cell
const languages: [locale: string, ...names: string[]][] = [
  ['en', 'en', 'eng', 'english', 'anglais'],
  ['fr', 'fr', 'fra', 'fre', 'french', 'francais']
]

function readLocale(cell: string, faults: Reason[]): string | null {
  if (cell === '') return null
  // `fr-FR` is read as `fr`
  const [, word = ''] = /^([a-z]+)(?:[-_][a-z]{2})?$/.exec(foldText(cell)) ?? []
  const found = languages.find(([, ...names]) => names.includes(word))
  if (found) return found[0]
  faults.push({ column: 'locale', code: 'unknown', value: shortened(cell) })
  return null
}

function storable(cell: string): string {
  return trimInvisible(cell)
    .slice(0, importLimits.cell + 1)
    .toWellFormed()
    .replaceAll('\0', '\ufffd')
}

function shortened(text: string): string {
  return text.slice(0, 80).toWellFormed()
}

async function insertRows(tx: Tx, id: string, rows: ReadRow[]): Promise<void> {
  await sql`
    insert into import_row (
      company_id, import_id, number, cells, bytes, kept_bytes, faults, email, username, locale,
      group_names
    )
    select ${tx.companyId}, ${id}, number, cells, bytes, kept_bytes, faults, email, username, locale,
           group_names
      from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as sent (
        number integer, cells jsonb, bytes integer, kept_bytes integer, faults jsonb, email text, username text,
        locale text, group_names text[]
      )`.execute(tx)
}

function sumOf<Name extends string>(rows: Record<Name, number>[], name: Name): number {
  return rows.reduce((sum, row) => sum + row[name], 0)
}
