import { flood } from './flood.ts'
import { listenToStreams } from './listen.ts'
import { servePage } from './page.ts'
import { replayStatements } from './statements.ts'
import { serveStreams } from './streams.ts'

/**
 * A program in a process of its own: a minimal program with which the product is compared, or a
 * client that would disturb the measurement in the main process. `startPeer` starts it and sends it
 * messages. The first message contains its setup, and each later one calls the function that it
 * returned.
 */
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
