import { randomBytes } from 'node:crypto'
import { Connection, jsonOf, requestText } from './connection.ts'
import { host, type Insider, openInsider } from './insider.ts'
import { interleave, type Load, load, microsNote, withCoreTime } from './load.ts'
import { coreSecondsOf, startPeer, startService } from './processes.ts'
import type { Options, Row } from './table.ts'

/**
 * Measures deposits by fingerprint: `POST /deposit`, one call that commits record, event and leaf.
 * The product's time covers everything from the socket to the response: HTTP, token and session,
 * parsing, keyed tags, leaf, sealed openings and the SQL.
 * The peer runs only that SQL: in the same transactions on the same tables, with the same role and
 * policies, on one `pg` connection per caller. It repeats the statements of a real call with new
 * ids and sends each one after the answer to the previous one. Both must leave the same number of
 * rows.
 * Two things are not measured. The transfer of bytes and its flushes have no counterpart in SQL,
 * and other processes are not notified (`NOTIFY`). The processor time includes the database's on
 * both sides.
 */
export async function measure(options: Options): Promise<Row[]> {
  const most = 16
  await using service = await startService()
  await using insider = await openInsider(service)
  const { socketDir } = insider
  await insider.owner.query("update category set store = 'fingerprint'")
  const { rows: categories } = await insider.owner.query('select id from category limit 1')
  const category = categories[0].id
  const [person] = await insider.addPeople(1)
  if (!person) throw new Error('nobody deposits')

  const capture = () =>
    insider.statementsOf({ path: '/deposit', token: person.token, body: documentIn(category) })
  await capture() // the first call also loads keys and names that stay in memory
  const twice = [await capture(), await capture()]
  await using peer = await startPeer('statements', { socketDir, callers: most })

  const seconds = options.quick ? 0.5 : 2
  const depositOver = (connections: Connection[]) => async (caller: number) => {
    const headers = {
      host: `api.${host}`,
      authorization: `Bearer ${person.token}`,
      'idempotency-key': randomBytes(16).toString('hex')
    }
    const answer = await connections[caller]?.request(
      requestText('POST', '/deposit', headers, documentIn(category))
    )
    if (answer) jsonOf(answer)
  }
  const oursSpent = () => coreSecondsOf(service.pid(), service)
  const itsSpent = () => coreSecondsOf(peer.pid, service)
  const rows: Row[] = []
  // warm-up: fresh code is not compiled yet, and the product has more code than the peer
  for (const callers of [most, 1]) {
    // opened just before use, because the service closes idle connections
    const opening = Array.from({ length: callers }, () => Connection.open(service.port))
    const connections = await Promise.all(opening)
    const work = depositOver(connections)
    const ours = () => load({ callers, seconds, signal: options.signal, work })
    const its = () => peer.request<Load>({ seconds, callers, twice })
    const figures = await interleave(
      options,
      () => withCoreTime(oursSpent, () => counted(insider, ours)),
      () => withCoreTime(itsSpent, () => counted(insider, its))
    )
    rows.push({
      what: `deposits, ${callers} ${callers === 1 ? 'caller' : 'callers'}`,
      ours: figures.ours.perSecond,
      peer: figures.peer.perSecond,
      unit: '/s',
      aim: { ratio: 0.7 },
      note: microsNote(figures)
    })
    for (const connection of connections) connection.close()
  }
  return rows
}

function documentIn(category: string) {
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

/**
 * Runs `run`. Throws unless each table of a deposit has as many new rows as deposits were counted.
 */
async function counted(insider: Insider, run: () => Promise<Load>): Promise<Load> {
  const before = await rowCounts(insider)
  const figures = await run()
  const after = await rowCounts(insider)
  for (const table of tables) {
    const more = (after[table] ?? 0) - (before[table] ?? 0)
    if (more !== figures.done)
      throw new Error(`${figures.done} deposits left ${more} rows in ${table}`)
  }
  return figures
}

async function rowCounts({ owner }: Insider): Promise<Record<string, number>> {
  const columns = tables.map(table => `(select count(*)::int from ${table}) as ${table}`)
  const { rows } = await owner.query(`select ${columns.join(', ')}`)
  return rows[0]
}
