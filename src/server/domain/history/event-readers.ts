import { sql } from 'kysely'
import { ProcessedRequest } from '../../../contract/requests.ts'
import { inCompanyOnce } from '../../db/scope.ts'
import { createBatchLoader } from '../batch-loader.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { getSessionStatuses, type SessionStatus } from '../sessions/authentication.ts'
import type { Person } from '../sessions/sessions.ts'
import { readEventBounds } from './events.ts'

/** Events of other processes are found after this time, even when no notification arrives. */
const beatMs = 2000
const recheckMs = 30_000
const pageEvents = 500
/** Sessions read by one statement. */
const maxChecked = 1000

/** An event in the form in which all streams of its person send it. */
export interface EventText {
  seq: number
  text: string
}

/** A stream that receives events from the reader of its company. None of its methods may throw. */
export interface EventSubscriber {
  readonly person: Person
  /** Receives the person's events since the last call, up to the sequence `until`. */
  deliver(events: EventText[], until: number): void
  /** Makes the stream read events by itself up to `until`. */
  fallBehind(until: number): void
  /** Receives the current status of the session. */
  updateSession(status: SessionStatus): void
  /** Called every two seconds, and when the process stops. */
  onInterval(): void
}

/** Follows a company's events in this process. One query serves all its streams. */
export interface EventReader {
  subscribe(subscriber: EventSubscriber): void
  unsubscribe(subscriber: EventSubscriber): void
  /** Returns the oldest and newest sequence. Parallel callers share one query. */
  bounds(): Promise<{ newest: number; oldest: number }>
}

/** Returns a function that finds the reader of a company. A reader works while it has subscribers. */
export function createEventReaders(deps: Deps): (company_id: CompanyId) => EventReader {
  const readers = new Map<CompanyId, EventReader>()
  return company_id => {
    const reader = readers.get(company_id) ?? makeReader(deps, company_id)
    readers.set(company_id, reader)
    return reader
  }
}

/** State of a subscriber. */
interface SubscriberState {
  /** Number of the subscription. */
  joined: number
  checkedAt: number
}

