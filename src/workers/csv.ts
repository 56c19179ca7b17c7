import type { CsvDialect } from '../core/csv/dialect.ts'
import {
  countRowsAndFaults,
  createRowRangeReader,
  type FileInspection,
  type FileScan,
  inspectFile,
  type RowPage,
  type RowRange
} from './csv-files.ts'
import type { WorkerReply } from './pool.ts'

/** `key` identifies the file and the dialect, because the `Blob` of each message is a new copy. */
export type CsvRequest =
  | { kind: 'inspect'; file: Blob; dialect?: CsvDialect | undefined }
  | { kind: 'count'; file: Blob; dialect: CsvDialect }
  | ({ kind: 'take'; key: string; file: Blob; dialect: CsvDialect } & RowRange)

export type CsvResult = FileInspection | FileScan | RowPage

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
      return countRowsAndFaults(file, request.dialect, bytesDone =>
        answer({ kind: 'progress', bytesDone })
      )
    case 'take':
      return take(request.key, file, request.dialect, request)
  }
}

function answer(message: WorkerReply<CsvResult>): void {
  postMessage(message)
}
