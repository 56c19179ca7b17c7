import type { AppError } from '../../../contract/kit/errors.ts'
import type { ApiContext } from './context.ts'

/**
 * Fails when the caller loses the right to the call. That closes the connection, so that the client
 * does not take a partial file for a complete one.
 */
export function streamWhileAllowed(
  c: ApiContext,
  body: ReadableStream<Uint8Array>
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  let stop: (() => void) | undefined
  return new ReadableStream(
    {
      async pull(controller) {
        // not before somebody reads, because only a reader can end the watch
        stop ??= watch(c, reason => {
          controller.error(reason)
          reader.cancel(reason).catch(() => undefined)
        })
        const { done, value } = await reader.read().catch(error => {
          stop?.()
          throw error
        })
        if (done) {
          stop()
          controller.close()
        } else controller.enqueue(value)
      },
      cancel(reason) {
        stop?.()
        return reader.cancel(reason)
      }
    },
    { highWaterMark: 0 }
  )
}

/** Throws as soon as the caller loses the right to the call. */
export async function doWhileAllowed<Result>(
  c: ApiContext,
  work: Promise<Result>
): Promise<Result> {
  const { promise: ended, reject } = Promise.withResolvers<never>()
  const stop = watch(c, reject)
  try {
    return await Promise.race([work, ended])
  } finally {
    stop()
  }
}

function watch(c: ApiContext, onEnd: (reason: AppError) => void): () => void {
  const person = c.get('person')
  if (!person) return () => undefined // a stranger has no right to lose
  const { host } = c.get('tenant')
  return c
    .get('deps')
    .callers.watch({ person, host, permissions: c.get('neededPermissions') }, onEnd)
}
