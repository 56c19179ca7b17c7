import { AppError } from '../../contract/errors.ts'
import type { ProcessedRequest } from '../../contract/requests.ts'
import type { Deps } from './deps.ts'
import { type Subscription, subscribe } from './event-readers.ts'
import { eventBounds, readEvents } from './requests.ts'
import { type Person, standing } from './sessions.ts'

const tickMs = 15_000
const recheckMs = 30_000
const pageEvents = 500

export type StreamItem =
  | { type: 'request'; seq: number; request: ProcessedRequest }
  | { type: 'tick'; seq: number }
  /** The reader's place is no longer kept: it reloads its list. */
  | { type: 'reset'; seq: number }
  | { type: 'disabled' }
  /** The stream ends for a reason that is nobody's fault: come back. */
  | { type: 'bye' }

interface WatchInput {
  person: Person
  /** `Last-Event-ID`: everything after it is sent; without it the stream starts now. */
  after: number | undefined
  signal: AbortSignal
}

/**
 * A person's requests as they change, in order, each once. Without `after` the first item is a tick
 * at the current sequence, so that a list loaded afterwards misses nothing.
 */
export async function* watchEvents(
  deps: Deps,
  input: WatchInput
): AsyncGenerator<StreamItem, void, void> {
  const { person, signal } = input
  using _seat = takeSeat(deps, person)
  using alarm = openAlarm(deps, person, signal)
  const company_id = person.company_id
  const started = deps.clock().getTime()
  // half an hour, give or take five minutes, so that many streams do not come back together
  const maxAge = 60_000 * (25 + ((deps.random(1)[0] ?? 0) / 255) * 10)
  let checked = started

  const bounds = await eventBounds(deps, company_id)
  let seq = input.after ?? bounds.newest
  if (seq > bounds.newest || seq < bounds.oldest - 1) {
    seq = bounds.newest
    yield { type: 'reset', seq }
  }
  yield { type: 'tick', seq }
  let ticked = started

  // A new stream looks for itself once: at what it missed while it was away, and up to where the
  // reader it has joined begins.
  let catchUp: number | undefined = Number.POSITIVE_INFINITY
  while (!signal.aborted) {
    while (catchUp !== undefined && seq < catchUp && !signal.aborted) {
      const page = await readEvents(deps, {
        company_id,
        user_id: person.id,
        after: seq,
        limit: pageEvents
      })
      for (const request of page.events) yield { type: 'request', seq: request.seq, request }
      seq = page.seen
      if (page.events.length < pageEvents) break
    }
    const news = alarm.news()
    for (const request of news.events) {
      if (request.seq > seq) yield { type: 'request', seq: request.seq, request }
    }
    seq = Math.max(seq, news.behind === undefined ? news.seen : 0)
    catchUp = news.behind
    if (catchUp !== undefined && seq < catchUp) continue
    const now = deps.clock().getTime()
    if (alarm.sessionChanged() || now - checked >= recheckMs) {
      checked = now
      const state = await standing(deps, person)
      if (state === 'disabled') return yield { type: 'disabled' }
      if (state === 'ended') return yield { type: 'bye' }
    }
    const isOver = now - started >= maxAge || now >= person.token_expires.getTime()
    if (isOver || deps.stopping.aborted) {
      return yield { type: 'bye' }
    }
    if (now - ticked >= tickMs) {
      ticked = now
      yield { type: 'tick', seq }
    }
    await alarm.sleep(Math.max(1, Math.min(ticked + tickMs, checked + recheckMs) - now))
  }
}

interface Alarm extends Disposable {
  /** What the company's reader has for this stream. */
  news: Subscription['take']
  /** Until the person's events grow, their session changes, the stream is cut, or the time is over. */
  sleep(ms: number): Promise<void>
  /** Whether the session changed since the last question. */
  sessionChanged(): boolean
}

function openAlarm(deps: Deps, person: Person, signal: AbortSignal): Alarm {
  let wake = () => {}
  let rung = false
  let changed = false
  const ring = () => {
    rung = true
    wake()
  }
  const mine = (key: { company: string; user: string }) =>
    key.company === person.company_id && key.user === person.id
  const subscription = subscribe(deps, person, ring)
  const offSessions = deps.wakes.sessions.on(key => {
    if (!mine(key)) return
    changed = true
    ring()
  })
  const offMissed = deps.wakes.missed.on(() => {
    changed = true
    ring()
  })
  signal.addEventListener('abort', ring)
  deps.stopping.addEventListener('abort', ring)
  return {
    news: subscription.take,
    async sleep(ms) {
      if (!rung && !signal.aborted) {
        const { promise, resolve } = Promise.withResolvers<void>()
        const timer = setTimeout(resolve, ms)
        wake = resolve
        await promise
        clearTimeout(timer)
      }
      rung = false
      wake = () => {}
    },
    sessionChanged() {
      const answer = changed
      changed = false
      return answer
    },
    [Symbol.dispose]() {
      subscription[Symbol.dispose]()
      offMissed()
      offSessions()
      signal.removeEventListener('abort', ring)
      deps.stopping.removeEventListener('abort', ring)
    }
  }
}

const seats = new WeakMap<Deps['wakes'], Map<string, number>>()

function takeSeat(deps: Deps, person: Person): Disposable {
  const taken = seats.get(deps.wakes) ?? new Map<string, number>()
  seats.set(deps.wakes, taken)
  const { limits: most } = deps.settings
  const limits: [string, number][] = [
    ['process', most.streamsPerProcess],
    [`company ${person.company_id}`, most.streamsPerCompany],
    [`person ${person.company_id} ${person.id}`, most.streamsPerUser]
  ]
  for (const [key, limit] of limits) {
    if ((taken.get(key) ?? 0) >= limit) {
      throw new AppError('stream_limit_reached', 'Too many streams are open', { retryAfter: 30 })
    }
  }
  const add = (amount: 1 | -1) => {
    for (const [key] of limits) {
      const count = (taken.get(key) ?? 0) + amount
      if (count === 0) taken.delete(key)
      else taken.set(key, count)
    }
  }
  add(1)
  return { [Symbol.dispose]: () => add(-1) }
}
