import { fingerprintFile } from './fingerprint.ts'
import type { WorkerReply } from './pool.ts'
import { createPieceReader } from './read-client.ts'

const progressMilliseconds = 100
const read = createPieceReader()

export type FileHashResult = { digest: string } | { detail: string }

// the pool sends the next files after the answer
addEventListener('message', (event: MessageEvent<readonly Blob[]>) => {
  const [file, ...others] = event.data
  if (!file) return
  const hashing =
    others.length === 0
      ? [hash(file, createProgressReporter())]
      : event.data.map(each => hash(each))
  void Promise.all(hashing).then(result => answer({ kind: 'done', result }))
})

async function hash(file: Blob, onProgress?: (bytesDone: number) => void): Promise<FileHashResult> {
  try {
    return { digest: await fingerprintFile(file, { read, ...(onProgress && { onProgress }) }) }
  } catch (error) {
    return { detail: String(error) }
  }
}

// at most ten times a second
function createProgressReporter(): (bytesDone: number) => void {
  let told = performance.now()
  return bytesDone => {
    const now = performance.now()
    if (now - told < progressMilliseconds) return
    told = now
    answer({ kind: 'progress', bytesDone })
  }
}

function answer(message: WorkerReply<readonly FileHashResult[]>): void {
  postMessage(message)
}
