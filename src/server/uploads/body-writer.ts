import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { AppError } from '../../contract/kit/errors.ts'
import type { CallPlace } from '../api/kit/context.ts'
import { interruptedRequestError } from '../api/kit/refused-fields.ts'
import { recordUploadActivity, type Upload } from '../domain/deposits/uploads.ts'
import type { CompanyId, Deps } from '../domain/deps.ts'
import type { AuthenticatedCaller } from '../domain/sessions/sessions.ts'

// a caller counts as disconnected after a minute
const touchMs = 10_000

/** A call whose body is a file. */
export interface BodyCall {
  request: IncomingMessage
  response: ServerResponse
  company_id: CompanyId
  person: AuthenticatedCaller
  place: CallPlace
}

/** Returns how many bytes the file has. */
export function requirePlainBody({ headers }: IncomingMessage): number {
  if (headers['content-encoding'] !== undefined) {
    throw new AppError('unsupported_media_type', 'The body must be the plain bytes of the file')
  }
  const length = headers['content-length']
  if (length === undefined) {
    throw new AppError('length_required', 'Content-Length must say how many bytes will come')
  }
  return Number(length)
}

/** Records again and again that the upload goes on, or a repeated call would take it for dead. */
export async function keepAlive<T>(
  deps: Pick<Deps, 'db' | 'clock' | 'log'>,
  upload: Upload,
  run: () => Promise<T>
): Promise<T> {
  const touching = setInterval(() => {
    recordUploadActivity(deps, upload).catch((error: unknown) => {
      const facts = { company: upload.company_id, upload: upload.id, err: error }
      deps.log.warn(facts, 'the progress of an upload was not recorded')
    })
  }, touchMs)
  try {
    return await run()
  } finally {
    clearInterval(touching)
  }
}

/** Writes the body to the file of the upload, which is perhaps not flushed then. */
export async function storeBody(
  { blobs }: Pick<Deps, 'blobs'>,
  { request, response, place }: BodyCall,
  upload: Upload,
  onBytes?: (bytes: Buffer) => void
): Promise<void> {
  await blobs.prepareStaging(upload.company_id)
  askForBody(request, response)
  const end = await writeBody(request, {
    path: blobs.stagingFile(upload),
    offset: 0,
    size: upload.size,
    takeTurn: place.takeTurn,
    ...(onBytes && { onBytes })
  })
  if (end !== upload.size) throw new Error('the body has another length than it said')
}

/** Reads a body that is not stored. */
export async function readWholeBody(
  { request, response, place }: BodyCall,
  onBytes: (bytes: Buffer) => void
): Promise<void> {
  askForBody(request, response)
  await place.outside(async () => {
    for await (const bytes of readBody(request, place)) onBytes(bytes)
  })
}

function askForBody({ headers }: IncomingMessage, response: ServerResponse): void {
  if (headers.expect?.toLowerCase() === '100-continue') response.writeContinue()
}

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
async function* readBody(
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
