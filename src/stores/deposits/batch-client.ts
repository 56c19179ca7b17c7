import type * as z from 'zod/mini'
import { type BatchItem, createDepositBatch } from '../../contract/deposits.ts'
import { AppError } from '../../contract/kit/errors.ts'
import {
  findReadError,
  sendInSession,
  tryParseJson,
  type UploadSession
} from '../uploads/http-upload.ts'

/** A new deposit, an earlier deposit of the same file, or the problem with which it was refused. */
export type BatchItemResult = z.output<typeof createDepositBatch.message>['results'][number]

interface BatchFile {
  item: z.input<typeof BatchItem>
  bytes: Blob
}

/** Results are in the order of the files. `onProgress` gets a fraction from 0 to 1. */
export type SendBatch = (
  files: readonly BatchFile[],
  options: { onProgress: (share: number) => void; signal: AbortSignal }
) => Promise<readonly BatchItemResult[]>

// files that can no longer be read get an error, and the others are sent without them
export function createBatchClient(session: UploadSession): SendBatch {
  return async (files, { onProgress, signal }) => {
    const send = async (some: readonly BatchFile[]): Promise<readonly BatchItemResult[]> => {
      const answer = await sendInSession(session, {
        method: createDepositBatch.method,
        uri: createDepositBatch.path,
        headers: {},
        body: formOf(some),
        onProgress: (bytesSent, total) => onProgress(total > 0 ? bytesSent / total : 0),
        signal
      })
      const parsed = createDepositBatch.message.safeParse(tryParseJson(answer.body))
      if (parsed.success) return parsed.data.results
      const { error: cause } = parsed
      throw new AppError('unexpected_answer', 'A batch answered another shape', { cause })
    }
    try {
      return await send(files)
    } catch (error) {
      if (signal.aborted) throw error
      const lost = await Promise.all(files.map(({ bytes }) => findReadError(error, bytes)))
      if (!lost.some(Boolean)) throw error
      const others = files.filter((_file, at) => !lost[at])
      const results = (others.length > 0 ? await send(others) : []).values()
      return lost.flatMap(each => (each ? toResult(each) : (results.next().value ?? [])))
    }
  }
}

function formOf(files: readonly BatchFile[]): FormData {
  const form = new FormData()
  form.append('items', JSON.stringify(files.map(({ item }) => item)))
  for (const { bytes } of files) form.append('file', bytes)
  return form
}

function toResult({ code, message }: AppError): BatchItemResult {
  return { problem: { status: 0, code, detail: message } }
}
