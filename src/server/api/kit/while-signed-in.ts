import type { Deps } from '../../domain/deps.ts'
import { hasValidSession } from '../../domain/sessions/authentication.ts'
import type { AuthenticatedCaller } from '../../domain/sessions/sessions.ts'

const bytesPerCheck = 4 * 1024 * 1024
const msPerCheck = 10_000

/**
 * Returns a stream of the bytes of `body`. The stream fails when the person's session ends. The
 * failure closes the connection, so that the client does not take a partial file for a complete
 * one. Checks the session every 4 MiB, and at the first chunk after 10 seconds without a check.
 */
export function streamWhileSignedIn(
  deps: Pick<Deps, 'db' | 'clock'>,
  person: AuthenticatedCaller,
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
        if (bytes >= bytesPerCheck || now - checkedAt >= msPerCheck) {
          bytes = 0
          checkedAt = now
          // while the database is busy the download continues; the next check decides
          if (!(await hasValidSession(deps, person).catch(() => true))) {
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
