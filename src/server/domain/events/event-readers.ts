import { sql } from 'kysely'
import { type LogProgress, ProcessedRequest } from '../../../contract/requests.ts'
import { selectInCompany } from '../../db/company-queries.ts'
import { inCompany } from '../../db/scope.ts'
import { createBatchLoader } from '../batch-loader.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { readLogProgress } from '../evidence/seals.ts'
import type { AuthenticatedCaller } from '../sessions/sessions.ts'
import { readEventSequenceBounds } from './events.ts'

// a reader reads this often even if no signal arrives
const beatMs = 2000
const pageEvents = 500

export interface FormattedEvent {
  seq: number
  text: string
}

// None of its methods may throw.
export interface EventSubscriber {
  readonly person: AuthenticatedCaller
  /**
   * Hands over the person's events after the `until` of the previous call of `deliver` or
   * `readFromDatabase`, up to this one. `events` may be empty.
   */
  deliver(events: FormattedEvent[], until: number): void
  /** Called when the reader cannot deliver the events up to `until` itself. */
  readFromDatabase(until: number): void
  /** Called with an event that replaces the previous one: how far the company's log is signed. */
  tellSealed(text: string): void
  /** Called every two seconds and when the process stops, so that the stream can tick or end. */
  onInterval(): void
}

export interface CompanyEventReader {
  subscribe(subscriber: EventSubscriber): void
  unsubscribe(subscriber: EventSubscriber): void
  /** Sequence numbers; the newest event may have been deleted. Parallel callers share one query. */
  bounds(): Promise<{ newest: number; oldest: number }>
}

// A reader reads only while it has subscribers, with one query for all streams of a company.
export function createEventReaders(deps: Deps): (company_id: CompanyId) => CompanyEventReader {
  const readers = new Map<CompanyId, CompanyEventReader>()
  return company_id => {
    const reader = readers.get(company_id) ?? makeReader(deps, company_id)
    readers.set(company_id, reader)
    return reader
  }
}

function makeReader(deps: Deps, company_id: CompanyId): CompanyEventReader {
  // by the number of each subscription, from which `readPage` sees who subscribed while it was
  // reading
  const subscribers = new Map<EventSubscriber, number>()
  const byUser = new Map<string, Set<EventSubscriber>>()
  let joined = 0
  let seen: number | undefined
  let isReading = false
  let isAskedAgain = false
  let sealed: string | undefined
  let isSealDue = false
  let stop = () => {}
  const loadBounds = createBatchLoader(
    async (calls: undefined[]) => {
      const bounds = await readEventSequenceBounds(deps, company_id)
      return calls.map(() => bounds)
    },
    { maxItems: Number.POSITIVE_INFINITY, slowMs: 50, maxAtOnce: 2 }
  )

  async function read(): Promise<void> {
    if (isReading) {
      isAskedAgain = true
      return
    }
    isReading = true
    try {
      do {
        isAskedAgain = false
        while (await readPage());
        if (isSealDue) await readSealed()
      } while (isAskedAgain && subscribers.size > 0)
    } catch (error) {
      // the next interval continues from the same sequence number, so nothing is lost
      deps.log.warn({ company: company_id, err: error }, 'events could not be read')
    } finally {
      isReading = false
    }
  }

  async function readPage(): Promise<boolean> {
    const isFirst = seen === undefined
    const user_ids = isFirst ? [] : [...byUser.keys()]
    const joinedBefore = joined
    const page = await readEvents(deps, { company_id, user_ids, after: seen ?? 0 })
    seen = page.seen
    for (const [subscriber, number] of subscribers) {
      // a stream that subscribed while the page was being read may have missed its events
      if (isFirst || number > joinedBefore) subscriber.readFromDatabase(page.seen)
      else subscriber.deliver(page.events.get(subscriber.person.id) ?? noEvents, page.seen)
    }
    return page.isFull
  }

  async function readSealed(): Promise<void> {
    isSealDue = false
    const progress = await inCompany(deps.db, company_id, readLogProgress)
    const text = progress && formatProgress(progress)
    if (text === undefined || text === sealed) return
    sealed = text
    for (const subscriber of subscribers.keys()) subscriber.tellSealed(text)
  }

  function readAll(): void {
    isSealDue = true
    void read()
  }

  function beatAll(): void {
    for (const subscriber of subscribers.keys()) subscriber.onInterval()
  }

  function start(): () => void {
    const { events, seals, missed } = deps.signals
    const offs = [
      events.on(key => {
        if (key.company === company_id && byUser.has(key.user)) void read()
      }),
      seals.on(company => {
        if (company === company_id) readAll()
      }),
      missed.on(readAll)
    ]
    const beat = setInterval(() => {
      readAll()
      beatAll()
    }, beatMs)
    deps.stopping.addEventListener('abort', beatAll)
    return () => {
      for (const off of offs) off()
      clearInterval(beat)
      deps.stopping.removeEventListener('abort', beatAll)
      // no events are read while nobody subscribes, so the next subscriber starts anew
      seen = undefined
      sealed = undefined
    }
  }

  return {
    subscribe(subscriber) {
      if (subscribers.size === 0) stop = start()
      subscribers.set(subscriber, ++joined)
      const { id } = subscriber.person
      byUser.set(id, (byUser.get(id) ?? new Set()).add(subscriber))
      if (seen === undefined) readAll()
      if (sealed !== undefined) subscriber.tellSealed(sealed)
    },
    unsubscribe(subscriber) {
      if (!subscribers.delete(subscriber)) return
      const { id } = subscriber.person
      const streams = byUser.get(id)
      streams?.delete(subscriber)
      if (streams?.size === 0) byUser.delete(id)
      if (subscribers.size === 0) stop()
    },
    bounds: async () => {
      const [bounds] = await loadBounds([undefined])
      if (!bounds) throw new Error('a call got no bounds')
      return bounds
    }
  }
}

