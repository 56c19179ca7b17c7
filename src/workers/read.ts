import { createBufferFiller, type FilledBuffer } from './buffer-filler.ts'

/** First the file, then one buffer after the other, which the worker fills with the next bytes. */
export type ReadWorkerRequest = { file: Blob } | { buffer: ArrayBuffer }

/** `ready`: the worker has been loaded. */
export type ReadWorkerReply =
  | { kind: 'ready' }
  | ({ kind: 'filled' } & FilledBuffer)
  | { kind: 'failed'; detail: string }

let fill: ReturnType<typeof createBufferFiller> | undefined
let turn = Promise.resolve()

addEventListener('message', ({ data }: MessageEvent<ReadWorkerRequest>) => {
  if ('file' in data) fill = createBufferFiller(data.file)
  else turn = turn.then(() => serve(data.buffer))
})

async function serve(empty: ArrayBuffer): Promise<void> {
  try {
    if (!fill) throw new Error('read: no file')
    const filled = await fill(empty)
    reply({ kind: 'filled', ...filled }, [filled.buffer])
  } catch (error) {
    reply({ kind: 'failed', detail: String(error) })
  }
}

function reply(message: ReadWorkerReply, transfer: Transferable[] = []): void {
  postMessage(message, { transfer })
}

reply({ kind: 'ready' })
