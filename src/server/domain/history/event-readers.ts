import { sql } from 'kysely'
import { ProcessedRequest } from '../../../contract/requests.ts'
import { inCompanyOnce } from '../../db/scope.ts'
import { createBatchLoader } from '../batch-loader.ts'
import type { CompanyId, Deps } from '../deps.ts'
import { getSessionStatuses, type SessionStatus } from '../sessions/authentication.ts'
import type { Person } from '../sessions/sessions.ts'
import { eventBounds } from './events.ts'

/** News of other processes show after this time even when no notification of them arrives. */
const beatMs = 2000
const recheckMs = 30_000
const pageEvents = 500
/** Sessions looked up in one statement. */
const maxChecked = 1000

/** One event as all streams of its person send it. */
export interface EventText {
  seq: number
  text: string
}

/** A stream as its company's reader sees it. None of these may throw. */
export interface EventSubscriber {
  readonly person: Person
  /** All of the person's events after the last call, up to the sequence `until`. */
  deliver(events: EventText[], until: number): void
  /** The reader has passed `until` without it: it reads for itself. */
  fallBehind(until: number): void
  /** Its session was looked up. */
  updateSession(status: SessionStatus): void
  /** Called every two seconds, and when the process stops. */
  onInterval(): void
}

/** The one reader that follows a company's events in this process: one query serves all its streams. */
export interface EventReader {
  subscribe(subscriber: EventSubscriber): void
  unsubscribe(subscriber: EventSubscriber): void
  /** Where the company's events begin and end by now; streams that open at once ask together. */
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

/** What the reader keeps of a subscriber. */
interface Place {
  /** How many had joined by then. */
  joined: number
  checkedAt: number
}

function makeReader(deps: Deps, company_id: CompanyId): EventReader {
  const places = new Map<EventSubscriber, Place>()
  const byUser = new Map<string, Set<EventSubscriber>>()
  let joined = 0
  /** Everything up to here has been handed out; unknown before the first page. */
  let seen: number | undefined
  let isReading = false
  let isAskedAgain = false
  let stop = () => {}
  const ask = createBatchLoader(
    async (asked: undefined[]) => {
      const bounds = await eventBounds(deps, company_id)
      return asked.map(() => bounds)
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
      } while (isAskedAgain && places.size > 0)
    } catch (error) {
      // the next beat reads from the same place, so nothing is lost by it
      deps.log.warn({ company: company_id, err: error }, 'events could not be read')
    } finally {
      isReading = false
    }
  }

  /** Hands out one page and answers whether there is another. */
  async function readPage(): Promise<boolean> {
    const isFirst = seen === undefined
    const users = isFirst ? [] : [...byUser.keys()]
    const asked = joined
    const page = await readCompanyEvents(deps, {
      company_id,
      user_ids: users,
      after: seen ?? 0,
      limit: pageEvents
    })
    seen = page.seen
    for (const [subscriber, place] of places) {
      // who joined while the page was read may have missed what is in it
      if (isFirst || place.joined > asked) subscriber.fallBehind(page.seen)
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
        // they are due again at the next beat
        for (const subscriber of some) Object.assign(places.get(subscriber) ?? {}, { checkedAt: 0 })
        deps.log.warn({ company: company_id, err: error }, 'sessions could not be looked up')
      }
    }
  }

  async function checkTogether(subscribers: EventSubscriber[]): Promise<void> {
    const now = deps.clock().getTime()
    for (const subscriber of subscribers)
      Object.assign(places.get(subscriber) ?? {}, { checkedAt: now })
    const people = subscribers.map(({ person }) => person)
    const statuses = await getSessionStatuses(deps, company_id, people)
    for (const subscriber of subscribers)
      subscriber.updateSession(statuses.get(subscriber.person) ?? 'ended')
  }

  function beatAll(): void {
    for (const subscriber of places.keys()) subscriber.onInterval()
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
        void check([...places.keys()])
      })
    ]
    const beat = setInterval(() => {
      void read()
      const due = deps.clock().getTime() - recheckMs
      void check(
        [...places].filter(([, at]) => at.checkedAt <= due).map(([subscriber]) => subscriber)
      )
      beatAll()
    }, beatMs)
    deps.stopping.addEventListener('abort', beatAll)
    return () => {
      for (const off of offs) off()
      clearInterval(beat)
      deps.stopping.removeEventListener('abort', beatAll)
      // what happens until somebody joins again is not read
      seen = undefined
    }
  }

  return {
    subscribe(subscriber) {
      if (places.size === 0) stop = start()
      places.set(subscriber, { joined: ++joined, checkedAt: deps.clock().getTime() })
      const { id } = subscriber.person
      byUser.set(id, (byUser.get(id) ?? new Set()).add(subscriber))
      if (seen === undefined) void read()
    },
    unsubscribe(subscriber) {
      if (!places.delete(subscriber)) return
      const { id } = subscriber.person
      const streams = byUser.get(id)
      streams?.delete(subscriber)
      if (streams?.size === 0) byUser.delete(id)
      if (places.size === 0) stop()
    },
    bounds: async () => {
      const [bounds] = await ask([undefined])
      if (!bounds) throw new Error('a question was left without its answer')
      return bounds
    }
  }
}

const none: EventText[] = []

/** The wire's form of an event, the same for all who hear it. */
export function formatEvent(request: ProcessedRequest): EventText {
  return {
    seq: request.seq,
    text: `id: ${request.seq}\ndata: ${JSON.stringify(request)}\n\n`
  }
}

/** A page of the events of several people after `seq`; `seen` as with `readEvents`. */
async function readCompanyEvents(
  deps: Pick<Deps, 'db'>,
  input: { company_id: CompanyId; user_ids: string[]; after: number; limit: number }
): Promise<{ events: Map<string, EventText[]>; seen: number; isFull: boolean }> {
  // one statement sees one state: events up to the head that it tells, and none after
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
