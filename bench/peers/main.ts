import { flood } from './flood.ts'
import { listenToStreams } from './listen.ts'
import { servePage } from './page.ts'
import { replayStatements } from './statements.ts'
import { serveStreams } from './streams.ts'

/**
 * A function that starts one of the programs below and returns its message handler. Each program
 * runs in its own process, started by `startPeerProcess` or `startClientProcess`. The first message
 * to the process is passed to this function as `setup`. Each later message is passed to the message
 * handler, and the handler's result is sent back.
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
