import type { Import, ImportRowVerdict } from '../../contract/imports.ts'
import { AppError, asAppError } from '../../contract/kit/errors.ts'
import { companyIdOfPage } from '../admin/admin-api.ts'
import { isUnknownOrInvalidIdError } from '../admin/companies.ts'
import { browserEnvironment } from '../environment.ts'
import { personalAtom } from '../personal-atoms.ts'
import { addSessionEndListener, sessionGeneration } from '../sessions.ts'
import {
  $importFile,
  clearImportFile,
  countDataRows,
  headingsOf,
  type OpenedFile,
  readRowValuesByField,
  rememberColumnMapping
} from './import-file.ts'
import {
  type ImportKind,
  type ImportRowFromServer,
  mostRowsPerPage,
  type RowValues
} from './import-kinds.ts'
import {
  loadSourceFileFormat,
  rememberSourceFileFormat,
  type SourceFileFormat
} from './import-memory.ts'

export type ShownImport =
  | { status: 'none' | 'loading' | 'missing' }
  | { status: 'failed'; error: AppError }
  | {
      status: 'ready'
      item: Import
      /** Undefined if this browser does not remember it. */
      sourceFormat: SourceFileFormat | undefined
      /** Why sending the rows or loading the progress has failed. */
      error?: AppError
    }

export const $import = personalAtom<ShownImport>({ status: 'none' })

// more rows would keep the page busy for longer than a frame
const rowsPerCall = 400
const pollMs = 700
const working: readonly Import['state'][] = ['checking', 'running', 'undoing']

// a response is dropped if the page has opened or closed an import since its call was made
let opened = 0
let stopPolling = () => {}
// `from`: the next row of the file, whose header and blank rows count. `row`: the number under
// which the server stores it.
let place: { id: string; file: OpenedFile; from: number; row: number } | undefined
let lastSent: { id: string; file: OpenedFile } | undefined

addSessionEndListener(() => {
  opened += 1
  stopPolling()
  place = undefined
  lastSent = undefined
})

/** Whether rows are not sent yet and the browser still has the file. */
export function canContinueSending(id: string): boolean {
  return place?.id === id
}

export function findSentFile(importId: string): OpenedFile | undefined {
  return lastSent?.id === importId ? lastSent.file : undefined
}

export async function openImport(kind: ImportKind, id: string | undefined): Promise<void> {
  const now = $import.get()
  opened += 1
  stopPolling()
  if (id === undefined) {
    kind.rows.clear()
    $import.set({ status: 'none' })
    return
  }
  const isShown = watch()
  if (now.status !== 'ready' || now.item.id !== id) {
    kind.rows.clear()
    $import.set({ status: 'loading' })
  }
  try {
    const item = await kind.get(id)
    if (!isShown()) return
    show(kind, item)
    // continues where sending stopped when the person left the page
    if (item.state === 'open' && canContinueSending(id)) void sendRows(kind)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    if (!isShown()) return
    $import.set(
      isUnknownOrInvalidIdError(error) ? { status: 'missing' } : { status: 'failed', error }
    )
  }
}

/** Returns the id as soon as the import exists. Later errors are shown with the import. */
export async function createImportFromChosenFile(kind: ImportKind): Promise<string> {
  const file = $importFile.get()
  if (file.status !== 'read') throw new Error('no file to import')
  const rows = countDataRows(file)
  if (rows === undefined) throw new Error('the file is still being counted')
  rememberColumnMapping(kind)
  opened += 1
  const item = await kind.create({
    file_name: importFileName(file.file.name),
    rows,
    bytes: file.file.size
  })
  const { dialect, mapping, count } = file
  const headings = dialect.hasHeader ? headingsOf(file) : []
  const columns = Object.entries(mapping).map(([field, column]) => ({ field, column }))
  rememberSourceFileFormat({ id: item.id, dialect, columns, headings, blank: count?.blank ?? [] })
  place = { id: item.id, file, from: dialect.firstRow, row: 1 }
  lastSent = { id: item.id, file }
  show(kind, item)
  void sendRows(kind)
  return item.id
}

export async function sendRows(kind: ImportKind): Promise<void> {
  const isShown = watch()
  const sent = place
  if (!sent) return
  try {
    let item: Import | undefined
    for (let from: number | undefined = sent.from; from !== undefined; ) {
      const part = await readRowValuesByField(kind, sent.file, from, rowsPerCall)
      const isFirst = from === sent.file.dialect.firstRow
      const rows = isFirst && sent.file.dialect.hasHeader ? part.rows.slice(1) : part.rows
      if (!isShown() || place !== sent) return
      if (rows.length > 0) {
        item = await kind.store(sent.id, sent.row, rows)
        sent.row += rows.length
        if (!isShown()) return
        update(item)
      }
      from = part.next
      sent.from = from ?? sent.from
    }
    await checkImport(kind, sent.id)
    if (place === sent) place = undefined
  } catch (cause) {
    if (isShown()) fail(asAppError(cause, 'Sending the rows failed'))
  }
}

