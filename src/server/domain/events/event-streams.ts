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
/**
 * How many milliseconds after a tick the next one is due. A tick is an event that keeps the
 * connection alive. Streams check every two seconds whether a tick is due, so ticks are at most
 * `tickMs` apart.
 */
const tickAfterMs = tickMs - 2000
/**
 * Maximum number of events that wait in memory for a slow client. If there are more, the stream
 * drops all of them and reads them from the database later.
 */
const maxHeldEvents = 64
/**
 * Maximum number of characters of the events that wait in memory for a slow client. If there are
 * more, the stream drops all waiting events and reads them from the database later.
 */
const maxHeldChars = 256 * 1024

/** The connection or other target to which a stream writes its events. */
export interface EventSink {
  /**
   * Writes text. Returns false if the stream must not write further events until the sink's owner
   * calls `EventStream.resume()`.
   */
  write(text: string): boolean
  end(): void
}

/** A stream that sends the changes of a person's history as events. */
export interface EventStream {
  /** Starts to write events to `sink`. Must be called once. */
  start(sink: EventSink): void
  /**
   * Continues to write events after `write()` of the sink has returned false. The sink's owner must
   * call this as soon as the sink can take more.
   */
  resume(): void
  /** Ends the stream, for example because its client has disconnected. */
  close(): void
}

interface StreamOpening {
  person: AuthenticatedCaller
  host: string
  /**
   * The sequence number of the last event that the client has (header `Last-Event-ID`). Undefined
   * for a new client, whose stream begins with the next event.
   */
  after: number | undefined
}

/** Opens the event streams of this process. */
export interface EventStreams {
  /**
   * Opens a stream of the changes of a person's requests (entries of the history). It sends each
   * change once, in order. It begins with a tick: an event that reports no change and has the
   * sequence number after which the stream continues. A client that loads its list after the tick
   * misses nothing. If the stream cannot continue after `opening.after`, for example because later
   * events have been deleted, a reset comes first. The reset tells the client to load its list
   * again. Throws `stream_limit_reached` if too many streams are open.
   */
  open(opening: StreamOpening): Promise<EventStream>
}

/**
 * Creates the event streams of this process. All streams of a company share one reader of events.
 */
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
  readonly #reader: CompanyEventReader
  readonly #seat: Disposable
  readonly #endsAt: number
  readonly #stopWatching: () => void
  #sink: EventSink | undefined
  #isOver = false
  /** The error code that a new call of the person would get. Undefined while the stream may go on. */
  #lostBy: ErrorCode | undefined
  /** The sequence number up to which events have been written to the sink. */
  #seq = 0
  #tickedAt: number
  #isReset = false
  /**
   * Events that wait until the sink can take more, or until the stream has read earlier events from
   * the database.
   */
  #held: FormattedEvent[] = []
  #heldChars = 0
  /** The sequence number up to which the reader has delivered events. */
  #handed = 0
  /**
   * The sequence number up to which the stream reads events from the database. It does so for
   * events that `#reader` has not delivered, and for delivered events that were dropped because too
   * many were waiting.
   */
  #behind = 0
  #isReading = false
  #isStalled = false

  constructor(
    deps: Deps,
    { person, host, after }: StreamOpening,
    reader: CompanyEventReader,
    seat: Disposable
  ) {
    this.person = person
    this.#deps = deps
    this.#after = after
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

  onInterval(): void {
    this.#pump()
    const now = this.#deps.clock().getTime()
    const isIdle = this.#sink && !this.#isStalled && !this.#isReading
    if (!isIdle || now - this.#tickedAt < tickAfterMs) return
    this.#tickedAt = now
    this.#write(markText('tick', this.#seq))
  }

  /**
   * Writes the waiting events, unless the sink can take no more at present. If earlier events are
   * missing, reads and writes them first. Ends the stream if its session is no longer valid, its
   * time is over or the process stops.
   */
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
  }

  async #catchUp(): Promise<void> {
    const { company_id, id: user_id } = this.person
    this.#isReading = true
    try {
      while (this.#behind > this.#seq && this.#sink && !this.#isStalled) {
        const place = { company_id, user_ids: [user_id], after: this.#seq }
        const page = await readEvents(this.#deps, place)
        for (const event of page.events.get(user_id) ?? noEvents) this.#send(event)
        this.#seq = Math.max(this.#seq, page.seen)
      }
    } catch (error) {
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

/**
 * Returns the text of a `tick`, which keeps the connection alive, or of a `reset`, which tells the
 * client to load its list again. Both have a sequence number.
 */
function markText(name: 'tick' | 'reset', seq: number): string {
  return `event: ${name}\nid: ${seq}\ndata: ${JSON.stringify({ seq })}\n\n`
}

/**
 * Enforces the limits on open streams. Returns a function that must be called for each new stream.
 * The function throws `stream_limit_reached` if the person, the company or the process has too many
 * open streams. Otherwise it counts the stream as open until the returned object is disposed.
 */
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
