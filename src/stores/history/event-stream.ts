import { createParser, type EventSourceMessage } from 'eventsource-parser'
import * as z from 'zod/mini'
import { problemOf } from '../../contract/call.ts'
import { AppError } from '../../contract/errors.ts'
import type { Environment } from '../environment.ts'

/**
 * `offline`: no answer comes; `unreachable`: one comes, but no stream; `polling`: the server refuses
 * one more stream.
 */
export const StreamState = z.enum(['connecting', 'live', 'polling', 'offline', 'unreachable'])
export type StreamState = z.infer<typeof StreamState>

export interface EventStreamOptions {
  url: string
  environment: Pick<Environment, 'fetch' | 'now' | 'random' | 'after' | 'onWake' | 'onOffline'>
  /** Sequence up to which everything has been seen before. */
  after: string | undefined
  /** Asked at each connection, because tokens are renewed. */
  token: () => string | undefined
  onState: (state: StreamState) => void
  /** The data of an unnamed event. */
  onMessage: (data: string) => void
  /** How far everything has been seen, and how far before this event. */
  onSeen: (seen: { before: string | undefined; at: string }) => void
  /** What was seen before does not connect to what follows: load the list. */
  onReload: () => void
  /** A status of 400 or more, a lost connection, or the server's word that the account is disabled. */
  onError: (error: AppError, token: string | undefined) => void
}

/** A `tick` comes every 15 s: after three missing ones the connection is dead, whatever it claims. */
const silenceMs = 45_000
const firstRetryMs = 1000
const longestRetryMs = 30_000
const pollMs = 30_000
/** Far above the largest event; a server that never ends a line is cut off. */
const maxEventCharacters = 1_000_000

/**
 * Follows an event stream with a bearer token, over lost connections, until the answered function is
 * called. `EventSource` cannot send the header.
 */
export function openEventStream(options: EventStreamOptions): () => void {
  const { environment, onState, onError, onReload } = options
  let connection: AbortController | undefined
  /** Sequence up to which everything has been seen. */
  let lastId = options.after
  let heardAt = 0
  let failures = 0
  let stopTimer: () => void = () => {}
  let closed = false

  function connect(): void {
    stopTimer()
    connection?.abort()
    const mine = new AbortController()
    connection = mine
    heardAt = environment.now()
    watch()
    follow(mine.signal).then(
      () => settle(mine, undefined),
      error => settle(mine, error)
    )
  }

  /** One connection from request to end. */
  async function follow(signal: AbortSignal): Promise<void> {
    const token = options.token()
    const resumed = lastId !== undefined
    const headers: Record<string, string> = { accept: 'text/event-stream' }
    if (token) headers['authorization'] = `Bearer ${token}`
    if (lastId !== undefined) headers['last-event-id'] = lastId
    const response = await environment.fetch(options.url, { headers, signal, cache: 'no-store' })
    if (!response.ok) {
      const error = await problemOf(response)
      if (!signal.aborted) onError(error, token)
      throw error
    }
    let count = 0
    const parser = createParser({
      maxBufferSize: maxEventCharacters,
      onEvent: event => {
        if (signal.aborted) return
        count += 1
        hear(event, { first: count === 1, resumed, token })
      }
    })
    const text = new TextDecoder()
    for await (const chunk of chunksOf(response)) {
      parser.feed(text.decode(chunk, { stream: true }))
    }
  }

  function hear(
    { id, event, data }: EventSourceMessage,
    { first, resumed, token }: { first: boolean; resumed: boolean; token: string | undefined }
  ): void {
    heardAt = environment.now()
    failures = 0
    onState('live')
    if (event === undefined) options.onMessage(data)
    else if (event === 'reset' || (event === 'tick' && first && !resumed)) onReload()
    else if (event === 'disabled') {
      // The details come with the answer to the next connection.
      onError(new AppError('account_disabled', 'The stream ended with the account'), token)
    }
    if (id === undefined) return
    const before = lastId
    lastId = id
    options.onSeen({ before, at: id })
  }

  /** What comes after the end of a connection. */
  function settle(mine: AbortController, error: unknown): void {
    if (closed || connection !== mine) return
    // one that failed while it was read is still open
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
    const left = heardAt + silenceMs - environment.now()
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
    return environment.now() - heardAt >= silenceMs
  }

  // Timers sleep with the device, so a person who comes back does not wait for them.
  const stopWake = environment.onWake(() => {
    if (!connection) connect()
    else if (isSilent()) replace()
  })
  // A lost network keeps the connection open for as long as nobody asks for an answer.
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

/** `for await` over a body works in Node and Firefox, not yet in every browser. */
async function* chunksOf(response: Response): AsyncGenerator<Uint8Array> {
  const reader = response.body?.getReader()
  if (!reader) return
  while (true) {
    const { done, value } = await reader.read()
    if (done) return
    yield value
  }
}
