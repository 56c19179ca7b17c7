import type { IncomingMessage } from 'node:http'

/** An average of `bytesPerSecond` in each period of `windowMs` milliseconds. */
export interface MinimumSpeed {
  windowMs: number
  bytesPerSecond: number
}

const slowest: MinimumSpeed = { windowMs: 30_000, bytesPerSecond: 1024 }

/** Slow clients could occupy all connections, whose number is limited. */
export function enforceMinimumSpeed(
  request: IncomingMessage,
  { windowMs, bytesPerSecond }: MinimumSpeed = slowest
): void {
  const { 'content-length': length, 'transfer-encoding': chunked } = request.headers
  if ((length === undefined || length === '0') && chunked === undefined) return
  const least = (bytesPerSecond * windowMs) / 1000
  let before = request.socket.bytesRead
  const timer = setInterval(() => {
    const { bytesRead } = request.socket
    if (request.complete) return clearInterval(timer)
    // bytes that were received and not yet read show that the server is slow, not the client
    const isOurs = request.readableLength > 0
    if (!isOurs && bytesRead - before < least) request.socket.destroy()
    before = bytesRead
  }, windowMs)
  timer.unref()
  request.once('close', () => clearInterval(timer))
}
