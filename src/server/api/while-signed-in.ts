import type { Deps } from '../domain/deps.ts'
import { isSignedIn } from '../domain/sessions/authentication.ts'
import type { Person } from '../domain/sessions/sessions.ts'

const checkedBytes = 4 * 1024 * 1024
const checkedMs = 10_000

/**
 * The same bytes for as long as the person may have them: their standing is read again every 4 MiB, and
 * every 10 seconds where these take longer. An answer that breaks off ends its connection, so nobody
 * takes what came for the whole.
 */
export function whileSignedIn(
  deps: Pick<Deps, 'db' | 'clock'>,
  person: Person,
  body: ReadableStream<Uint8Array>
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  let bytes = 0
  let checkedAt = performance.now()
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await reader.read()
        if (done) return controller.close()
        bytes += value.length
        const now = performance.now()
        if (bytes >= checkedBytes || now - checkedAt >= checkedMs) {
          bytes = 0
          checkedAt = now
          // a database that is busy ends no download: it is asked again
          if (!(await isSignedIn(deps, person).catch(() => true))) {
            await reader.cancel()
            throw new Error('the session has ended')
          }
        }
        controller.enqueue(value)
      },
      cancel: reason => reader.cancel(reason)
    },
    { highWaterMark: 0 }
  )
}
