import type { DataSource } from '../../contract/data-sources.ts'
import { AppError, asAppError } from '../../contract/kit/errors.ts'
import { registerLimits } from '../../contract/kit/limits.ts'
import type {
  RefusedRow,
  RegisterImport,
  RegisterImportMode,
  RegisterImportState
} from '../../contract/register-imports.ts'
import type { CsvDialect } from '../../core/csv/dialect.ts'
import { callAdminApi, companyIdOfPage } from '../admin/admin-api.ts'
import { isUnknownOrInvalidIdError } from '../admin/companies.ts'
import { reloadDataSource } from '../admin/data-sources.ts'
import { fetchFile } from '../download.ts'
import { browserEnvironment } from '../environment.ts'
import { createListStore } from '../lists/lists.ts'
import { personalAtom } from '../personal-atoms.ts'
import { addSessionEndListener, sessionGeneration } from '../sessions.ts'
import {
  $importFile,
  changeDialect,
  clearImportFile,
  firstDataRows,
  headingsOf,
  type OpenedFile,
  readImportFile
} from './import-file.ts'
import type { FileKind } from './import-kinds.ts'
import { importFileName } from './imports.ts'
import {
  completeColumns,
  type DraftColumn,
  findRegisterHeadings,
  guessRegisterColumns,
  newColumn,
  type ReadTable
} from './register-columns.ts'
import { forgetRegisterUpload, startRegisterUpload } from './register-uploads.ts'

export type ShownRegisterImport =
  | { status: 'none' | 'loading' | 'missing' }
  | { status: 'failed'; error: AppError }
  /** `error`: why the progress could not be loaded. */
  | { status: 'ready'; item: RegisterImport; error?: AppError }

export const $registerImport = personalAtom<ShownRegisterImport>({ status: 'none' })

export const $registerColumns = personalAtom<readonly DraftColumn[]>([])

export const $registerImportMode = personalAtom<RegisterImportMode>('replace')

/** The browser reads only the beginning of the file; the service reads it whole. */
export const registerFileKind: FileKind = {
  name: 'registers',
  fields: [],
  limits: { rows: registerLimits.rows, bytes: registerLimits.bytes },
  isCounted: false,
  findHeadings: findRegisterHeadings
}

/** Of the import whose id is the owner. `row` as text is the id. */
export const refusedRows = createListStore<RefusedRow & { id: string }>(
  async (_, { limit, cursor = '0' }, importId) => {
    const now = $registerImport.get()
    if (now.status !== 'ready') return []
    const { rows } = await callAdminApi('listRefusedRows', {
      id: now.item.data_source,
      importId,
      after: Number(cursor),
      limit
    })
    return rows.map(row => ({ ...row, id: `${row.row}` }))
  }
)

// other tabs and programs also change an import, so one that waits is asked about, too
const pollMs: Partial<Record<RegisterImportState, number>> = {
  uploading: 2_000,
  reading: 1_000,
  checked: 5_000
}

// an answer is dropped if the page has opened or closed an import since its call was made
let opened = 0
let stopPolling = () => {}

addSessionEndListener(() => {
  opened += 1
  stopPolling()
})

export async function readRegisterFile(source: DataSource, file: File): Promise<void> {
  $registerColumns.set([])
  // an import that has just run may have changed them
  const current = callAdminApi('getDataSource', { id: source.id }).catch(() => source)
  await readImportFile(registerFileKind, file)
  guess((await current).columns)
}

/** Keeps the columns that are chosen. */
export async function changeRegisterDialect(
  source: DataSource,
  change: Partial<CsvDialect>
): Promise<void> {
  await changeDialect(registerFileKind, change)
  const chosen = $registerColumns.get()
  guess(chosen.length > 0 ? chosen : source.columns)
}

function guess(known: readonly DraftColumn[]): void {
  const file = $importFile.get()
  if (file.status === 'read') $registerColumns.set(guessRegisterColumns(tableOf(file), known))
}

export function tableOf(file: OpenedFile): ReadTable {
  return { headings: headingsOf(file), rows: firstDataRows(file) }
}

/** Makes the column the key, and takes its former use away. */
export function setKeyColumn(
  file: OpenedFile,
  index: number,
  use: 'fingerprint' | 'reference'
): void {
  const others = $registerColumns.get().filter(each => {
    const isOldKey = each.use === 'fingerprint' || each.use === 'reference'
    // only a reference has check columns
    return !isOldKey && each.index !== index && (use === 'reference' || each.use !== 'check')
  })
  const before = $registerColumns.get().find(each => each.index === index)
  const { date: _, ...column } = before ?? newColumn(tableOf(file), index, use)
  $registerColumns.set([{ ...column, use, shown: false }, ...others])
}

export function addRegisterColumn(file: OpenedFile, index: number, use: 'check' | 'shown'): void {
  const columns = $registerColumns.get()
  if (columns.some(each => each.index === index)) return
  $registerColumns.set([...columns, newColumn(tableOf(file), index, use)])
}

export function changeRegisterColumn(index: number, change: Partial<DraftColumn>): void {
  $registerColumns.set(
    $registerColumns.get().map(each => (each.index === index ? { ...each, ...change } : each))
  )
}

