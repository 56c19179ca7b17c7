import { createServer, type ServerResponse } from 'node:http'
import { listenLocally } from '../../tests/helpers/servers/listen.ts'
import { flood } from './flood.ts'
import { listenToStreams } from './listen.ts'
import { replayStatements } from './statements.ts'

// each has a process: its first message is `setup`, and the handler answers the others
// biome-ignore lint/suspicious/noExplicitAny: both ends of the wire are ours
type Peer = (setup: any) => Promise<(question: any) => Promise<unknown>>

const peers: Record<string, Peer> = {
  listen: listenToStreams,
  page: servePage,
  flood,
  statements: replayStatements,
  streams: serveStreams
}
const start = peers[process.argv[2] ?? '']
if (!start) throw new Error(`the peers are ${Object.keys(peers).join(', ')}`)

let answer: Awaited<ReturnType<Peer>> | undefined
process.on('disconnect', () => process.exit())
process.on('message', async message => {
  try {
    if (answer) process.send?.({ result: await answer(message) })
    else {
      answer = await start(message)
      process.send?.({})
    }
  } catch (error) {
    process.send?.({ error: error instanceof Error ? error.stack : String(error) })
  }
})

// answers every request with the same headers and bytes
async function servePage(page: { headers: Record<string, string>; body: Uint8Array }) {
  const server = createServer((_request, response) => {
    response.writeHead(200, page.headers)
    response.end(page.body)
  })
  const port = await listenLocally(server)
  return async () => ({ port })
}

// keeps several event streams open for each person, and writes each posted event to them
async function serveStreams(_setup: object) {
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
