import type * as z from 'zod/mini'
import type { BatchItem } from '../../contract/deposits.ts'
import { AppError } from '../../contract/kit/errors.ts'
import { maxDepositBatchBodyBytes, maxFilesPerDepositBatch } from '../../contract/kit/limits.ts'
import { errorFromProblem } from '../../contract/kit/problems.ts'
import type { BatchItemResult, SendBatch } from './batch-client.ts'

/** 512 KiB below the server's limit, because the list of items and the form also count. */
const callBytes = maxDepositBatchBodyBytes - 512 * 1024
/** While one call runs, a second one starts only if it is full. This keeps the number low. */
const maxCalls = 2

export type AcceptedFileResult = Exclude<BatchItemResult, { problem: unknown }>

interface WaitingFile {
  item: z.input<typeof BatchItem>
  bytes: Blob
  /** Aborted when the file is paused or cancelled. A call that has been sent completely goes on. */
  signal: AbortSignal
  onStart: () => void
  onProgress: (bytesSent: number) => void
  onSent: () => void
  // accepted files come before refused ones, because a refusal may pause those not accepted yet
  onResult: (result: AcceptedFileResult) => void
  resolve: (result: AcceptedFileResult) => void
  reject: (error: unknown) => void
}

/** Files that are added while a call is being sent go with the next call. */
export function createDepositBatchQueue(sendBatch: SendBatch) {
  let waiting: WaitingFile[] = []
  let calls = 0

  function takeBack(file: WaitingFile): void {
    if (!waiting.includes(file)) return
    waiting = waiting.filter(each => each !== file)
    file.reject(new Error('terminated'))
  }

  function startCalls(): void {
    while (calls < maxCalls && waiting.length > 0) {
      const files = waiting.slice(0, countForOneCall(waiting))
      const isLast = files.length === waiting.length
      if (calls > 0 && isLast && files.length < maxFilesPerDepositBatch) return
      waiting = waiting.slice(files.length)
      calls += 1
      void call(files).finally(() => {
        calls -= 1
        startCalls()
      })
    }
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
      settle(files, await sendBatch(files, { onProgress, signal: stop.signal }))
    } catch (error) {
      if (!stop.signal.aborted) for (const { reject } of files) reject(error)
      else {
        waiting = [...files, ...waiting]
        for (const file of files) if (file.signal.aborted) takeBack(file)
      }
    } finally {
      for (const { signal } of files) signal.removeEventListener('abort', stopUnlessSent)
    }
  }

  return {
    /** Rejects with `Error('terminated')` if `signal` is aborted before the call has been sent. */
    send(
      item: WaitingFile['item'],
      bytes: Blob,
      options: Omit<WaitingFile, 'item' | 'bytes' | 'resolve' | 'reject'>
    ): Promise<AcceptedFileResult> {
      return new Promise((resolve, reject) => {
        const file = { item, bytes, ...options, resolve, reject }
        options.signal.addEventListener('abort', () => takeBack(file), { once: true })
        waiting.push(file)
        if (options.signal.aborted) takeBack(file)
        else startCalls()
      })
    }
  }
}

function countForOneCall(waiting: readonly WaitingFile[]): number {
  let bytes = 0
  const beyond = waiting.findIndex((file, at) => {
    bytes += file.bytes.size
    return at === maxFilesPerDepositBatch || (at > 0 && bytes > callBytes)
  })
  return beyond === -1 ? waiting.length : beyond
}

function showProgress(files: readonly WaitingFile[], share: number): void {
  // the body contains the files one after the other
  let left = share * files.reduce((sum, { bytes }) => sum + bytes.size, 0)
  for (const { bytes, onProgress } of files) {
    if (left <= 0) return
    onProgress(Math.min(left, bytes.size))
    left -= bytes.size
  }
}

function settle(files: readonly WaitingFile[], results: readonly BatchItemResult[]): void {
  for (const [at, { onResult, resolve }] of files.entries()) {
    const result = results[at]
    if (!result || 'problem' in result) continue
    onResult(result)
    resolve(result)
  }
  for (const [at, { reject }] of files.entries()) {
    const result = results[at]
    if (!result) reject(new AppError('unexpected_answer', 'The batch has fewer results than files'))
    else if ('problem' in result) {
      const { status, retry_after } = result.problem
      reject(errorFromProblem(status, result.problem, retry_after))
    }
  }
}
