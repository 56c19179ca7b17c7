import {
  exportRequests,
  getRequest,
  listRequests,
  streamRequests
} from '../../contract/requests.ts'
import { attachment } from '../../core/http/content-disposition.ts'
import type { EventStream, EventStreams } from '../domain/history/event-streams.ts'
import * as requestExport from '../domain/history/request-export.ts'
import * as requests from '../domain/history/requests.ts'
import { isSignedIn } from '../domain/sessions/authentication.ts'
import { requirePermission } from './admission.ts'
import { type Api, companyIdOf, person } from './context.ts'
import { mountEndpoint, mountList, mountStream } from './mount.ts'
import { refusedField } from './refused-fields.ts'

/** Mounts the endpoints of the history, whose entries are called requests. */
export function mountRequests(app: Api, streams: EventStreams): void {
  mountList(app, listRequests, ({ scope, ...input }, c) => {
    const isWhole = scope === 'company'
    if (isWhole) requirePermission(person(c), 'admin')
    return requests.listRequests(c.get('deps'), {
      ...input,
      company_id: companyIdOf(c),
      user_id: isWhole ? 'everybody' : person(c).id,
      caller: c.get('inFlight')?.caller
    })
  })

  // registered before /process/{id}, which would also match this path
  mountStream(app, exportRequests, async ({ locale, ...filter }, c) => {
    const deps = c.get('deps')
    const { caller } = c.get('inFlight') ?? {}
    const owner = { company_id: companyIdOf(c), user_id: person(c).id, caller }
    const texts = requestExport.exportRequests(deps, {
      locale: locale ?? 'en',
      ...filter,
      ...owner
    })
    const first = await texts.next() // errors up to here still get a status
    const day = deps.clock().toISOString().slice(0, 10)
    const isWelcome = () => isSignedIn(deps, person(c))
    return new Response(bytesOf(texts, first, isWelcome), {
      headers: {
        'content-type': 'text/csv; charset=utf-8; header=present',
        'content-disposition': attachment(`history-${day}.csv`),
        'cache-control': 'no-store'
      }
    })
  })

  mountStream(app, streamRequests, async (_input, c) => {
    const stream = await streams.open({
      person: person(c),
      after: sequenceOf(c.req.header('last-event-id'))
    })
    const headers = {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no'
    }
    if (!c.env?.takeStream) return new Response(bodyOf(stream, c.req.raw.signal), { headers })
    c.env.takeStream(stream)
    return new Response(null, { headers })
  })

  mountEndpoint(app, getRequest, ({ id }, c) =>
    requests.getRequest(c.get('deps'), { company_id: companyIdOf(c), user_id: person(c).id, id })
  )
}

function sequenceOf(header: string | undefined): number | undefined {
  if (header === undefined || header === '') return undefined
  if (!/^\d{1,15}$/.test(header)) {
    throw refusedField('last-event-id', { rule: 'format', detail: 'a sequence number' })
  }
  return Number(header)
}

/**
 * Returns an event stream as a web stream, for a call from within the process. The event stream
 * writes only when the reader of the web stream asks for more, so a slow reader uses no memory.
 */
function bodyOf(stream: EventStream, signal: AbortSignal): ReadableStream<Uint8Array> {
  const utf8 = new TextEncoder()
  return new ReadableStream({
    start(controller) {
      signal.addEventListener('abort', () => stream.close(), { once: true })
      if (signal.aborted) stream.close()
      stream.start({
        write(text) {
          controller.enqueue(utf8.encode(text))
          return (controller.desiredSize ?? 0) > 0
        },
        end: () => controller.close()
      })
    },
    pull: () => stream.resume(),
    cancel: () => stream.close()
  })
}

/**
 * Returns the texts of a CSV as a stream of bytes, beginning with `first`, which has already been
 * read. Reads the next text only when the client is ready for it, so a slow client uses no memory.
 * Calls `isWelcome` before each text after the first. When `isWelcome` returns false, the stream
 * fails and the download breaks off.
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
          throw new Error('the session has ended')
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
