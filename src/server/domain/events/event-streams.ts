import { AppError, type ErrorCode } from '../../../contract/kit/errors.ts'
import type { Deps, TrafficLimitSettings } from '../deps.ts'
import type { AuthenticatedCaller } from '../sessions/sessions.ts'
import {
  type CompanyEventReader,
  createEventReaders,
  type EventSubscriber,
  type FormattedEvent,
  noEvents,
  readEvents
} from './event-readers.ts'

const tickMs = 15_000
// streams check every two seconds whether a tick is due, so ticks are at most `tickMs` apart
const tickAfterMs = tickMs - 2000
// a stream with more waiting events for a slow client drops them and reads them from the database
// later
const maxHeldEvents = 64
const maxHeldChars = 256 * 1024

export interface EventSink {
  /** False if the stream must not write further events before `EventStream.resume()`. */
  write(text: string): boolean
  end(): void
}

export interface EventStream {
  /** Must be called once. */
  start(sink: EventSink): void
  /** To be called as soon as the sink can take more, after its `write()` has returned false. */
  resume(): void
  close(): void
}

interface StreamOpening {
  person: AuthenticatedCaller
  host: string
  /** The last event that the client has (header `Last-Event-ID`), undefined for a new client. */
  after: number | undefined
  /** Runs a reading of old events in one of the places for long reads. */
  inLongRead<T>(read: () => Promise<T>): Promise<T>
}

export interface EventStreams {
  /**
   * Opens a stream of the changes of a person's requests, each once and in order. It begins with a
   * tick, whose sequence number is where the stream continues, so a client that loads its list
   * after the tick misses nothing. If it cannot continue after `opening.after`, a reset comes
   * first, which tells the client to load its list again. Events between them say how far the
   * company's log is signed.
   */
  open(opening: StreamOpening): Promise<EventStream>
}

export function createEventStreams(deps: Deps): EventStreams {
  const findReader = createEventReaders(deps)
  const takeSeat = createSeats(deps.settings.limits)
  return {
    async open(opening) {
      const seat = takeSeat(opening.person)
      const stream = new OpenStream(deps, opening, findReader(opening.person.company_id), seat)
      try {
        await stream.findStart()
        return stream
      } catch (error) {
        stream.close()
        throw error
      }
    }
  }
}

class OpenStream implements EventStream, EventSubscriber {
  readonly person: AuthenticatedCaller
  readonly #deps: Deps
  readonly #after: number | undefined
  readonly #inLongRead: StreamOpening['inLongRead']
  readonly #reader: CompanyEventReader
  readonly #seat: Disposable
  readonly #endsAt: number
  readonly #stopWatching: () => void
  #sink: EventSink | undefined
  #isOver = false
  // the error code that a new call of the person would get
  #lostBy: ErrorCode | undefined
  // up to here, events have been written to the sink
  #seq = 0
  #tickedAt: number
  #isReset = false
  #held: FormattedEvent[] = []
  #heldChars = 0
  // up to here, the reader has delivered events
  #handed = 0
  // up to here, events must be read from the database: `#reader` did not deliver them, or too many
  // were waiting and they were dropped
  #behind = 0
  #isReading = false
  #isStalled = false
  #sealed: string | undefined

