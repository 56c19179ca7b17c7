import { fingerprint } from './fingerprint.ts'
import type { HashAnswer } from './hash-client.ts'

const progressMilliseconds = 100

/** One file at a time: the client sends the next one after the answer. */
addEventListener('message', (event: MessageEvent<Blob>) => {
  void run(event.data).then(answer)
})

async function run(file: Blob): Promise<HashAnswer> {
  let told = performance.now()
  try {
    const sha256 = await fingerprint(file, bytesDone => {
      const now = performance.now()
      if (now - told < progressMilliseconds) return
      told = now
      answer({ kind: 'progress', bytesDone })
    })
    return { kind: 'done', sha256 }
  } catch (error) {
    return { kind: 'failed', detail: String(error) }
  }
}

function answer(message: HashAnswer): void {
  postMessage(message)
}
