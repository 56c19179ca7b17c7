import type { Dialect } from '../core/csv/dialect.ts'
import {
  countRows,
  createRowRangeReader,
  type FileInspection,
  inspectFile,
  type RowCountResult,
  type RowPage
} from './csv-files.ts'
import type { WorkerReply } from './pool.ts'

/**
 * A message to the worker that reads CSV files. `kind` names the function of `csv-files.ts` to
 * call. `key` identifies the file and the dialect, because the `Blob` of each message is a new
 * copy.
 */
export type CsvRequest =
  | { kind: 'inspect'; file: Blob; dialect?: Dialect | undefined }
  | { kind: 'count'; file: Blob; dialect: Dialect }
  | ({ kind: 'take'; key: string; file: Blob; dialect: Dialect } & RowRange)

/** The rows to return: at most `most` rows from the row with the number `from`. */
export interface RowRange {
  from: number
  most: number
  /** Indexes of the columns to return. All columns if absent. */
  columns?: readonly number[] | undefined
}

export type CsvResult = FileInspection | RowCountResult | RowPage

const take = createRowRangeReader()

addEventListener('message', ({ data }: MessageEvent<CsvRequest>) => {
  answerTo(data).then(
    result => answer({ kind: 'done', result }),
    (cause: unknown) => answer({ kind: 'failed', detail: String(cause) })
  )
})

function answerTo(request: CsvRequest): Promise<CsvResult> {
  const { file, dialect } = request
  switch (request.kind) {
    case 'inspect':
      return inspectFile(file, dialect)
    case 'count':
      return countRows(file, request.dialect, bytesDone => answer({ kind: 'progress', bytesDone }))
    case 'take':
      return take(request.key, file, request.dialect, request)
  }
}

function answer(message: WorkerReply<CsvResult>): void {
  postMessage(message)
}
