import { randomFillSync } from 'node:crypto'
import { openAsBlob } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import {
  type FileBatch,
  type FileEnd,
  type RegisterFile,
  readRegisterFile
} from './register-file.ts'

// Runs in a thread of its own. It sends two batches before it waits for the answer to the first.

export interface FileWorkerData {
  path: string
  file: RegisterFile
}

export type FileWorkerMessage = { batch: FileBatch } | { end: FileEnd }

const batchesInFlight = 2

const port = parentPort
if (!port) throw new Error('this file is a worker')
const { path, file }: FileWorkerData = workerData
let inFlight = 0
let goOn = () => {}
port.on('message', () => {
  inFlight -= 1
  goOn()
})

// one call for many random values is much faster
const pool = Buffer.alloc(64 * 1024)
let used = pool.length
function random(length: number): Uint8Array {
  if (used + length > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += length
  return Uint8Array.from(pool.subarray(used - length, used))
}

const reading = readRegisterFile(await openAsBlob(path), file, random)
for (;;) {
  const { done, value } = await reading.next()
  if (done) {
    port.postMessage({ end: value } satisfies FileWorkerMessage)
    break
  }
  const { tags, contents, hashes, sealed } = value
  inFlight += 1
  port.postMessage({ batch: value } satisfies FileWorkerMessage, [
    tags.buffer,
    contents.buffer,
    hashes.buffer,
    sealed.buffer
  ])
  while (inFlight >= batchesInFlight) {
    await new Promise<void>(resolve => {
      goOn = resolve
    })
  }
}
port.close()
