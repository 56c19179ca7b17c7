import { createParser, type EventSourceMessage } from 'eventsource-parser'
import * as z from 'zod/mini'
import { errorFromResponse } from '../../contract/kit/call.ts'
import { AppError } from '../../contract/kit/errors.ts'
import type { BrowserEnvironment } from '../environment.ts'

// `polling`: the server refuses a further stream, so the list is loaded at intervals
export const StreamConnectionState = z.enum([
  'connecting',
  'live',
  'polling',
  'offline',
  'unreachable'
])
export type StreamConnectionState = z.infer<typeof StreamConnectionState>

export interface EventStreamOptions {
  url: string
  environment: Pick<
    BrowserEnvironment,
    'fetch' | 'now' | 'random' | 'after' | 'onWake' | 'onOffline'
  >
  /** The stream continues after this event. */
  after: string | undefined
  token: () => string | undefined
  onState: (state: StreamConnectionState) => void
  onMessage: (data: string) => void
  /** Events `sealed`. `isFirst`: before it, this connection has told nothing. */
  onSealed: (data: string, isFirst: boolean) => void
  /** `before` is the sequence number of the event before it, if there was one. */
  onSeen: (seen: { before: string | undefined; at: string }) => void
  /** Runs when events may have been missed. */
  onReload: () => void
  onError: (error: AppError, token: string | undefined) => void
}

// the server sends a `tick` every 15 s
const silenceMs = 45_000
const firstRetryMs = 1000
const longestRetryMs = 30_000
const pollMs = 30_000
// far above the largest event that the server sends
const maxEventCharacters = 1_000_000

// `EventSource` cannot send a bearer token
export function openEventStream(options: EventStreamOptions): () => void {
  const { environment, onState, onError, onReload } = options
  let connection: AbortController | undefined
  let lastId = options.after
  let lastEventAt = 0
  let failures = 0
  let stopTimer: () => void = () => {}
  let closed = false

  function connect(): void {
    stopTimer()
    connection?.abort()
    const mine = new AbortController()
    connection = mine
    lastEventAt = environment.now()
    watch()
    follow(mine.signal).then(
      () => settle(mine, undefined),
      error => settle(mine, error)
    )
  }

  async function follow(signal: AbortSignal): Promise<void> {
    const token = options.token()
    const resumed = lastId !== undefined
    const headers: Record<string, string> = { accept: 'text/event-stream' }
    if (token) headers['authorization'] = `Bearer ${token}`
    if (lastId !== undefined) headers['last-event-id'] = lastId
    const response = await environment.fetch(options.url, { headers, signal, cache: 'no-store' })
    if (!response.ok) {
      const error = await errorFromResponse(response)
      if (!signal.aborted) onError(error, token)
      throw error
    }
    let count = 0
    let isFirstSealed = true
    const parser = createParser({
      maxBufferSize: maxEventCharacters,
      onEvent: event => {
        if (signal.aborted) return
        count += 1
        handleEvent(event, { first: count === 1, resumed, token })
        if (event.event !== 'sealed') return
        options.onSealed(event.data, isFirstSealed)
        isFirstSealed = false
      }
    })
    const text = new TextDecoder()
    for await (const chunk of chunksOf(response)) {
      parser.feed(text.decode(chunk, { stream: true }))
    }
  }

  function handleEvent(
    { id, event, data }: EventSourceMessage,
    { first, resumed, token }: { first: boolean; resumed: boolean; token: string | undefined }
  ): void {
    lastEventAt = environment.now()
    failures = 0
    onState('live')
    if (event === undefined) options.onMessage(data)
    else if (event === 'reset' || (event === 'tick' && first && !resumed)) onReload()
    else if (event === 'disabled') {
      // the next attempt to connect will get an error with the details
      onError(new AppError('account_disabled', 'The stream ended with the account'), token)
    }
    if (id === undefined) return
    const before = lastId
    lastId = id
    options.onSeen({ before, at: id })
  }

  // `error` is undefined if the server ended the stream
  function settle(mine: AbortController, error: unknown): void {
    if (closed || connection !== mine) return
    // if reading the connection has failed, it may still be open
    mine.abort()
    connection = undefined
    stopTimer()
    if (error instanceof AppError && error.status === 429) {
      onState('polling')
      onReload()
      stopTimer = environment.after(pollMs, connect)
      return
    }
    if (error !== undefined && !(error instanceof AppError)) {
      onError(new AppError('offline', 'The event stream broke off', { cause: error }), undefined)
    }
    if (error === undefined) onState('connecting')
    else onState(error instanceof AppError ? 'unreachable' : 'offline')
    const wait = Math.min(longestRetryMs, firstRetryMs * 2 ** failures)
    failures += 1
    stopTimer = environment.after(wait * (1 + environment.random() / 4), connect)
  }

  function watch(): void {
    const left = lastEventAt + silenceMs - environment.now()
    stopTimer = environment.after(Math.max(left, 1000), () => {
      if (isSilent()) replace()
      else watch()
    })
  }

  function replace(): void {
    onError(new AppError('offline', 'The event stream went silent'), undefined)
    if (!closed) connect()
  }

  function isSilent(): boolean {
    return environment.now() - lastEventAt >= silenceMs
  }

  // timers stop while the device sleeps, so the pause or the allowed silence may be over
  const stopWake = environment.onWake(() => {
    if (!connection) connect()
    else if (isSilent()) replace()
  })
  // otherwise a connection without a network would look open until three ticks are missing
  const stopOffline = environment.onOffline(() => {
    const lost = connection
    if (!lost) return
    lost.abort()
    settle(lost, new Error('no network'))
  })

  onState('connecting')
  connect()
  return () => {
    closed = true
    stopTimer()
    stopWake()
    stopOffline()
    connection?.abort()
  }
}

// some browsers cannot iterate over a body with `for await` yet
async function* chunksOf(response: Response): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader()
  if (!reader) return
  while (true) {
    const { done, value } = await reader.read()
    if (done) return
    yield value
  }
}