/** A date without an order is text. */
export function setColumnDate(index: number, date: DraftColumn['date']): void {
  $registerColumns.set(
    $registerColumns.get().map(each => {
      if (each.index !== index) return each
      const { date: _, ...column } = each
      return date ? { ...column, date } : column
    })
  )
}

export function removeRegisterColumn(index: number): void {
  $registerColumns.set($registerColumns.get().filter(each => each.index !== index))
}

/** Returns the id as soon as the import exists. Later errors are shown with the import. */
export async function startRegisterImport(source: string, key: string): Promise<string> {
  const file = $importFile.get()
  if (file.status !== 'read') throw new Error('no file to import')
  const { delimiter, encoding, newline, hasHeader, firstRow } = file.dialect
  opened += 1
  const name = importFileName(file.file.name)
  const { import: item, upload } = await callAdminApi(
    'createRegisterImport',
    {
      id: source,
      mode: $registerImportMode.get(),
      file_name: name,
      bytes: file.file.size,
      dialect: { delimiter, encoding, newline, has_header: hasHeader, first_row: firstRow },
      columns: completeColumns($registerColumns.get())
    },
    { idempotencyKey: key }
  )
  show(item)
  if (upload !== null) {
    void startRegisterUpload({ id: item.id, upload, name, bytes: file.file.size }, file.file)
  }
  return item.id
}

/** Lets the service fetch the file. Returns the id of the import. */
export async function startRegisterFetch(
  { id }: DataSource,
  url: string,
  key: string
): Promise<string> {
  opened += 1
  const { import: item } = await callAdminApi(
    'createRegisterImport',
    { id, mode: $registerImportMode.get(), url },
    { idempotencyKey: key }
  )
  show(item)
  return item.id
}

export async function openRegisterImport(source: string, id: string | undefined): Promise<void> {
  const now = $registerImport.get()
  opened += 1
  stopPolling()
  if (id === undefined) {
    refusedRows.clear()
    $registerImport.set({ status: 'none' })
    return
  }
  const isShown = watch()
  if (now.status !== 'ready' || now.item.id !== id) {
    refusedRows.clear()
    $registerImport.set({ status: 'loading' })
  }
  try {
    const item = await callAdminApi('getRegisterImport', { id: source, importId: id })
    if (isShown()) show(item)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    if (!isShown()) return
    $registerImport.set(
      isUnknownOrInvalidIdError(error) ? { status: 'missing' } : { status: 'failed', error }
    )
  }
}

export async function runRegisterImport(item: RegisterImport): Promise<void> {
  const skip_refused = (item.counts?.refused ?? 0) > 0
  await showResult(callAdminApi('runRegisterImport', { ...pathOf(item), skip_refused }))
}

export async function undoShownRegisterImport(item: RegisterImport): Promise<void> {
  await showResult(callAdminApi('undoRegisterImport', pathOf(item)))
}

export async function discardRegisterImport(item: RegisterImport): Promise<void> {
  opened += 1
  stopPolling()
  forgetRegisterUpload(item.id)
  await callAdminApi('deleteRegisterImport', pathOf(item))
  $registerImport.set({ status: 'none' })
}

/** The upload goes on. */
export function closeRegisterImport(): void {
  opened += 1
  stopPolling()
  clearImportFile()
  refusedRows.clear()
  $registerColumns.set([])
  $registerImportMode.set('replace')
  $registerImport.set({ status: 'none' })
}

/** All refused rows with their reasons, as CSV. */
export function fetchRefusedRows({ id, data_source }: RegisterImport): Promise<Blob> {
  const path = `/data_source/${data_source}/import/${id}/refused`
  return fetchFile(path, {}, companyIdOfPage())
}

function pathOf({ id, data_source }: RegisterImport) {
  return { id: data_source, importId: id }
}

async function showResult(call: Promise<RegisterImport>): Promise<void> {
  const isShown = watch()
  const item = await call
  if (isShown()) show(item)
}

function show(item: RegisterImport): void {
  const before = $registerImport.get()
  stopPolling()
  $registerImport.set({ status: 'ready', item })
  const hasMoved = before.status === 'ready' && before.item.state !== item.state
  if (hasMoved) {
    refusedRows.clear()
    // the page shows the source's version, too
    if (item.state === 'done' || item.state === 'undone')
      void reloadDataSource(item.data_source).catch(() => {})
  }
  const ms = pollMs[item.state]
  if (ms !== undefined) poll(item, ms)
}

function poll(item: RegisterImport, ms: number): void {
  const isShown = watch()
  stopPolling = browserEnvironment().after(ms, async () => {
    try {
      const next = await callAdminApi('getRegisterImport', pathOf(item))
      if (isShown()) show(next)
    } catch (cause) {
      if (!isShown()) return
      const error = asAppError(cause, 'Asking for the progress failed')
      if (isUnknownOrInvalidIdError(error)) $registerImport.set({ status: 'missing' })
      else {
        $registerImport.set({ status: 'ready', item, error })
        poll(item, pollMs.checked ?? ms)
      }
    }
  })
}

function watch(): () => boolean {
  const [session, company, mine] = [sessionGeneration(), companyIdOfPage(), opened]
  return () => session === sessionGeneration() && company === companyIdOfPage() && mine === opened
}