function makeReader(deps: Deps, company_id: CompanyId): EventReader {
  const states = new Map<EventSubscriber, SubscriberState>()
  const byUser = new Map<string, Set<EventSubscriber>>()
  let joined = 0
  /** Sequence up to which events were delivered; unknown before the first page. */
  let seen: number | undefined
  let isReading = false
  let isAskedAgain = false
  let stop = () => {}
  const loadBounds = createBatchLoader(
    async (calls: undefined[]) => {
      const bounds = await readEventBounds(deps, company_id)
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
      } while (isAskedAgain && states.size > 0)
    } catch (error) {
      // the next interval reads from the same place, so nothing is lost
      deps.log.warn({ company: company_id, err: error }, 'events could not be read')
    } finally {
      isReading = false
    }
  }

  /** Delivers one page. Returns whether there is another. */
  async function readPage(): Promise<boolean> {
    const isFirst = seen === undefined
    const users = isFirst ? [] : [...byUser.keys()]
    const joinedBefore = joined
    const page = await readCompanyEvents(deps, {
      company_id,
      user_ids: users,
      after: seen ?? 0,
      limit: pageEvents
    })
    seen = page.seen
    for (const [subscriber, state] of states) {
      // a stream that joined while the page was read may have missed its events
      if (isFirst || state.joined > joinedBefore) subscriber.fallBehind(page.seen)
      else subscriber.deliver(page.events.get(subscriber.person.id) ?? none, page.seen)
    }
    return page.isFull
  }

  async function check(subscribers: EventSubscriber[]): Promise<void> {
    for (let from = 0; from < subscribers.length; from += maxChecked) {
      const some = subscribers.slice(from, from + maxChecked)
      try {
        await checkTogether(some)
      } catch (error) {
        // try them again at the next interval
        for (const subscriber of some) Object.assign(states.get(subscriber) ?? {}, { checkedAt: 0 })
        deps.log.warn({ company: company_id, err: error }, 'sessions could not be looked up')
      }
    }
  }

  async function checkTogether(subscribers: EventSubscriber[]): Promise<void> {
    const now = deps.clock().getTime()
    for (const subscriber of subscribers)
      Object.assign(states.get(subscriber) ?? {}, { checkedAt: now })
    const people = subscribers.map(({ person }) => person)
    const statuses = await getSessionStatuses(deps, company_id, people)
    for (const subscriber of subscribers)
      subscriber.updateSession(statuses.get(subscriber.person) ?? 'ended')
  }

  function beatAll(): void {
    for (const subscriber of states.keys()) subscriber.onInterval()
  }

  function start(): () => void {
    const { events, missed, sessions } = deps.signals
    const offs = [
      events.on(key => {
        if (key.company === company_id && byUser.has(key.user)) void read()
      }),
      sessions.on(key => {
        const subscribers = key.company === company_id && byUser.get(key.user)
        if (subscribers) void check([...subscribers])
      }),
      missed.on(() => {
        void read()
        void check([...states.keys()])
      })
    ]
    const beat = setInterval(() => {
      void read()
      const due = deps.clock().getTime() - recheckMs
      void check(
        [...states].filter(([, at]) => at.checkedAt <= due).map(([subscriber]) => subscriber)
      )
      beatAll()
    }, beatMs)
    deps.stopping.addEventListener('abort', beatAll)
    return () => {
      for (const off of offs) off()
      clearInterval(beat)
      deps.stopping.removeEventListener('abort', beatAll)
      // events are not read while nobody subscribes
      seen = undefined
    }
  }

  return {
    subscribe(subscriber) {
      if (states.size === 0) stop = start()
      states.set(subscriber, { joined: ++joined, checkedAt: deps.clock().getTime() })
      const { id } = subscriber.person
      byUser.set(id, (byUser.get(id) ?? new Set()).add(subscriber))
      if (seen === undefined) void read()
    },
    unsubscribe(subscriber) {
      if (!states.delete(subscriber)) return
      const { id } = subscriber.person
      const streams = byUser.get(id)
      streams?.delete(subscriber)
      if (streams?.size === 0) byUser.delete(id)
      if (states.size === 0) stop()
    },
    bounds: async () => {
      const [bounds] = await loadBounds([undefined])
      if (!bounds) throw new Error('a call got no bounds')
      return bounds
    }
  }
}

const none: EventText[] = []

/** Returns an event in the form that is sent to all streams. */
export function formatEvent(request: ProcessedRequest): EventText {
  return {
    seq: request.seq,
    text: `id: ${request.seq}\ndata: ${JSON.stringify(request)}\n\n`
  }
}

/** Returns a page of events of several people after `seq`; `seen` as in `readEvents`. */
async function readCompanyEvents(
  deps: Pick<Deps, 'db'>,
  input: { company_id: CompanyId; user_ids: string[]; after: number; limit: number }
): Promise<{ events: Map<string, EventText[]>; seen: number; isFull: boolean }> {
  // one statement sees a consistent head and its events
  const rows = await inCompanyOnce(deps.db, input.company_id, tx =>
    tx
      .selectFrom('log_head')
      .leftJoin('event', join =>
        join
          .onRef('event.company_id', '=', 'log_head.company_id')
          .on('event.user_id', '=', sql<string>`any(${input.user_ids}::uuid[])`)
          .on('event.seq', '>', input.after)
      )
      .where('log_head.company_id', '=', input.company_id)
      .select(['log_head.event_seq', 'event.seq', 'event.user_id', 'event.payload'])
      .orderBy('event.seq')
      .limit(input.limit)
      .execute()
  )
  const events = new Map<string, EventText[]>()
  for (const { user_id, payload } of rows) {
    if (user_id === null) continue // nothing has happened since
    const text = formatEvent(ProcessedRequest.parse(payload))
    const known = events.get(user_id)
    if (known) known.push(text)
    else events.set(user_id, [text])
  }
  const [first] = rows
  if (!first) throw new Error(`company ${input.company_id} has no log head`)
  const isFull = rows.length === input.limit
  return { events, seen: (isFull && rows.at(-1)?.seq) || first.event_seq, isFull }
}
