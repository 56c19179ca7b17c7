import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { AppError } from '../../contract/errors.ts'
import { refusedField } from '../api/refused-fields.ts'

interface WriteOptions {
  path: string
  /** Position of the first byte. */
  offset: number
  /** Final size of the file. A longer body is refused. */
  size: number
  /** Aborted when the call must end. */
  stopped?: AbortSignal
  /** Called with each chunk as it arrives. */
  onBytes?: (bytes: Buffer) => void
  /** Called after each written chunk with the offset of its end. */
  onWritten?: (offset: number) => void
}

/**
 * Writes the body of a request into a file, which is closed when this returns. Returns the offset
 * of the end. Throws when the body breaks off or is too long, or when the call has to end.
 */
export async function writeBody(request: IncomingMessage, options: WriteOptions): Promise<number> {
  const { path, size, stopped, onBytes, onWritten } = options
  let { offset } = options
  await using file = await open(path, constants.O_WRONLY | constants.O_CREAT, 0o600)
  for await (const bytes of readBody(request, stopped)) {
    if (offset + bytes.length > size) {
      throw new AppError('too_large', `The upload was announced with ${size} bytes`)
    }
    const writing = writeAll(file, bytes, offset)
    // hashes the chunk while the disk writes
    onBytes?.(bytes)
    await writing
    offset += bytes.length
    onWritten?.(offset)
  }
  return offset
}

/**
 * Yields the body as it comes. The connection stays open when the caller stops reading, so that it can
 * be answered. Throws the reason of `stopped` once that is aborted and nothing is left to read.
 */
export async function* readBody(
  request: IncomingMessage,
  stopped?: AbortSignal
): AsyncGenerator<Buffer> {
  let wake = () => {}
  const onChange = () => wake()
  for (const event of changes) request.on(event, onChange)
  stopped?.addEventListener('abort', onChange)
  try {
    for (;;) {
      const bytes: Buffer | null = request.destroyed ? null : request.read()
      if (bytes !== null) yield bytes
      else if (request.readableEnded) return
      else if (request.destroyed) throw interruptedError(request.errored ?? undefined)
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

/** Returns the error of a broken connection. Nobody reads it; it only must not count as a server failure. */
export function interruptedError(cause?: unknown): AppError {
  return refusedField('(body)', { rule: 'format', detail: 'whole: this one broke off' }, cause)
}

/** Writes all bytes. A single write may take fewer than it is given. */
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
