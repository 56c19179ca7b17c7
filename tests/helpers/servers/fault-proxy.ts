import { connect, createServer, type Socket } from 'node:net'
import { listenLocally } from './listen.ts'

/** The point at which a connection breaks, counted in bytes of one direction. */
export interface ConnectionCut {
  side: 'request' | 'response'
  /** Number of bytes that pass before the break. */
  at: number
  /**
   * `reset` and `close` break the connection for client and server. `silence` breaks it only for
   * the client, as a lost network does: the server keeps waiting, until `deliverLate()` sends it
   * the bytes that it has not received.
   */
  how: 'reset' | 'close' | 'silence'
}

export type FaultProxy = Awaited<ReturnType<typeof startFaultProxy>>

interface Pair {
  client: Socket
  server: Socket
}

/**
 * Starts a proxy that passes TCP connections on to a port of this machine, and breaks connections
 * as planned by `cutNext`.
 */
export async function startFaultProxy(target: number) {
  const planned: ConnectionCut[] = []
  const pairs = new Set<Pair>()
  const withheld: { server: Socket; bytes: Buffer }[] = []
  let cuts = 0

  const proxy = createServer(client => {
    const server = connect(target, '127.0.0.1')
    const pair = { client, server }
    pairs.add(pair)
    const cut = planned.shift()
    pass(pair, 'request', cut)
    pass(pair, 'response', cut)
  })

  function pass(pair: Pair, side: ConnectionCut['side'], cut: ConnectionCut | undefined): void {
    const [from, to] = side === 'request' ? [pair.client, pair.server] : [pair.server, pair.client]
    let passed = 0
    let broken = false
    const mine = cut?.side === side ? cut : undefined
    from.on('data', (bytes: Buffer) => {
      if (broken) return
      const left = mine ? mine.at - passed : Number.POSITIVE_INFINITY
      passed += bytes.length
      if (!mine || passed < mine.at) {
        to.write(bytes)
        return
      }
      broken = true
      cuts++
      const sent = bytes.subarray(0, left)
      if (side === 'request') withheld.push({ server: pair.server, bytes: bytes.subarray(left) })
      // the bytes before the break must be sent before the connection breaks
      if (sent.length > 0) to.write(sent, () => breakUp(pair, mine.how))
      else breakUp(pair, mine.how)
    })
    from.on('error', () => undefined)
    from.on('end', () => {
      if (!broken) to.end()
    })
    from.on('close', () => {
      pairs.delete(pair)
      if (!broken || mine?.how !== 'silence') to.destroy()
    })
  }

  return {
    port: await listenLocally(proxy),
    /**
     * Plans a break for the next new connection. A second call plans one for the connection after
     * it.
     */
    cutNext(cut: ConnectionCut) {
      planned.push(cut)
    },
    /** Discards the planned breaks that no connection has used yet. */
    forget() {
      planned.length = 0
    },
    cuts: () => cuts,
    /** Sends the server the bytes that it has not received because of `silence`. */
    deliverLate() {
      for (const { server, bytes } of withheld.splice(0)) {
        if (server.writable) server.write(bytes)
      }
    },
    async [Symbol.asyncDispose]() {
      for (const { client, server } of pairs) {
        client.destroy()
        server.destroy()
      }
      for (const { server } of withheld) server.destroy()
      await new Promise(resolve => proxy.close(resolve))
    }
  }
}

function breakUp({ client, server }: Pair, how: ConnectionCut['how']): void {
  if (how === 'close') {
    client.end()
    server.end()
    client.destroySoon()
    server.destroySoon()
    return
  }
  client.resetAndDestroy()
  if (how === 'reset') server.resetAndDestroy()
}
