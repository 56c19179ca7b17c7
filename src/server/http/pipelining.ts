import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export interface Turns {
  /** Runs `serve` once the requests before this one on its connection have been answered. */
  wait(request: IncomingMessage, response: ServerResponse, serve: () => void): void
}

/**
 * One request of a connection at a time. Node hands over each as soon as it is read, and a client may
 * send thousands before it reads an answer; while one waits, the connection is not read any further.
 */
export function createTurns(): Turns {
  /** Of each connection that has a request at work, those that wait behind it. */
  const lines = new WeakMap<Socket, (() => void)[]>()
  return {
    wait(request, response, serve) {
      const { socket } = request
      const begin = () => {
        response.once('close', () => follow(socket))
        serve()
      }
      const line = lines.get(socket)
      if (!line) {
        lines.set(socket, [])
        begin()
        return
      }
      line.push(begin)
      // after what has been read is parsed: the parser resumes the socket behind each request
      if (line.length === 1) process.nextTick(() => line.length > 0 && socket.pause())
    }
  }

  function follow(socket: Socket): void {
    const line = lines.get(socket)
    const next = socket.destroyed ? undefined : line?.shift()
    if (!next) {
      lines.delete(socket)
      return
    }
    // its body may not have been read yet
    if (line?.length === 0) socket.resume()
    next()
  }
}
