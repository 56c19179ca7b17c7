import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { AppError } from '../../contract/kit/errors.ts'
import { interruptedRequestError } from '../api/kit/refused-fields.ts'

interface WriteOptions {
  path: string
  offset: number
  /** Final size of the file. A body that would exceed it is refused. */
  size: number
  stopped?: AbortSignal
  /** Awaited before each piece is processed. */
  takeTurn: () => Promise<void>
  onBytes?: (bytes: Buffer) => void
  onWritten?: (offset: number) => void
}

/**
 * Returns the position after the last byte. Throws when the connection breaks, the body is too long
 * or `stopped` is aborted.
 */
export async function writeBody(request: IncomingMessage, options: WriteOptions): Promise<number> {
  const { path, size, onBytes, onWritten } = options
  let { offset } = options
  await using file = await open(path, constants.O_WRONLY | constants.O_CREAT, 0o600)
  for await (const bytes of readBody(request, options)) {
    if (offset + bytes.length > size) {
      throw new AppError('too_large', `The upload was announced with ${size} bytes`)
    }
    const writing = writeAll(file, bytes, offset)
    // hashing runs while the disk writes
    onBytes?.(bytes)
    await writing
    offset += bytes.length
    onWritten?.(offset)
  }
  return offset
}

/** The connection stays open when the loop ends early, so that a response can be sent. */
export async function* readBody(
  request: IncomingMessage,
  { stopped, takeTurn }: Pick<WriteOptions, 'stopped' | 'takeTurn'>
): AsyncGenerator<Buffer> {
  let wake = () => {}
  const onChange = () => wake()
  for (const event of changes) request.on(event, onChange)
  stopped?.addEventListener('abort', onChange)
  try {
    for (;;) {
      const bytes: Buffer | null = request.destroyed ? null : request.read()
      if (bytes !== null) {
        await takeTurn()
        yield bytes
      } else if (request.readableEnded) return
      else if (request.destroyed) throw interruptedRequestError(request.errored ?? undefined)
      else if (stopped?.aborted) throw stopped.reason
      else {
        await new Promise<void>(resolve => {
          wake = resolve
        })
      }
    }
  } finally {
    for (const event of changes) request.off(event, onChange)
    stopped?.removeEventListener('abort', onChange)
  }
}

const changes = ['readable', 'end', 'error', 'close']

// one call of `file.write` may write only some of the bytes
async function writeAll(
  file: Awaited<ReturnType<typeof open>>,
  bytes: Buffer,
  offset: number
): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, offset + done)
    done += bytesWritten
  }
}
