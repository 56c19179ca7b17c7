import { AppError } from '../../contract/errors.ts'
import {
  exportRequests,
  getRequest,
  listRequests,
  streamRequests
} from '../../contract/requests.ts'
import { attachment } from '../../core/file-name.ts'
import { type StreamItem, watchEvents } from '../domain/event-streams.ts'
import * as requests from '../domain/requests.ts'
import { type Api, companyOf, person } from './context.ts'
import { on, onStream } from './on.ts'

export function mountRequests(app: Api): void {
  on(app, listRequests, (input, c) =>
    requests.listRequests(c.get('deps'), {
      ...input,
      company_id: companyOf(c),
      user_id: person(c).id
    })
  )

  // these two before /process/{id}, which would take 'export' and 'sse' for ids
  onStream(app, exportRequests, async ({ locale, ...filter }, c) => {
    const deps = c.get('deps')
    const owner = { company_id: companyOf(c), user_id: person(c).id }
    const texts = requests.exportRequests(deps, { locale: locale ?? 'en', ...filter, ...owner })
    const first = await texts.next() // a refusal is still an answer with a status
    const day = deps.clock().toISOString().slice(0, 10)
    return new Response(
      bytesOf(texts, first, text => text),
      {
        headers: {
          'content-type': 'text/csv; charset=utf-8; header=present',
          'content-disposition': attachment(`history-${day}.csv`),
          'cache-control': 'no-store'
        }
      }
    )
  })

  onStream(app, streamRequests, async (_input, c) => {
    const closed = new AbortController()
    c.req.raw.signal.addEventListener('abort', () => closed.abort(), { once: true })
    const items = watchEvents(c.get('deps'), {
      person: person(c),
      after: sequenceOf(c.req.header('last-event-id')),
      signal: closed.signal
    })
    const first = await items.next() // a refusal is still an answer with a status
    return new Response(bytesOf(items, first, format, closed), {
      headers: {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no'
      }
    })
  })

  on(app, getRequest, ({ id }, c) =>
    requests.getRequest(c.get('deps'), { company_id: companyOf(c), user_id: person(c).id, id })
  )
}

function sequenceOf(header: string | undefined): number | undefined {
  if (header === undefined || header === '') return undefined
  if (!/^\d{1,15}$/.test(header)) {
    throw new AppError('invalid_input', 'Last-Event-ID is a sequence number', {
      fields: { 'last-event-id': { rule: 'format' } }
    })
  }
  return Number(header)
}

/** Pulled by the socket, so a reader that stalls costs no memory. */
function bytesOf<Item>(
  items: AsyncGenerator<Item, void, void>,
  first: IteratorResult<Item, void>,
  textOf: (item: Item) => string,
  closed?: AbortController
): ReadableStream<Uint8Array> {
  const utf8 = new TextEncoder()
  let next: IteratorResult<Item, void> | undefined = first
  return new ReadableStream(
    {
      async pull(controller) {
        const item = next ?? (await items.next())
        next = undefined
        if (item.done) controller.close()
        else controller.enqueue(utf8.encode(textOf(item.value)))
      },
      async cancel() {
        closed?.abort()
        await items.return()
      }
    },
    { highWaterMark: 0 }
  )
}

/** `{ type: 'tick', seq: 7 }` → `event: tick\nid: 7\ndata:\n\n` */
function format(item: StreamItem): string {
  switch (item.type) {
    case 'request':
      return `id: ${item.seq}\ndata: ${JSON.stringify(item.request)}\n\n`
    case 'tick':
    case 'reset':
      return `event: ${item.type}\nid: ${item.seq}\ndata: ${JSON.stringify({ seq: item.seq })}\n\n`
    case 'bye':
      return 'event: bye\nretry: 2000\ndata: {}\n\n'
    case 'disabled':
      return 'event: disabled\ndata: {}\n\n'
  }
}
