import { createServer, type ServerResponse } from 'node:http'
import { listenLocally } from '../../tests/helpers/servers/listen.ts'

/**
 * Starts a `node:http` server that keeps event streams open, several for each person. It receives
 * events by POST and writes each event to all streams of its person.
 */
export async function serveStreams(_setup: object) {
  const streams = new Map<string, ServerResponse[]>()
  const server = createServer(async (request, response) => {
    if (request.method === 'POST') {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      // as: the benchmark posts this type
      const events = JSON.parse(Buffer.concat(chunks).toString()) as [string, string][]
      for (const [person, text] of events) {
        for (const stream of streams.get(person) ?? []) stream.write(text)
      }
      response.end()
      return
    }
    const person = request.headers.authorization ?? ''
    streams.set(person, [...(streams.get(person) ?? []), response])
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
    response.write('event: tick\ndata: {}\n\n')
  })
  const port = await listenLocally(server)
  return async () => ({ port })
}
