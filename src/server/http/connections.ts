import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { createLogThrottle } from '../api/kit/log-throttle.ts'
import type { Log } from '../domain/deps.ts'
import { networksOfAddress } from '../domain/ip-addresses.ts'

export interface ConnectionLimits {
  total: number
  /** Of an IPv4 address or an IPv6 /64. */
  perAddress: number
  /** Whether many people may share this address; if so, `perAddress` does not limit it. */
  isShared(address: string): boolean
  /** How long a client may read nothing; 30 seconds by default. */
  stallMs?: number
}

export interface ConnectionRoomCheck {
  /** False for 10 seconds after a connection was refused for lack of room. */
  hasRoom(): boolean
}

const defaultStallMs = 30_000
const refusedMs = 10_000

export function limitConnections(
  server: Server,
  { total, perAddress, isShared, stallMs = defaultStallMs }: ConnectionLimits,
  log: Pick<Log, 'warn'>
): ConnectionRoomCheck {
  const open = new Set<Socket>()
  const byNetwork = new Map<string, number>()
  const progress = new Map<Socket, SendProgress>()
  let refusedAt = Number.NEGATIVE_INFINITY
  const noteTurnedAway = createLogThrottle((turnedAway, reason: string) => {
    log.warn({ reason, connections: open.size, turnedAway }, 'connections were turned away')
  })

  server.maxConnections = total
  server.on('drop', () => {
    refusedAt = performance.now()
    noteTurnedAway('LIMIT_CONNECTIONS_PER_PROCESS is reached')
  })
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    const network = isShared(address) ? undefined : (networksOfAddress(address)[0] ?? address)
    const held = network === undefined ? 0 : (byNetwork.get(network) ?? 0)
    if (held >= perAddress) {
      noteTurnedAway('one network has reached LIMIT_CONNECTIONS_PER_ADDRESS')
      socket.destroy()
      return
    }
    open.add(socket)
    if (network !== undefined) byNetwork.set(network, held + 1)
    socket.once('close', () => {
      open.delete(socket)
      progress.delete(socket)
      if (network === undefined) return
      const left = (byNetwork.get(network) ?? 1) - 1
      if (left === 0) byNetwork.delete(network)
      else byNetwork.set(network, left)
    })
  })

  const timer = setInterval(() => {
    const now = performance.now()
    for (const socket of open) {
      const before = progress.get(socket)
      // nothing waits to be sent while the response is still being computed
      if (socket.writableLength === 0) progress.delete(socket)
      else if (before?.written !== socket.bytesWritten || before.left !== unsent(socket)) {
        progress.set(socket, { left: unsent(socket), written: socket.bytesWritten, since: now })
      } else if (now - before.since >= stallMs) socket.destroy()
    }
  }, stallMs / 6)
  timer.unref()
  server.once('close', () => clearInterval(timer))

  return {
    hasRoom: () => open.size < total && performance.now() - refusedAt > refusedMs
  }
}

// the send state of a socket when it last made progress
interface SendProgress {
  left: number
  written: number
  since: number
}

function unsent(socket: Socket): number {
  // only the handle knows how much of a large chunk has already been sent
  const handle: unknown = Reflect.get(socket, '_handle')
  return socket.writableLength + Number(Object(handle).writeQueueSize ?? 0)
}
