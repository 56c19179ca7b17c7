import { randomBytes } from 'node:crypto'
import { Connection, jsonOf, requestText } from './connection.ts'
import { host, type Insider, openInsider } from './insider.ts'
import { interleave, type Load, load, microsNote, weighed } from './load.ts'
import { coreSecondsOf, startPeer, startService } from './processes.ts'
import type { Options, Row } from './table.ts'

/**
 * Deposits by fingerprint, `POST /deposit`: one call that ends with record, event and leaf committed.
 * Ours is everything from the socket to the answer: HTTP, token and session, parsing, keyed tags, leaf,
 * sealed openings, and the SQL. The peer runs that SQL alone, in the same transactions on the same
 * tables as the same role under the same policies, one `pg` connection a caller: the statements of a real
 * call, with new ids, each sent when the one before is answered. Afterwards both must have left the same
 * rows. Not in it: the transfer of bytes and its flushes, which no SQL stands against, and hints to other
 * processes (`NOTIFY`), which go beside it. The core's time counts the database's with either side.
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
  await capture() // the first call also asks for keys and names that are then known
  const twice = [await capture(), await capture()]
  await using peer = await startPeer('statements', { socketDir, callers: most })

  const seconds = options.quick ? 0.5 : 2
  const depositOver = (connections: Connection[]) => async (caller: number) => {
    const headers = {
      host: `api.${host}`,
      authorization: `Bearer ${person.token}`,
      'idempotency-key': randomBytes(16).toString('hex')
    }
    const answer = await connections[caller]?.ask(
      requestText('POST', '/deposit', headers, documentIn(category))
    )
    if (answer) jsonOf(answer)
  }
  const oursSpent = () => coreSecondsOf(service.pid(), service)
  const itsSpent = () => coreSecondsOf(peer.pid, service)
  const rows: Row[] = []
  // code that has just been started is not compiled yet, ours being more than the peer's
  for (const callers of [most, 1]) {
    // when they are needed: the service closes those on which nothing comes
    const opening = Array.from({ length: callers }, () => Connection.open(service.port))
    const connections = await Promise.all(opening)
    const work = depositOver(connections)
    const ours = () => load({ callers, seconds, signal: options.signal, work })
    const its = () => peer.ask<Load>({ seconds, callers, twice })
    const figures = await interleave(
      options,
      () => weighed(oursSpent, () => counted(insider, ours)),
      () => weighed(itsSpent, () => counted(insider, its))
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

/** Holds a run to what it says: as many rows in every table of a deposit as deposits were counted. */
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
