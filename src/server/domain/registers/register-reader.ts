import { Worker } from 'node:worker_threads'
import type { FileBatch, FileEnd, RegisterFile } from './register-file.ts'
import type { FileWorkerData, FileWorkerMessage } from './register-file-worker.ts'

const heapMegabytes = 128

/**
 * Reads the file in a thread of its own, so that other calls do not wait. The thread ends when the
 * loop does, early too.
 */
export async function* readInThread(
  path: string,
  file: RegisterFile
): AsyncGenerator<FileBatch, FileEnd> {
  const workerData: FileWorkerData = { path, file }
  const worker = new Worker(new URL('./register-file-worker.ts', import.meta.url), {
    workerData,
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytes }
  })
  const messages: FileWorkerMessage[] = []
  let failure: Error | undefined
  let wake = () => {}
  worker.on('message', (message: FileWorkerMessage) => {
    messages.push(message)
    wake()
  })
  worker.on('error', error => {
    failure = error
    wake()
  })
  worker.on('exit', () => {
    failure ??= new Error('the thread ended before the file')
    wake()
  })
  try {
    for (;;) {
      const message = messages.shift()
      if (message && 'end' in message) return message.end
      if (message) {
        yield message.batch
        worker.postMessage('next')
      } else if (failure) throw failure
      else {
        await new Promise<void>(resolve => {
          wake = resolve
        })
      }
    }
  } finally {
    await worker.terminate()
  }
}
