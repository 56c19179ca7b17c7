import { once } from 'node:events'
import { connect } from 'node:net'

// once in each measured event, and not in the `tick` events that keep a stream open
const mark = Buffer.from('"created"')
const headEnd = Buffer.from('\r\n\r\n')
const openAtOnce = 16

/**
 * Returns a function that waits for a number of events, and returns the arrival time of each in
 * milliseconds of `process.hrtime`.
 */
export async function listenToStreams({ port, requests }: { port: number; requests: string[] }) {
  let arrivals: number[] = []
  let expected = Number.POSITIVE_INFINITY
  let reached = () => {}

  function countEvents(chunk: Buffer): void {
    for (let at = chunk.indexOf(mark); at >= 0; at = chunk.indexOf(mark, at + mark.length)) {
      arrivals.push(Number(process.hrtime.bigint()) / 1e6)
      if (arrivals.length >= expected) reached()
    }
  }

  async function open(request: string): Promise<void> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    socket.on('error', () => process.exit(1))
    await once(socket, 'connect')
    socket.write(request)
    for (;;) {
      const [head] = await once(socket, 'data')
      if (!head.subarray(0, 12).includes(' 200')) throw new Error(head.toString())
      if (head.includes(headEnd)) break
    }
    socket.on('data', countEvents)
  }

  const waiting = [...requests]
  await Promise.all(
    Array.from({ length: openAtOnce }, async () => {
      for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) await open(next)
    })
  )

  return async ({ events }: { events: number }) => {
    const all = new Promise<void>(resolve => {
      reached = resolve
    })
    arrivals = []
    expected = events
    await all
    return arrivals
  }
}
