import type * as z from 'zod/mini'
import { type BatchItem, createDepositBatch } from '../../contract/deposits.ts'
import { AppError } from '../../contract/kit/errors.ts'
import { errorFromProblem } from '../../contract/kit/problems.ts'
import {
  type sendUploadRequest,
  tryParseJson,
  type UploadResponse
} from '../uploads/http-upload.ts'

/**
 * The result of one file of a batch: the history entry of its new deposit, the entry of an earlier
 * deposit of the same file, or the problem with which the file was refused.
 */
export type BatchItemResult = z.output<typeof createDepositBatch.message>['results'][number]

interface BatchFile {
  item: z.input<typeof BatchItem>
  bytes: Blob
}

/**
 * Sends files in one call. Returns one result per file, in the same order. Rejects if the whole
 * call fails. `onProgress` gets the fraction of the body that has been sent, from 0 to 1.
 */
export type SendBatch = (
  files: readonly BatchFile[],
  options: { onProgress: (share: number) => void; signal: AbortSignal }
) => Promise<readonly BatchItemResult[]>

interface BatchClientOptions {
  http: typeof sendUploadRequest
  token: () => string | undefined
  /** Runs for every error response, with the token that the call was sent with. */
  onProblem: (problem: AppError, token: string | undefined) => void
}

/** Creates the function that sends a batch of small files in one HTTP request. */
export function createBatchClient({ http, token, onProblem }: BatchClientOptions): SendBatch {
  return async (files, { onProgress, signal }) => {
    try {
      return await send(files)
    } catch (error) {
      if (signal.aborted || !(error instanceof AppError) || error.code !== 'offline') throw error
      const unreadable = await findUnreadable(files)
      if (unreadable.size === 0) throw error
      const others = files.filter(file => !unreadable.has(file))
      const results = (others.length > 0 ? await send(others) : []).values()
      return files.flatMap(file => unreadable.get(file) ?? results.next().value ?? [])
    }

    async function send(some: readonly BatchFile[]): Promise<readonly BatchItemResult[]> {
      const current = token()
      const answer = await http({
        method: createDepositBatch.method,
        uri: createDepositBatch.path,
        headers: current ? { Authorization: `Bearer ${current}` } : {},
        body: formOf(some),
        onProgress: (bytesSent, total) => onProgress(total > 0 ? bytesSent / total : 0),
        signal
      }).catch((cause: unknown) => {
        throw new AppError('offline', 'A batch got no answer', { cause })
      })
      if (answer.status !== 200) {
        const problem = problemOf(answer)
        onProblem(problem, current)
        throw problem
      }
      const parsed = createDepositBatch.message.safeParse(tryParseJson(answer.body))
      if (parsed.success) return parsed.data.results
      throw new AppError('unexpected_answer', 'A batch answered another shape', {
        cause: parsed.error
      })
    }
  }
}

function formOf(files: readonly BatchFile[]): FormData {
  const form = new FormData()
  form.append('items', JSON.stringify(files.map(({ item }) => item)))
  for (const { bytes } of files) form.append('file', bytes)
  return form
}

function problemOf({ status, header, body }: UploadResponse): AppError {
  const retryAfter = Number(header('Retry-After') ?? Number.NaN)
  return errorFromProblem(
    status,
    tryParseJson(body),
    Number.isNaN(retryAfter) ? undefined : retryAfter
  )
}

/**
 * Returns the files that were moved or changed, each with an error as its result. Needed because
 * the browser reports a lost connection if a call contains such a file.
 */
async function findUnreadable(
  files: readonly BatchFile[]
): Promise<Map<BatchFile, BatchItemResult>> {
  const lost = new Map<BatchFile, BatchItemResult>()
  const look = async (file: BatchFile) => {
    try {
      await file.bytes.slice(0, 1).arrayBuffer()
    } catch (error) {
      const detail = `The file can no longer be read: ${String(error)}`
      lost.set(file, { problem: { status: 0, code: 'file_unreadable', detail } })
    }
  }
  await Promise.all(files.map(look))
  return lost
}
