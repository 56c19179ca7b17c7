import { attachmentHeader } from '../../../core/http-headers/content-disposition.ts'
import { type ApiContext, inLongRead } from './context.ts'
import { streamWhileAllowed } from './while-allowed.ts'

// if there is no place for the next chunk by then, the download breaks off
const nextChunkMs = 120_000

/** Today's date follows `name`. Throws if the first chunk cannot be read. */
export async function csvDownload(
  c: ApiContext,
  name: string,
  chunks: AsyncGenerator<string, void, void>
): Promise<Response> {
  const deps = c.get('deps')
  const first = await inLongRead(c, () => chunks.next()) // errors up to here still get a status
  const day = deps.clock().toISOString().slice(0, 10)
  return new Response(streamWhileAllowed(c, bytesOf(c, chunks, first)), {
    headers: {
      'content-type': 'text/csv; charset=utf-8; header=present',
      'content-disposition': attachmentHeader(`${name}-${day}.csv`),
      'cache-control': 'no-store'
    }
  })
}

// reads a chunk only when the client is ready for it, so that a slow one piles up no memory
function bytesOf(
  c: ApiContext,
  chunks: AsyncGenerator<string, void, void>,
  first: IteratorResult<string, void>
): ReadableStream<Uint8Array> {
  const utf8 = new TextEncoder()
  const place = c.get('place')
  const read = () => chunks.next()
  let next: IteratorResult<string, void> | undefined = first
  return new ReadableStream(
    {
      async pull(controller) {
        const chunk = next ?? (await (place?.longRead(read, nextChunkMs) ?? read()))
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
