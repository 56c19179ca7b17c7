import { Connection, requestText } from './connection.ts'
import { processorTimeNote, runAlternately, runLoad, withProcessorTime } from './load.ts'
import { memoryOf, processorSecondsOf, startPeerProcess, startService } from './processes.ts'
import type { BenchOptions, ReportRow } from './table.ts'

const path = '/en/verify'
const callers = 32

/**
 * How fast a cached page is served. The peer is a `node:http` server that sends the same headers
 * and brotli bytes without looking at the request.
 */
export async function measure(options: BenchOptions): Promise<ReportRow[]> {
  await using service = await startService()
  const request = requestText('GET', path, {
    host: 'localhost',
    accept: 'text/html',
    'accept-encoding': 'gzip, deflate, br, zstd',
    'accept-language': 'en',
    'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:142.0) Gecko/20100101 Firefox/142.0'
  })
  const page = await compressedPage(service.port, request)
  await using peer = await startPeerProcess('page', page)
  const { port } = await peer.request<{ port: number }>({})
  const [ours, its] = await Promise.all([open(service.port), open(port)])

  const seconds = options.quick ? 0.5 : 2
  const run = (connections: Connection[], pid: number | undefined) => async () => {
    const before = process.cpuUsage()
    const work = async (caller: number) => {
      const answer = await connections[caller]?.request(request)
      if (answer?.body.length !== page.body.length) throw new Error('another page was answered')
    }
    const figures = await withProcessorTime(
      () => processorSecondsOf(pid, service),
      () => runLoad({ callers, seconds, signal: options.signal, work })
    )
    const { user, system } = process.cpuUsage(before)
    return { ...figures, clientBusy: (user + system) / 1e6 / seconds }
  }
  const figures = await runAlternately(options, run(ours, service.pid()), run(its, peer.pid))
  for (const connection of [...ours, ...its]) connection.close()
  return [
    {
      what: 'cached page',
      ours: figures.ours.perSecond,
      peer: figures.peer.perSecond,
      unit: '/s',
      target: { ratio: 0.8 },
      note: `${page.body.length} bytes of brotli over ${callers} connections; ${processorTimeNote(figures)}; the client's core was ${share(figures.ours.clientBusy)} busy with ours, ${share(figures.peer.clientBusy)} with the peer`
    },
    {
      what: 'memory after the pages',
      ours: memoryOf(service.pid()),
      peer: memoryOf(peer.pid),
      unit: 'MB',
      target: { atMost: 300 }
    }
  ]
}

function open(port: number): Promise<Connection[]> {
  return Promise.all(Array.from({ length: callers }, () => Connection.open(port)))
}

async function compressedPage(port: number, request: string) {
  const connection = await Connection.open(port)
  const { status, head, body } = await connection.request(request)
  connection.close()
  if (status !== 200) throw new Error(`the page answered ${status}`)
  if (!/\r\ncontent-encoding: br/i.test(head)) throw new Error('the page came as it is')
  const lines = head.split('\r\n').slice(1)
  const headers = lines.map(line => [
    line.slice(0, line.indexOf(':')),
    line.slice(line.indexOf(':') + 2)
  ])
  // node:http adds these by itself
  const own = ['date', 'connection', 'keep-alive']
  const kept = headers.filter(([name = '']) => !own.includes(name.toLowerCase()))
  return { headers: Object.fromEntries(kept) as Record<string, string>, body }
}

function share(part: number): string {
  return `${Math.round(part * 100)} %`
}