export const noEvents: FormattedEvent[] = []

function formatEvent(request: ProcessedRequest): FormattedEvent {
  const { seq } = request
  return { seq, text: `id: ${seq}\ndata: ${JSON.stringify(request)}\n\n` }
}

function formatProgress(progress: LogProgress): string {
  return `event: sealed\ndata: ${JSON.stringify(progress)}\n\n`
}

// `seen` is the sequence number up to which the company's events were searched
export async function readEvents(
  deps: Pick<Deps, 'db'>,
  input: { company_id: CompanyId; user_ids: string[]; after: number }
): Promise<{ events: Map<string, FormattedEvent[]>; seen: number; isFull: boolean }> {
  const { user_ids } = input
  // the index has the events of one person in their order, but not those of several
  const isAnyOf =
    user_ids.length === 1 ? sql<string>`${user_ids[0]}` : sql<string>`any(${user_ids}::uuid[])`
  // one statement, so that the head of the log matches the events
  const rows = await inCompany(deps.db, input.company_id, tx =>
    selectInCompany(tx, 'log_head')
      .leftJoin('event', join =>
        join
          .onRef('event.company_id', '=', 'log_head.company_id')
          .on('event.user_id', '=', isAnyOf)
          .on('event.seq', '>', input.after)
      )
      .select(['log_head.event_seq', 'event.seq', 'event.user_id', 'event.payload'])
      .orderBy('event.seq')
      .limit(pageEvents)
      .execute()
  )
  const events = new Map<string, FormattedEvent[]>()
  for (const { user_id, payload } of rows) {
    if (user_id === null) continue // a row without an event: there are no new ones
    const text = formatEvent(ProcessedRequest.parse(payload))
    const known = events.get(user_id)
    if (known) known.push(text)
    else events.set(user_id, [text])
  }
  const [first] = rows
  if (!first) throw new Error(`company ${input.company_id} has no log head`)
  const isFull = rows.length === pageEvents
  return { events, seen: (isFull && rows.at(-1)?.seq) || first.event_seq, isFull }
}
