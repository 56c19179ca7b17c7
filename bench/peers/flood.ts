import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { constants, getPriority, setPriority } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { Connection } from '../connection.ts'

export interface FloodOptions {
  port: number
  /**
   * Each is sent again and again on a connection of its own, with new random hex digits for each
   * sequence of `#`.
   */
  requests: string[]
  /** How many copies are sent before a response is read. */
  pipelined?: number
  /** Never reads a response. */
  stalls?: boolean
  /** Sends a refused request again immediately, in spite of `Retry-After`. */
  isPersistent?: boolean
}

/** The returned function stops the flood and returns the number of answered requests. */
export async function flood({ port, requests, pipelined, stalls, isPersistent }: FloodOptions) {
  // the measured client runs on the same core as this process and must not wait for it
  setPriority(Math.min(getPriority() + 10, constants.priority.PRIORITY_LOW))
  const stopping = new AbortController()
  let done = 0
  const act = pipelined ? pipeline : stalls ? stall : repeatRequest
  const all = requests.map(request => act(request))
  return async () => {
    stopping.abort()
    await Promise.all(all)
    return { done }
  }

  async function repeatRequest(request: string): Promise<void> {
    const connection = await Connection.open(port)
    while (!stopping.signal.aborted) {
      const digest = randomBytes(32).toString('hex')
      const text = request.replace(/#+/g, ({ length }) => digest.slice(0, length))
      const answer = await Promise.race([connection.request(text), stopped()])
      if (!answer) break
      if (answer.status < 300) done++
      // like a client that obeys `Retry-After`
      else if (!isPersistent)
        await sleep(1000, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
    connection.close()
  }

  async function pipeline(request: string): Promise<void> {
    const socket = connect({ port, host: '127.0.0.1' })
    const many = request.repeat(pipelined ?? 1)
    let left = 0
    let tail = ''
    socket.on('error', () => undefined)
    socket.on('data', chunk => {
      const text = tail + chunk.toString('latin1')
      const answers = text.match(/HTTP\/1\.1 \d/g)?.length ?? 0
      done += answers
      left -= answers
      // a status line may be split between two chunks
      tail = text.slice(text.lastIndexOf('\n') + 1).slice(-9)
      if (left <= 0) send()
    })
    const send = () => {
      left += pipelined ?? 1
      socket.write(many)
    }
    await once(socket, 'connect')
    send()
    await stopped()
    socket.destroy()
  }

  async function stall(request: string): Promise<void> {
    while (!stopping.signal.aborted) {
      const socket = connect({ port, host: '127.0.0.1' })
      socket.on('error', () => undefined)
      await once(socket, 'connect')
      socket.pause()
      socket.write(request)
      await Promise.race([once(socket, 'close'), stopped()])
      socket.destroy()
    }
  }

  async function stopped(): Promise<void> {
    if (!stopping.signal.aborted) await once(stopping.signal, 'abort')
  }
}
