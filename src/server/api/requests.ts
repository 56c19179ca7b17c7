import {
  exportRequests,
  getRequest,
  listRequests,
  streamRequests
} from '../../contract/requests.ts'
import { recordHistoryReading } from '../domain/audit/audit-history-reads.ts'
import type { EventStream, EventStreams } from '../domain/events/event-streams.ts'
import * as requestExport from '../domain/history/request-export.ts'
import * as requests from '../domain/history/requests.ts'
import { machineFormat, spreadsheetFormat } from './history-formats.ts'
import { requirePermission } from './kit/admission.ts'
import {
  type Api,
  authenticatedCaller,
  hostCompanyAndCaller,
  hostCompanyId,
  inLongRead
} from './kit/context.ts'
import { csvDownload } from './kit/csv-downloads.ts'
import { mountEndpoint, mountList, mountNonJsonEndpoint } from './kit/mount.ts'
import { invalidFieldError } from './kit/refused-fields.ts'

// if there is no place for the next old events by then, the stream tries again
const oldEventsMs = 60_000

export function mountRequests(app: Api, streams: EventStreams): void {
  mountList(app, listRequests, async ({ scope, ...input }, c) => {
    const isWhole = scope === 'company'
    if (isWhole) {
      requirePermission(authenticatedCaller(c), 'admin')
      await recordHistoryReading(c.get('deps'), {
        company_id: hostCompanyId(c),
        by: authenticatedCaller(c)
      })
    }
    const read = () =>
      requests.listRequests(c.get('deps'), {
        ...input,
        company_id: hostCompanyId(c),
        user_id: isWhole ? 'everybody' : authenticatedCaller(c).id
      })
    return requests.isSearch(input) ? inLongRead(c, read) : read()
  })

  // registered before /process/{id}, which would also match this path
  mountNonJsonEndpoint(
    app,
    exportRequests,
    async ({ locale = 'en', format, time_zone = 'UTC', ...filter }, c) => {
      const texts = requestExport.exportRequests(c.get('deps'), {
        locale,
        format: format === 'spreadsheet' ? spreadsheetFormat(locale, time_zone) : machineFormat,
        ...filter,
        ...hostCompanyAndCaller(c)
      })
      return csvDownload(c, 'history', texts)
    }
  )

  mountNonJsonEndpoint(app, streamRequests, async (_input, c) => {
    // thousands of streams may be open, and `c` is large
    const place = c.get('place')
    const stream = await streams.open({
      person: authenticatedCaller(c),
      host: c.get('tenant').host,
      after: sequenceOf(c.req.header('last-event-id')),
      inLongRead: read => place?.longRead(read, oldEventsMs) ?? read()
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
    requests.getRequest(c.get('deps'), { ...hostCompanyAndCaller(c), id })
  )
}

function sequenceOf(header: string | undefined): number | undefined {
  if (header === undefined || header === '') return undefined
  if (!/^\d{1,15}$/.test(header)) {
    throw invalidFieldError('last-event-id', { rule: 'format', detail: 'a sequence number' })
  }
  return Number(header)
}

// writes only when the web stream is read, so that a slow reader uses no memory
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
