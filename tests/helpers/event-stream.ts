import http from 'node:http'
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { LogProgress } from '../../src/contract/requests.ts'

export type OpenStream = Awaited<ReturnType<typeof openStream>>

interface Reader {
  host: string
  token: string
}

const patienceMs = 10_000

/** Opens `GET /process/sse` through a real port. */
export async function openStream(port: number, reader: Reader, lastEventId?: number) {
  const events: EventSourceMessage[] = []
  const seals: LogProgress[] = []
  const parser = createParser({
    onEvent(event) {
      // they come at any time
      if (event.event === 'sealed') seals.push(LogProgress.parse(JSON.parse(event.data)))
      else events.push(event)
    }
  })
  let wake = () => {}
  let isOver = false
  let taken = 0

  const outgoing = http.request({
    host: '127.0.0.1',
    port,
    path: '/process/sse',
    agent: false,
    headers: {
      host: `api.${reader.host}`,
      authorization: `Bearer ${reader.token}`,
      ...(lastEventId === undefined ? {} : { 'last-event-id': String(lastEventId) })
    }
  })
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    outgoing.once('response', resolve)
    outgoing.once('error', reject)
    outgoing.end()
  })
  outgoing.on('error', () => undefined) // a broken connection, which `next()` reports
  response.on('error', () => undefined)
  let body = ''
  response.setEncoding('utf8')
  response.on('data', (text: string) => {
    body += text
    if (response.statusCode === 200) parser.feed(text)
    wake()
  })
  response.once('close', () => {
    isOver = true
    wake()
  })

  /** Waits until `ready` returns true or the stream ends. Throws after ten seconds. */
  async function until(ready: () => boolean): Promise<void> {
    const giveUpAt = Date.now() + patienceMs
    while (!ready() && !isOver) {
      if (Date.now() > giveUpAt) throw new Error('the stream stayed silent')
      await new Promise<void>(resolve => {
        const timer = setTimeout(resolve, 100)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  }

  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    events,
    /** The events `sealed`, which are not among the others. */
    seals,
    /** Waits for an event `sealed` that this is true of, and returns it. */
    async sealed(isMeant: (progress: LogProgress) => boolean): Promise<LogProgress | undefined> {
      await until(() => seals.some(isMeant))
      return seals.find(isMeant)
    },
    /** Returns the next event, or undefined at the end of the stream. */
    async next(): Promise<EventSourceMessage | undefined> {
      await until(() => events.length > taken)
      return events[taken++]
    },
    /** Returns the body of an error answer. */
    async refusal(): Promise<unknown> {
      await until(() => false)
      return JSON.parse(body)
    },
    /** Waits until the server ends the stream. Returns how many milliseconds that took. */
    async ended(): Promise<number> {
      const from = performance.now()
      await until(() => false)
      return performance.now() - from
    },
    close: () => outgoing.destroy()
  }
}
