import { attachmentHeader } from '../../../core/http/content-disposition.ts'
import { isSignedIn } from '../../domain/sessions/authentication.ts'
import { type ApiContext, person } from './context.ts'

/**
 * How the check between two texts gets its connection: as a long read, like the texts themselves, so
 * that many downloads take no connection from short calls.
 */
const checkOptions = { isHeavy: true, waitMs: 120_000 }

/**
 * Returns a response that downloads the texts of a CSV file. The name of the file is `name` with
 * today's date. Throws the error with which reading the first text fails. The download breaks off
 * when the person's session ends or when the person loses one of `permissions`.
 */
export async function csvDownload(
  c: ApiContext,
  name: string,
  texts: AsyncGenerator<string, void, void>,
  permissions: readonly string[] = []
): Promise<Response> {
  const deps = c.get('deps')
  const first = await texts.next() // errors up to here still get a status
  const day = deps.clock().toISOString().slice(0, 10)
  const isWelcome = () => isSignedIn(deps, person(c), permissions, checkOptions)
  return new Response(bytesOf(texts, first, isWelcome), {
    headers: {
      'content-type': 'text/csv; charset=utf-8; header=present',
      'content-disposition': attachmentHeader(`${name}-${day}.csv`),
      'cache-control': 'no-store'
    }
  })
}

/**
 * Returns the texts of a CSV file as a stream of bytes. `first` is the first text, which has
 * already been read. Reads the next text only when the client is ready for it, so a slow client
 * uses no memory. Calls `isWelcome` before each text after the first; if it returns false, the
 * stream fails and the download breaks off.
 */
function bytesOf(
  texts: AsyncGenerator<string, void, void>,
  first: IteratorResult<string, void>,
  isWelcome: () => Promise<boolean>
): ReadableStream<Uint8Array> {
  const utf8 = new TextEncoder()
  let next: IteratorResult<string, void> | undefined = first
  return new ReadableStream(
    {
      async pull(controller) {
        if (!next && !(await isWelcome())) {
          await texts.return()
          throw new Error('the session has ended, or a permission was taken away')
        }
        const text = next ?? (await texts.next())
        next = undefined
        if (text.done) controller.close()
        else controller.enqueue(utf8.encode(text.value))
      },
      async cancel() {
        await texts.return()
      }
    },
    { highWaterMark: 0 }
  )
}
