import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export interface HttpAnswer {
  status: number
  head: string
  body: Buffer
}

const headEnd = Buffer.from('\r\n\r\n')
const lastChunk = Buffer.from('0\r\n\r\n')

/**
 * For one request at a time. Parses only as much HTTP as the benchmarks need, so that it hardly
 * distorts the measurement.
 */
export class Connection {
  readonly #socket: Socket
  #received: Buffer = Buffer.alloc(0)
  #waiting: { resolve(answer: HttpAnswer): void; reject(error: Error): void } | undefined

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.on('data', chunk => this.#take(chunk))
    socket.on('error', error => this.#waiting?.reject(error))
    socket.on('close', () => this.#waiting?.reject(new Error('the connection was closed')))
  }

  static async open(port: number): Promise<Connection> {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true })
    await once(socket, 'connect')
    return new Connection(socket)
  }

  request(request: string): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      if (this.#socket.destroyed) throw new Error('the connection was closed')
      this.#waiting = { resolve, reject }
      this.#socket.write(request)
    })
  }

  /** The repetitions while the server is overloaded are part of the measured time. */
  async requestWithRetry(request: string): Promise<HttpAnswer> {
    for (;;) {
      const answer = await this.request(request)
      if (answer.status < 300) return answer
      if (answer.status !== 503) throw new Error(`answered ${answer.status}: ${answer.body}`)
      await sleep(50)
    }
  }

  close(): void {
    this.#waiting = undefined
    this.#socket.destroy()
  }

  #take(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk])
    const end = this.#received.indexOf(headEnd)
    if (end < 0) return
    const start = end + headEnd.length
    const head = this.#received.toString('latin1', 0, end)
    const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
    const isWhole =
      length === undefined
        ? this.#received.subarray(-lastChunk.length).equals(lastChunk)
        : this.#received.length >= start + Number(length)
    if (!isWhole) return
    const body = this.#received.subarray(start)
    this.#received = Buffer.alloc(0)
    this.#waiting?.resolve({ status: Number(head.slice(9, 12)), head, body })
  }
}

/** `body` is sent as JSON. */
export function requestText(
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: unknown
): string {
  const text = body === undefined ? '' : JSON.stringify(body)
  const length =
    body === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) }
  const lines = Object.entries({ ...headers, ...length }).map(
    ([name, value]) => `${name}: ${value}`
  )
  return `${[`${method} ${path} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n${text}`
}

/** Throws for a status of 300 or more. A chunked body must consist of one chunk. */
export function jsonOf({ status, head, body }: HttpAnswer): unknown {
  if (status >= 300) throw new Error(`answered ${status}: ${body.toString()}`)
  const text = body.toString()
  return JSON.parse(
    /\r\ntransfer-encoding: chunked/i.test(head) ? (text.split('\r\n')[1] ?? '') : text
  )
}
