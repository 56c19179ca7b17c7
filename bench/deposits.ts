import { randomBytes } from 'node:crypto'
import { Connection, jsonOf, requestText } from './connection.ts'
import {
  type LoadFigures,
  processorTimeNote,
  runAlternately,
  runLoad,
  withProcessorTime
} from './load.ts'
import { processorSecondsOf, startPeerProcess, startService } from './processes.ts'
import {
  type CapturedStatement,
  companyHost,
  openServiceInternals,
  type ServiceInternals
} from './service-internals.ts'
import type { BenchOptions, ReportRow } from './table.ts'

/**
 * Deposits by fingerprint: one call that commits record, event and leaf. The peer runs only the SQL
 * of that call, in the same transactions, with the same role and policies. Neither uploads files
 * nor notifies other processes. The processor time of both includes that of the database.
 */
export async function measure(options: BenchOptions): Promise<ReportRow[]> {
  const most = 16
  await using service = await startService()
  await using internals = await openServiceInternals(service)
  const { socketDir } = internals
  await internals.owner.query("update category set store = 'fingerprint'")
  const { rows: categories } = await internals.owner.query('select id from category limit 1')
  const category = categories[0].id
  const [person] = await internals.addPeople(1)
  if (!person) throw new Error('nobody deposits')

  const capture = () =>
    internals.statementsOf({ path: '/deposit', token: person.token, body: documentIn(category) })
  await capture() // the first call also loads keys and names that stay in memory
  let twice = [await capture(), await capture()]
  // a call may also read whether hosts have changed, which happens at most once a second
  while (textsOf(twice[0]) !== textsOf(twice[1])) twice = [await capture(), await capture()]
  await using peer = await startPeerProcess('statements', { socketDir, callers: most })

  const seconds = options.quick ? 0.5 : 2
  const depositOver = (connections: Connection[]) => async (caller: number) => {
    const headers = {
      host: `api.${companyHost}`,
      authorization: `Bearer ${person.token}`,
      'idempotency-key': randomBytes(16).toString('hex')
    }
    const answer = await connections[caller]?.request(
      requestText('POST', '/deposit', headers, documentIn(category))
    )
    if (answer) jsonOf(answer)
  }
  const oursSpent = () => processorSecondsOf(service.pid(), service)
  const itsSpent = () => processorSecondsOf(peer.pid, service)
  const rows: ReportRow[] = []
  // warm-up: fresh code is not compiled yet, and the product has more code than the peer
  for (const callers of [most, 1]) {
    // opened just before use, because the service closes idle connections
    const opening = Array.from({ length: callers }, () => Connection.open(service.port))
    const connections = await Promise.all(opening)
    const work = depositOver(connections)
    const ours = () => runLoad({ callers, seconds, signal: options.signal, work })
    const its = () => peer.request<LoadFigures>({ seconds, callers, twice })
    const figures = await runAlternately(
      options,
      () => withProcessorTime(oursSpent, () => counted(internals, ours)),
      () => withProcessorTime(itsSpent, () => counted(internals, its))
    )
    rows.push({
      what: `deposits, ${callers} ${callers === 1 ? 'caller' : 'callers'}`,
      ours: figures.ours.perSecond,
      peer: figures.peer.perSecond,
      unit: '/s',
      target: { ratio: callers === 1 ? 0.45 : 0.6 },
      note: processorTimeNote(figures)
    })
    for (const connection of connections) connection.close()
  }
  return rows
}

function textsOf(statements: CapturedStatement[] = []): string {
  return statements.map(({ text }) => text).join(';')
}

export function documentIn(category: string) {
  const digest = randomBytes(32).toString('hex')
  return {
    name: 'Contract 2026.pdf',
    size: 184_320,
    media_type: 'application/pdf',
    original: digest,
    stored: digest,
    category,
    again: true
  }
}

const tables = [
  'deposit',
  'deposit_opening',
  'log_leaf',
  'lookup_tag',
  'event',
  'request',
  'idempotency'
]

// throws unless each table in `tables` has grown by the number of deposits that `run` returns
async function counted(
  internals: ServiceInternals,
  run: () => Promise<LoadFigures>
): Promise<LoadFigures> {
  const before = await rowCounts(internals)
  const figures = await run()
  const after = await rowCounts(internals)
  for (const table of tables) {
    const more = (after[table] ?? 0) - (before[table] ?? 0)
    if (more !== figures.done)
      throw new Error(`${figures.done} deposits left ${more} rows in ${table}`)
  }
  return figures
}

async function rowCounts({ owner }: ServiceInternals): Promise<Record<string, number>> {
  const columns = tables.map(table => `(select count(*)::int from ${table}) as ${table}`)
  const { rows } = await owner.query(`select ${columns.join(', ')}`)
  return rows[0]
}