export async function checkImport(kind: ImportKind, id: string): Promise<void> {
  await showResult(kind, kind.check(id))
}

export async function runImport(
  kind: ImportKind,
  id: string,
  skipsRefused: boolean
): Promise<void> {
  await showResult(kind, kind.run(id, skipsRefused))
}

async function showResult(kind: ImportKind, call: Promise<Import>): Promise<void> {
  const isShown = watch()
  const item = await call
  if (isShown()) show(kind, item)
}

/** The import need not be the one that the page shows. */
export async function undoImport(kind: ImportKind, id: string): Promise<void> {
  const isShown = watch()
  const item = await kind.undo(id)
  const now = $import.get()
  if (isShown() && now.status === 'ready' && now.item.id === id) show(kind, item)
}

/** The chosen file stays. */
export async function discardImport(kind: ImportKind, id: string): Promise<void> {
  if (place?.id === id) place = undefined
  opened += 1
  stopPolling()
  await kind.remove(id)
  $import.set({ status: 'none' })
}

export function closeImport(kind: ImportKind): void {
  opened += 1
  stopPolling()
  place = undefined
  clearImportFile()
  kind.rows.clear()
  $import.set({ status: 'none' })
}

/** Returns undefined if the page shows another import by then. */
export async function correctRow(
  kind: ImportKind,
  id: string,
  row: number,
  values: RowValues
): Promise<ImportRowFromServer | undefined> {
  return judgedRow(kind, id, row, kind.store(id, row, [values]))
}

/** Returns undefined if the page shows another import by then. */
export async function setRowSkipped(
  kind: ImportKind,
  id: string,
  row: number,
  skip: boolean
): Promise<ImportRowFromServer | undefined> {
  return judgedRow(kind, id, row, kind.skip(id, [row], skip))
}

// the server also checks other rows again: of several with one e-mail, it accepts only the first
async function judgedRow(
  kind: ImportKind,
  id: string,
  row: number,
  change: Promise<Import>
): Promise<ImportRowFromServer | undefined> {
  const isShown = watch()
  const item = await change
  if (!isShown()) return undefined
  update(item)
  const { rows } = await kind.list(id, { after: row - 1, limit: 1 })
  if (kind.rows.$status.get().status !== 'idle') await kind.rows.refresh()
  return rows[0]
}

export async function showRowsWithVerdict(
  kind: ImportKind,
  verdict: ImportRowVerdict
): Promise<void> {
  const now = $import.get()
  if (now.status !== 'ready') return
  // the columns and buttons of a row depend on its verdict
  if (kind.rows.$query.get().verdict !== verdict) kind.rows.clear()
  await kind.rows.open(now.item.id, { verdict })
}

/** In the order of the file. */
export async function fetchOmittedRows(
  kind: ImportKind,
  id: string
): Promise<ImportRowFromServer[]> {
  const found: ImportRowFromServer[] = []
  for (const verdict of ['refused', 'skipped'] as const) {
    for (let after: number | null = 0; after !== null; ) {
      const page = await kind.list(id, { verdict, after, limit: mostRowsPerPage })
      found.push(...page.rows)
      after = page.next
    }
  }
  return found.sort((a, b) => a.row - b.row)
}

function show(kind: ImportKind, item: Import): void {
  const before = $import.get()
  stopPolling()
  $import.set({ status: 'ready', item, sourceFormat: loadSourceFileFormat(item.id) })
  const hasMoved = before.status === 'ready' && before.item.state !== item.state
  if (hasMoved) kind.rows.clear()
  if (working.includes(item.state)) poll(kind, item.id)
}

function poll(kind: ImportKind, id: string): void {
  const isShown = watch()
  stopPolling = browserEnvironment().after(pollMs, async () => {
    try {
      const item = await kind.get(id)
      if (isShown()) show(kind, item)
    } catch (cause) {
      if (!isShown()) return
      fail(asAppError(cause, 'Asking for the progress failed'))
      poll(kind, id)
    }
  })
}

function update(item: Import): void {
  const now = $import.get()
  if (now.status === 'ready' && now.item.id === item.id)
    $import.set({ status: 'ready', item, sourceFormat: now.sourceFormat })
}

function fail(error: AppError): void {
  const now = $import.get()
  if (now.status === 'ready') $import.set({ ...now, error })
}

function watch(): () => boolean {
  const [session, company, mine] = [sessionGeneration(), companyIdOfPage(), opened]
  return () => session === sessionGeneration() && company === companyIdOfPage() && mine === opened
}

/** The server accepts one line of at most 255 characters. */
export function importFileName(name: string): string {
  return name.replace(/\p{C}/gu, '').slice(0, 255) || 'import.csv'
}
