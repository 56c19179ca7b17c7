import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export interface RequestQueue {
  /** Runs `serve` once the requests before this one on its connection have been answered. */
  enqueue(request: IncomingMessage, response: ServerResponse, serve: () => void): void
}

/**
 * One request of a connection at a time. Node hands over each as soon as it is read, and a client may
 * send thousands before it reads an answer; while one waits, the connection is not read any further.
 */
export function createRequestQueue(): RequestQueue {
  /** Of each connection that has a request at work, those that wait behind it. */
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
      // after what has been read is parsed: the parser resumes the socket behind each request
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
    // its body may not have been read yet
    if (queue?.length === 0) socket.resume()
    next()
  }
}
