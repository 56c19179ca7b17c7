import type * as z from 'zod/mini'
import type { BatchItem } from '../../contract/deposits.ts'
import { AppError } from '../../contract/kit/errors.ts'
import { maxDepositBatchBodyBytes, maxFilesPerDepositBatch } from '../../contract/kit/limits.ts'
import { errorFromProblem } from '../../contract/kit/problems.ts'
import type { BatchItemResult, SendBatch } from './batch-client.ts'

/**
 * Maximum total size of the files in one call, in bytes. It is 512 KiB below the server's limit for
 * a call, because the list of items and the multipart form also count.
 */
const callBytes = maxDepositBatchBodyBytes - 512 * 1024
/**
 * Maximum number of calls at the same time. While one call runs, a second call starts only if
 * enough files wait to make it full. This keeps the number of calls low.
 */
const maxCalls = 2

/** The result of a file that the server has accepted. */
export type AcceptedFileResult = Exclude<BatchItemResult, { problem: unknown }>

interface FileOptions {
  /**
   * Aborted when the deposit of the file is paused or cancelled. If the file still waits, it leaves
   * the queue. If the call with the file has not been sent completely, the call stops, and its
   * other files are sent again without this one.
   */
  signal: AbortSignal
  onStart: () => void
  onProgress: (bytesSent: number) => void
  /**
   * Runs when the last byte of the call has been sent. From then on the file cannot be removed from
   * the call.
   */
  onSent: () => void
  /**
   * Called if the server has accepted the file. All accepted files of a call are reported before
   * any refused file. In another order, a refusal, such as a reached limit, could pause a file that
   * the server has accepted.
   */
  onResult: (result: AcceptedFileResult) => void
}

interface WaitingFile extends FileOptions {
  item: z.input<typeof BatchItem>
  bytes: Blob
  resolve: (result: AcceptedFileResult) => void
  reject: (error: unknown) => void
}

/**
 * Creates the queue that sends small files together in few calls. Files that are added while a call
 * is being sent go with the next call.
 */
export function createDepositBatchQueue(sendBatch: SendBatch) {
  const waiting = new Set<WaitingFile>()
  let calls = 0

  /**
   * Queues a file to be sent in one call with other files. Returns the result of the file. Rejects
   * if the file is refused or the whole call fails. Rejects with `Error('terminated')` if `signal`
   * is aborted before the call has been sent.
   */
  function send(
    item: z.input<typeof BatchItem>,
    bytes: Blob,
    options: FileOptions
  ): Promise<AcceptedFileResult> {
    return new Promise((resolve, reject) => {
      const file = { item, bytes, ...options, resolve, reject }
      options.signal.addEventListener('abort', () => takeBack(file), { once: true })
      waiting.add(file)
      if (options.signal.aborted) takeBack(file)
      else startCalls()
    })
  }

  function takeBack(file: WaitingFile): void {
    if (waiting.delete(file)) file.reject(new Error('terminated'))
  }

  function startCalls(): void {
    while (calls < maxCalls && waiting.size > 0) {
      const files = nextFiles()
      if (calls > 0 && files.length === waiting.size && files.length < maxFilesPerDepositBatch)
        return
      for (const file of files) waiting.delete(file)
      calls += 1
      void call(files).finally(() => {
        calls -= 1
        startCalls()
      })
    }
  }

  function nextFiles(): WaitingFile[] {
    const files: WaitingFile[] = []
    let bytes = 0
    for (const file of waiting) {
      bytes += file.bytes.size
      if (files.length === maxFilesPerDepositBatch || (files.length > 0 && bytes > callBytes)) break
      files.push(file)
    }
    return files
  }

  async function call(files: readonly WaitingFile[]): Promise<void> {
    const stop = new AbortController()
    let isSent = false
    // the server keeps nothing of a body that breaks off
    const stopUnlessSent = () => {
      if (!isSent) stop.abort()
    }
    for (const { signal, onStart } of files) {
      signal.addEventListener('abort', stopUnlessSent)
      onStart()
    }
    const onProgress = (share: number) => {
      if (isSent || stop.signal.aborted) return
      showProgress(files, share)
      isSent = share === 1
      if (isSent) for (const { onSent } of files) onSent()
    }
    try {
      const results = await sendBatch(files, { onProgress, signal: stop.signal })
      settle(files, results)
    } catch (error) {
      if (stop.signal.aborted) sendAgain(files)
      else for (const { reject } of files) reject(error)
    } finally {
      for (const { signal } of files) signal.removeEventListener('abort', stopUnlessSent)
    }
  }

  /** Puts the files back at the start of the queue, except those that were paused or cancelled. */
  function sendAgain(files: readonly WaitingFile[]): void {
    const later = [...waiting]
    waiting.clear()
    for (const file of [...files, ...later]) waiting.add(file)
    for (const file of files) if (file.signal.aborted) takeBack(file)
  }

  return { send }
}

/**
 * Tells each file how many of its bytes have been sent. `share` is the fraction of the body that
 * has been sent. The body contains the files one after the other.
 */
function showProgress(files: readonly WaitingFile[], share: number): void {
  let left = share * files.reduce((sum, { bytes }) => sum + bytes.size, 0)
  for (const { bytes, onProgress } of files) {
    if (left <= 0) return
    onProgress(Math.min(left, bytes.size))
    left -= bytes.size
  }
}

/**
 * Reports the result of each file. Calls `onResult` for all accepted files before it resolves or
 * rejects any promise. The reason is that a refused file can pause other files: a reached limit can
 * pause all files of the category that have not been reported as accepted.
 */
function settle(files: readonly WaitingFile[], results: readonly BatchItemResult[]): void {
  const accepted = files.map(({ onResult }, at) => {
    const result = results[at]
    if (!result || 'problem' in result) return undefined
    onResult(result)
    return result
  })
  for (const [at, { resolve, reject }] of files.entries()) {
    const [result, own] = [results[at], accepted[at]]
    if (own) resolve(own)
    else if (result && 'problem' in result) {
      const { status, retry_after } = result.problem
      reject(errorFromProblem(status, result.problem, retry_after))
    } else reject(new AppError('unexpected_answer', 'The batch answered fewer results than files'))
  }
}
