import type { CsvDialect } from '../core/csv/dialect.ts'
import type { CsvRequest, CsvResult } from './csv.ts'
import type { FileInspection, FileScan, RowPage, RowRange } from './csv-files.ts'
import { createPool, type WorkerTaskOptions } from './pool.ts'

// one worker, because it keeps its place in a file between two messages
const ask = createPool<CsvRequest, CsvResult>(
  1,
  () => new Worker(new URL('./csv.ts', import.meta.url), { type: 'module' })
)

/**
 * Every method rejects with `file_unreadable` if the file cannot be read, for example because it
 * was moved.
 */
export interface CsvReader {
  /** With `dialect`, reads the first rows in this dialect instead of detecting one. */
  inspect(file: Blob, dialect?: CsvDialect): Promise<FileInspection>
  count(file: Blob, dialect: CsvDialect, options?: WorkerTaskOptions): Promise<FileScan>
  take(file: Blob, dialect: CsvDialect, part: RowRange): Promise<RowPage>
}

// as: the worker answers a request of each kind with the result of that kind
export const csvReader: CsvReader = {
  inspect: (file, dialect) => ask({ kind: 'inspect', file, dialect }) as Promise<FileInspection>,
  count: (file, dialect, options) =>
    ask({ kind: 'count', file, dialect }, options) as Promise<FileScan>,
  take: (file, dialect, part) =>
    ask({ kind: 'take', key: keyOf(file, dialect), file, dialect, ...part }) as Promise<RowPage>
}

const numbers = new WeakMap<Blob, number>()
let files = 0

function keyOf(file: Blob, dialect: CsvDialect): string {
  const number = numbers.get(file) ?? ++files
  numbers.set(file, number)
  return `${number} ${JSON.stringify(dialect)}`
}
