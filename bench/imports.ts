import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { createGroup } from '../src/contract/groups.ts'
import {
  checkImport,
  createImport,
  getImport,
  importLimits,
  runImport,
  storeImportRows,
  undoImport
} from '../src/contract/imports.ts'
import { getOwnAccount } from '../src/contract/users.ts'
import { postgresNiceDifference, socketConnectionConfig } from '../src/server/db/postgres.ts'
import { lowerPriority } from '../src/server/db/process-priority.ts'
import { type Client, signUpAt } from '../tests/helpers/client.ts'
import { beside, medians } from './load.ts'
import { startService } from './processes.ts'
import type { BenchOptions, ReportRow } from './table.ts'

/**
 * Imports of 100,000 new people who join one or two groups. The peer is two `COPY` statements in
 * one transaction that write the same people and check nothing. During each step, another company
 * calls `GET /user`, whose time is measured too. Everything is removed again, so that the tables
 * always have the same size.
 */
export async function measure({ runs, quick, say, signal }: BenchOptions): Promise<ReportRow[]> {
  const count = quick ? 2000 : importLimits.rows
  await using service = await startService({ DEMO: 'true' })
  const sql = new pg.Client(
    socketConnectionConfig(await service.socketDir(), 'vidimus', 'postgres')
  )
  await sql.connect()
  const { rows: peer } = await sql.query<{ pid: number }>('select pg_backend_pid() as pid')
  // the same priority as the service gives to its own connections
  for (const { pid } of peer) await lowerPriority(pid, postgresNiceDifference)
  try {
    const ada = await signUpAt(service.port, 'localhost')
    const other = await signUpAt(service.port, 'demo.localhost')
    await sql.query(`update "user" set permissions = '{admin}' where id = $1`, [ada.id])
    for (const name of ['Readers', 'Writers']) await ada.call(createGroup, { name })
    const copy = await prepareCopy(sql, join(service.dataDir, 'pg'))
    const idle = await beside(account(other), () => sleep(3000))
    const all: Record<string, number>[] = []
    for (let run = 0; run < runs; run++) {
      signal.throwIfAborted()
      say(`import ${run + 1} of ${runs}`)
      const figures = await importOnce(ada, other, count, copy)
      all.push({ ...figures, idle: idle.p99Ms })
    }
    return rowsOf(medians(all))
  } finally {
    await sql.end()
  }
}

function rowsOf(figures: Record<string, number>): ReportRow[] {
  const of = (name: string) => figures[name] ?? Number.NaN
  const rates = ['store', 'check', 'run', 'undo'].map(step => ({
    what: `rows of an import, ${step}`,
    ours: of(step),
    unit: '/s',
    ...(step === 'run' ? { peer: of('copy'), target: { ratio: 0.3 } } : {})
  }))
  const waits = ['check', 'run', 'undo'].map(step => ({
    what: `GET /user of another company, p99, beside its ${step}`,
    ours: of(`beside ${step}`),
    peer: of('idle'),
    unit: 'ms'
  }))
  return [...rates, ...waits]
}

const account = (other: Client) => () => other.call(getOwnAccount, {})

type Copy = Awaited<ReturnType<typeof prepareCopy>>

async function importOnce(
  ada: Client,
  other: Client,
  count: number,
  copy: Copy
): Promise<Record<string, number>> {
  await Promise.all([ada.renew(), other.renew()])
  const started = performance.now()
  const { id } = await ada.call(createImport, {
    file_name: 'people.csv',
    rows: count,
    bytes: count * 60,
    send_invitations: false
  })
  const mark = Date.now()
  for (let at = 0; at < count; at += importLimits.rowsPerCall) {
    const rows = Array.from({ length: Math.min(importLimits.rowsPerCall, count - at) }, (_, n) => ({
      email: `p${mark}-${at + n}@example.com`,
      username: `Élodie Durand ${at + n}`,
      groups: n % 2 === 0 ? ['Readers'] : ['Readers', 'Writers'],
      locale: 'fr'
    }))
    await ada.call(storeImportRows, { id, from: at + 1, rows })
  }
  const stored = performance.now() - started
  const step = (begin: () => Promise<unknown>, state: string) =>
    beside(account(other), async () => {
      await begin()
      for (;;) {
        const item = await ada.call(getImport, { id })
        if (item.state === state) return
        if (item.failure !== null) throw new Error(`the import is ${item.state}: ${item.failure}`)
        await sleep(50)
      }
    })
  const check = await step(() => ada.call(checkImport, { id }), 'checked')
  const run = await step(() => ada.call(runImport, { id, skip_refused: false }), 'done')
  await copy.take(id)
  const undo = await step(() => ada.call(undoImport, { id }), 'undone')
  const copied = await copy.write(count, write => beside(account(other), write))
  const perSecond = (ms: number) => count / (ms / 1000)
  return {
    store: perSecond(stored),
    check: perSecond(check.ms),
    run: perSecond(run.ms),
    undo: perSecond(undo.ms),
    copy: perSecond(copied.ms),
    'beside check': check.p99Ms,
    'beside run': run.p99Ms,
    'beside undo': undo.p99Ms
  }
}

async function prepareCopy(sql: pg.Client, folder: string) {
  const { rows } = await sql.query<{ names: string }>(
    `select string_agg(quote_ident(column_name), ', ' order by ordinal_position) as names
       from information_schema.columns
      where table_name = 'user' and table_schema = 'public' and is_generated = 'NEVER'`
  )
  const columns = rows[0]?.names
  const [people, members] = [join(folder, 'people.copy'), join(folder, 'members.copy')]
  return {
    async take(id: string): Promise<void> {
      const created = `(select user_id from import_row where import_id = '${id}')`
      await sql.query(`copy (select ${columns} from "user" where id in ${created}) to '${people}'`)
      await sql.query(`copy (select * from group_user where user_id in ${created}) to '${members}'`)
    },
    /** Only the `COPY` is passed to `beside`, which measures it. */
    async write(count: number, beside: (work: () => Promise<void>) => Promise<{ ms: number }>) {
      const copied = await beside(async () => {
        await sql.query('begin')
        const { rowCount } = await sql.query(`copy "user" (${columns}) from '${people}'`)
        await sql.query(`copy group_user from '${members}'`)
        await sql.query('commit')
        if (rowCount !== count) throw new Error(`COPY wrote ${rowCount} of ${count} people`)
      })
      // without figures about the new rows, the first deletion would take minutes
      await sql.query('analyze "user", group_user')
      const written = `(select id from "user" where email ~ '^p[0-9]+-[0-9]+@example[.]com$')`
      await sql.query(`delete from group_user where user_id in ${written}`)
      await sql.query(`delete from "user" where email ~ '^p[0-9]+-[0-9]+@example[.]com$'`)
      return copied
    }
  }
}
