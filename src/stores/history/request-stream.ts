import * as z from 'zod/mini'
import { ProcessedRequest, streamRequests } from '../../contract/requests.ts'
import { type EventStreamOptions, openEventStream, StreamState } from './event-stream.ts'

/** What the tab with the stream tells the others. */
const News = z.object({
  state: StreamState,
  /** Sequence up to which the leader has seen everything, now and before these news. */
  at: z.optional(z.string()),
  before: z.optional(z.string()),
  request: z.optional(ProcessedRequest),
  /** The list has to be loaded anew. */
  reload: z.optional(z.boolean())
})
export type News = z.infer<typeof News>

/** Nothing for what a tab of another release says. */
export function readNews(message: unknown): News | undefined {
  const read = News.safeParse(message)
  return read.success ? read.data : undefined
}

interface RequestStreamOptions extends Omit<EventStreamOptions, 'url' | 'onMessage'> {
  /** Where the API is: `https://api.docs.acme.fr` */
  origin: string
  onRequest: (request: ProcessedRequest) => void
}

/** Follows the caller's requests until the answered function is called. */
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
    // A page may be a release older than the API; what it cannot read waits for the next load.
    return undefined
  }
}
