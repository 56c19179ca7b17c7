import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Log } from '../domain/deps.ts'
import { countedNetworks } from '../domain/ip-addresses.ts'
import { createLogThrottle } from './log-throttle.ts'

export interface ConnectionRules {
  /** Held at a time; more are closed unheard. */
  total: number
  /** Of these, from one network. */
  perAddress: number
  /** Whether many people come through this peer, so that it is not counted as one. */
  isShared(address: string): boolean
  /** How long bytes may wait for a reader that takes none. */
  stallMs?: number
}

/** What the connections of a server are at. */
export interface Connections {
  /** Nobody was turned away lately for want of connections, and there is room for more. */
  hasRoom(): boolean
}

const usualStallMs = 30_000
/** Somebody who was turned away is remembered for this long. */
const turnedAwayMs = 10_000

/** Bounds the connections of a server, in all and by network, and ends those whose reader has stopped. */
export function watchConnections(
  server: Server,
  { total, perAddress, isShared, stallMs = usualStallMs }: ConnectionRules,
  log: Pick<Log, 'warn'>
): Connections {
  const open = new Set<Socket>()
  const byNetwork = new Map<string, number>()
  const stalls = new Map<Socket, Stall>()
  let turnedAwayAt = Number.NEGATIVE_INFINITY
  const noteTurnedAway = createLogThrottle((turnedAway, reason: string) => {
    log.warn({ reason, connections: open.size, turnedAway }, 'connections were turned away')
  })

  server.maxConnections = total
  server.on('drop', () => {
    turnedAwayAt = performance.now()
    noteTurnedAway('all are in use')
  })
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    const network = isShared(address) ? undefined : (countedNetworks(address)[0] ?? address)
    const held = network === undefined ? 0 : (byNetwork.get(network) ?? 0)
    if (held >= perAddress) {
      noteTurnedAway('one network holds too many')
      socket.destroy()
      return
    }
    open.add(socket)
    if (network !== undefined) byNetwork.set(network, held + 1)
    socket.once('close', () => {
      open.delete(socket)
      stalls.delete(socket)
      if (network === undefined) return
      const left = (byNetwork.get(network) ?? 1) - 1
      if (left === 0) byNetwork.delete(network)
      else byNetwork.set(network, left)
    })
  })

  const timer = setInterval(() => {
    const now = performance.now()
    for (const socket of open) {
      const before = stalls.get(socket)
      // an answer that is still being made leaves nothing waiting
      if (socket.writableLength === 0) stalls.delete(socket)
      else if (before === undefined || hasMoved(socket, before)) {
        stalls.set(socket, { left: unsent(socket), written: socket.bytesWritten, since: now })
      } else if (now - before.since >= stallMs) socket.destroy()
    }
  }, stallMs / 6)
  timer.unref()
  server.once('close', () => clearInterval(timer))

  return {
    hasRoom: () => open.size < total && performance.now() - turnedAwayAt > turnedAwayMs
  }
}

/** A socket as it was seen when its bytes last moved. */
interface Stall {
  left: number
  written: number
  since: number
}

function hasMoved(socket: Socket, { left, written }: Stall): boolean {
  return socket.bytesWritten !== written || unsent(socket) !== left
}

/** Grows and shrinks with the bytes that wait for their reader. */
function unsent(socket: Socket): number {
  // a large piece leaves bit by bit, which only the handle knows
  const handle: unknown = Reflect.get(socket, '_handle')
  return socket.writableLength + Number(Object(handle).writeQueueSize ?? 0)
}
