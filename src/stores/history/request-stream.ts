import * as z from 'zod/mini'
import { ProcessedRequest, streamRequests } from '../../contract/requests.ts'
import { type EventStreamOptions, openEventStream, StreamState } from './event-stream.ts'

/** What the tab with the stream sends to the others. */
const News = z.object({
  state: StreamState,
  /** Sequence up to which the leading tab has seen every event, with and before this news. */
  at: z.optional(z.string()),
  before: z.optional(z.string()),
  request: z.optional(ProcessedRequest),
  /** The list has to be loaded again. */
  reload: z.optional(z.boolean())
})
export type News = z.infer<typeof News>

/** Returns undefined for a message of another release that cannot be read. */
export function readNews(message: unknown): News | undefined {
  const read = News.safeParse(message)
  return read.success ? read.data : undefined
}

interface RequestStreamOptions extends Omit<EventStreamOptions, 'url' | 'onMessage'> {
  /** Origin of the API: `https://api.docs.acme.fr` */
  origin: string
  onRequest: (request: ProcessedRequest) => void
}

/** Follows the person's requests. Returns the function that stops this. */
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
    // the API may be a release newer than the page, which reads the request after its next reload
    return undefined
  }
}
