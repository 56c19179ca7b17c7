import * as z from 'zod/mini'
import { ProcessedRequest, streamRequests } from '../../contract/requests.ts'
import { type EventStreamOptions, openEventStream, StreamConnectionState } from './event-stream.ts'

const CrossTabHistoryMessage = z.object({
  state: StreamConnectionState,
  // `before`: the number of the previous event; a tab that has not seen it has missed events. For a
  // tab that has just joined, it equals `at`.
  at: z.optional(z.string()),
  before: z.optional(z.string()),
  request: z.optional(ProcessedRequest),
  reload: z.optional(z.boolean())
})
export type CrossTabHistoryMessage = z.infer<typeof CrossTabHistoryMessage>

// another release of the page may have sent the message
export function parseCrossTabHistoryMessage(message: unknown): CrossTabHistoryMessage | undefined {
  const read = CrossTabHistoryMessage.safeParse(message)
  return read.success ? read.data : undefined
}

interface RequestStreamOptions extends Omit<EventStreamOptions, 'url' | 'onMessage'> {
  origin: string
  onRequest: (request: ProcessedRequest) => void
}

export function openRequestStream({ origin, onRequest, ...rest }: RequestStreamOptions) {
  return openEventStream({
    ...rest,
    url: `${origin}${streamRequests.path}`,
    onMessage(data) {
      const request = parse(data)
      if (request) onRequest(request)
    }
  })
}

function parse(data: string): ProcessedRequest | undefined {
  try {
    return ProcessedRequest.parse(JSON.parse(data))
  } catch {
    // the API may be a release newer than the page; the page can read this request after a reload
    return undefined
  }
}
