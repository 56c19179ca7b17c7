import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export interface RequestQueue {
  enqueue(request: IncomingMessage, response: ServerResponse, serve: () => void): void
}

/**
 * A client may send thousands of requests before it reads a response, and Node emits all of them at
 * once. So a connection is not read while one of its requests waits.
 */
export function createRequestQueue(): RequestQueue {
  // a connection is in the map while one of its requests is being served
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
      // in the next tick, because the parser resumes the socket after each request
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
