import { fingerprint } from './fingerprint.ts'
import type { WorkerAnswer } from './pool.ts'
import { createReader } from './read-client.ts'

const progressMilliseconds = 100
const read = createReader()

/** Hashes the file of each message. The page sends the next file only after the answer. */
addEventListener('message', (event: MessageEvent<Blob>) => {
  void run(event.data).then(answer)
})

async function run(file: Blob): Promise<WorkerAnswer<string>> {
  let told = performance.now()
  try {
    const onProgress = (bytesDone: number) => {
      const now = performance.now()
      if (now - told < progressMilliseconds) return
      told = now
      answer({ kind: 'progress', bytesDone })
    }
    const result = await fingerprint(file, { onProgress, read })
    return { kind: 'done', result }
  } catch (error) {
    return { kind: 'failed', detail: String(error) }
  }
}

function answer(message: WorkerAnswer<string>): void {
  postMessage(message)
}
