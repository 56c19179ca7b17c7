import { listen } from './listen.ts'
import { servePage } from './page.ts'
import { rush } from './rush.ts'
import { replayStatements } from './statements.ts'
import { serveStreams } from './streams.ts'

/**
 * What the product is compared with: the barest thing that does the same; and the clients that are too
 * many for one process. The first message sets it up, every later one is a question; `startPeer` is the other end.
 */
// biome-ignore lint/suspicious/noExplicitAny: both ends of the wire are ours
type Peer = (setup: any) => Promise<(question: any) => Promise<unknown>>

const peers: Record<string, Peer> = {
  listen,
  page: servePage,
  rush,
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