  constructor(
    deps: Deps,
    { person, host, after, inLongRead }: StreamOpening,
    reader: CompanyEventReader,
    seat: Disposable
  ) {
    this.person = person
    this.#deps = deps
    this.#after = after
    this.#inLongRead = inLongRead
    this.#tickedAt = deps.clock().getTime()
    // between 25 and 35 minutes, so that many streams do not reconnect at the same time
    const maxAge = 60_000 * (25 + ((deps.random(1)[0] ?? 0) / 255) * 10)
    this.#endsAt = Math.min(this.#tickedAt + maxAge, person.token_expires.getTime())
    this.#reader = reader
    this.#seat = seat
    this.#reader.subscribe(this)
    this.#stopWatching = deps.callers.watch({ person, host, permissions: [] }, ({ code }) => {
      this.#lostBy = code
      this.#endIfOver()
    })
  }

  async findStart(): Promise<void> {
    const { newest, oldest } = await this.#reader.bounds()
    const isKept = this.#after !== undefined && this.#after <= newest && this.#after >= oldest - 1
    this.#seq = isKept ? (this.#after ?? newest) : newest
    this.#isReset = this.#after !== undefined && !isKept
    this.#behind = Math.max(this.#behind, newest)
  }

  start(sink: EventSink): void {
    if (this.#isOver) {
      sink.end()
      return
    }
    this.#sink = sink
    if (this.#isReset) this.#write(markText('reset', this.#seq))
    this.#write(markText('tick', this.#seq))
    this.#pump()
  }

  resume(): void {
    this.#isStalled = false
    this.#pump()
  }

  close(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#sink = undefined
    this.#held = noEvents
    this.#stopWatching()
    this.#reader.unsubscribe(this)
    this.#seat[Symbol.dispose]()
  }

  deliver(events: FormattedEvent[], until: number): void {
    this.#handed = until
    if (events.length === 0) return
    this.#held = this.#held.length === 0 ? events : [...this.#held, ...events]
    for (const { text } of events) this.#heldChars += text.length
    this.#pump()
    if (this.#held.length > maxHeldEvents || this.#heldChars > maxHeldChars)
      this.readFromDatabase(until)
  }

  readFromDatabase(until: number): void {
    this.#held = noEvents
    this.#heldChars = 0
    this.#behind = Math.max(this.#behind, until)
    this.#pump()
  }

  tellSealed(text: string): void {
    this.#sealed = text
    this.#pump()
  }

  onInterval(): void {
    this.#pump()
    const now = this.#deps.clock().getTime()
    const isIdle = this.#sink && !this.#isStalled && !this.#isReading
    if (!isIdle || now - this.#tickedAt < tickAfterMs) return
    this.#tickedAt = now
    this.#write(markText('tick', this.#seq))
  }

  #pump(): void {
    if (this.#endIfOver() || !this.#sink || this.#isStalled || this.#isReading) return
    if (this.#behind > this.#seq) {
      void this.#catchUp()
      return
    }
    const events = this.#held
    this.#held = noEvents
    this.#heldChars = 0
    for (const event of events) this.#send(event)
    this.#seq = Math.max(this.#seq, this.#handed)
    const sealed = this.#sealed
    this.#sealed = undefined
    // last, so that the client has the deposits that are sealed
    if (sealed !== undefined) this.#write(sealed)
  }

  async #catchUp(): Promise<void> {
    const { company_id, id: user_id } = this.person
    this.#isReading = true
    try {
      while (this.#behind > this.#seq && this.#sink && !this.#isStalled) {
        const place = { company_id, user_ids: [user_id], after: this.#seq }
        const page = await this.#inLongRead(() => readEvents(this.#deps, place))
        for (const event of page.events.get(user_id) ?? noEvents) this.#send(event)
        this.#seq = Math.max(this.#seq, page.seen)
      }
    } catch (error) {
      if (this.#isOver) return // its client has gone
      // the next interval continues from the same sequence number
      this.#deps.log.warn({ company: company_id, err: error }, 'events could not be read')
      return
    } finally {
      this.#isReading = false
    }
    this.#pump()
  }

  #send({ seq, text }: FormattedEvent): void {
    if (seq <= this.#seq) return
    this.#seq = seq
    this.#write(text)
  }

  #write(text: string): void {
    if (this.#sink && !this.#sink.write(text)) this.#isStalled = true
  }

  #endIfOver(): boolean {
    const sink = this.#sink
    if (!sink) return this.#isOver
    const { clock, stopping } = this.#deps
    if (!this.#lostBy && clock().getTime() < this.#endsAt && !stopping.aborted) {
      return false
    }
    this.close()
    sink.write(this.#lostBy === 'account_disabled' ? disabledText : byeText)
    sink.end()
    return true
  }
}

const byeText = 'event: bye\nretry: 2000\ndata: {}\n\n'
const disabledText = 'event: disabled\ndata: {}\n\n'

// `reset` tells the client to load its list again
function markText(name: 'tick' | 'reset', seq: number): string {
  return `event: ${name}\nid: ${seq}\ndata: ${JSON.stringify({ seq })}\n\n`
}

function createSeats(limits: TrafficLimitSettings): (person: AuthenticatedCaller) => Disposable {
  const taken = new Map<string, number>()
  return person => {
    const counted: [string, number][] = [
      ['process', limits.streamsPerProcess],
      [`company ${person.company_id}`, limits.streamsPerCompany],
      [`person ${person.company_id} ${person.id}`, limits.streamsPerUser]
    ]
    for (const [key, limit] of counted) {
      if ((taken.get(key) ?? 0) >= limit) {
        throw new AppError('stream_limit_reached', 'Too many streams are open', { retryAfter: 30 })
      }
    }
    const add = (amount: 1 | -1) => {
      for (const [key] of counted) {
        const count = (taken.get(key) ?? 0) + amount
        if (count === 0) taken.delete(key)
        else taken.set(key, count)
      }
    }
    add(1)
    return { [Symbol.dispose]: () => add(-1) }
  }
}
