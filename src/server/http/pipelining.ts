import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export interface RequestQueue {
  /** Runs `serve` after the earlier requests of the connection have been answered. */
  enqueue(request: IncomingMessage, response: ServerResponse, serve: () => void): void
}

/**
 * Serves the requests of a connection one at a time. A client may send thousands before it reads an
 * answer, and Node emits each at once. So reading pauses while a request waits.
 */
export function createRequestQueue(): RequestQueue {
  /** The waiting requests of each connection that is being served. */
  const queues = new WeakMap<Socket, (() => void)[]>()
  return {
    enqueue(request, response, serve) {
      const { socket } = request
      const begin = () => {
        response.once('close', () => follow(socket))
        serve()
      }
      const queue = queues.get(socket)
      if (!queue) {
        queues.set(socket, [])
        begin()
        return
      }
      queue.push(begin)
      // later, because the parser resumes the socket after each request
      if (queue.length === 1) process.nextTick(() => queue.length > 0 && socket.pause())
    }
  }

  function follow(socket: Socket): void {
    const queue = queues.get(socket)
    const next = socket.destroyed ? undefined : queue?.shift()
    if (!next) {
      queues.delete(socket)
      return
    }
    // the body of the request may be unread
    if (queue?.length === 0) socket.resume()
    next()
  }
}
