import { attachmentHeader } from '../../../core/http-headers/content-disposition.ts'
import { hasValidSession } from '../../domain/sessions/authentication.ts'
import { type ApiContext, authenticatedCaller } from './context.ts'

/**
 * Options for the database connection that checks the session during a download. The check uses one
 * of the few connections for long reads, as does the query that reads the rows of the CSV file. So
 * downloads take no connections away from short calls.
 */
const sessionCheckConnection = { isHeavy: true, waitMs: 120_000 }

/**
 * Returns a response that downloads `chunks` as a CSV file. The name of the file is `name`,
 * followed by today's date. Throws if the first chunk cannot be read. The download breaks off when
 * the person's session ends or the person loses one of `permissions`.
 */
export async function csvDownload(
  c: ApiContext,
  name: string,
  chunks: AsyncGenerator<string, void, void>,
  permissions: readonly string[] = []
): Promise<Response> {
  const deps = c.get('deps')
  const first = await chunks.next() // errors up to here still get a status
  const day = deps.clock().toISOString().slice(0, 10)
  const isAllowed = () =>
    hasValidSession(deps, authenticatedCaller(c), permissions, sessionCheckConnection)
  return new Response(bytesOf(chunks, first, isAllowed), {
    headers: {
      'content-type': 'text/csv; charset=utf-8; header=present',
      'content-disposition': attachmentHeader(`${name}-${day}.csv`),
      'cache-control': 'no-store'
    }
  })
}

/**
 * Returns the chunks of a CSV file as a stream of bytes. `first` has already been read from
 * `chunks`. Reads a chunk only when the client is ready for it, so that chunks do not pile up in
 * memory if the client is slow. Calls `isAllowed` before it reads each further chunk. If that
 * returns false, the stream fails and the download breaks off.
 */
function bytesOf(
  chunks: AsyncGenerator<string, void, void>,
  first: IteratorResult<string, void>,
  isAllowed: () => Promise<boolean>
): ReadableStream<Uint8Array> {
  const utf8 = new TextEncoder()
  let next: IteratorResult<string, void> | undefined = first
  return new ReadableStream(
    {
      async pull(controller) {
        if (!next && !(await isAllowed())) {
          await chunks.return()
          throw new Error('the session has ended, or a permission was taken away')
        }
        const chunk = next ?? (await chunks.next())
        next = undefined
        if (chunk.done) controller.close()
        else controller.enqueue(utf8.encode(chunk.value))
      },
      async cancel() {
        await chunks.return()
      }
    },
    { highWaterMark: 0 }
  )
}
