import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { createGroup } from '../../src/contract/groups.ts'
import {
  checkImport,
  createImport,
  deleteImport,
  type Import,
  importLimits,
  runImport,
  storeImportRows,
  undoImport
} from '../../src/contract/imports.ts'
import { openDatabase } from '../../src/server/db/open.ts'
import { socketConnectionConfig } from '../../src/server/db/postgres.ts'
import { toCompanyId } from '../../src/server/db/scope.ts'
import { checkAuditLog } from '../../src/server/domain/audit/audit-check.ts'
import { type Client, fetchAt, signUpAt } from '../../tests/helpers/client.ts'
import { createRandom } from '../../tests/helpers/random.ts'
import { makeServiceProcess, type ServiceProcess } from '../../tests/helpers/service.ts'

/** Two processes of the product on one database, and an administrator. Only `one` runs. */
export type ImportingServices = Awaited<ReturnType<typeof startImportingServices>>

export async function startImportingServices() {
  await using owned = new AsyncDisposableStack()
  // the files of registers also come from an address
  const settings = { DEMO: 'false', REGISTERS_ON_LOOPBACK: 'true' }
  const one = owned.use(await makeServiceProcess(settings))
  const other = owned.use(await makeServiceProcess({ ...settings, DATA_DIR: one.dataDir }))
  await one.start()
  const ada = await signUpAt(one.port, 'localhost')
  await one.query(`update "user" set permissions = '{admin}'`)
  const kept = owned.move()
  return { one, other, ada, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

interface Options {
  seed: number
  rounds: number
  rows: number
  /** The steps that are killed in each round. */
  steps?: ('check' | 'run' | 'undo')[]
  onKill?: (text: string) => void
}

// rows that change existing people; all others create people
const knownCount = 50
// on the slowest machine
const patienceMs = 240_000

/**
 * C-01 with imports. Each round kills a process during the check, the run and the undo; after the
 * first kill it is restarted, after the others another process takes over before the lease ends.
 * The run must add exactly the people of the file, and the undo restore those from before.
 */
export async function killDuringImports(
  { one, other, ada }: ImportingServices,
  { seed, rounds, rows, steps = ['check', 'run', 'undo'], onKill = () => undefined }: Options
) {
  const random = createRandom(seed)
  const faults: string[] = []
  const waits: number[] = []
  await using database = await openPeople(await one.socketDir())
  await database.prepare()
  for (const name of ['Readers', 'Writers']) await ada.call(createGroup, { name })

  for (let round = 1; round <= rounds; round++) {
    await ada.renew()
    const before = await database.people()
    const id = await storeRows(ada, rows, `${seed}-${round}`)
    const fresh = rows - knownCount

    if (steps.includes('check')) {
      const check = await killWhile(one, via => ada.call(checkImport, { id }, via))
      await one.start()
      await check.taken()
    } else await ada.call(checkImport, { id })
    await database.until(id, ({ state }) => state === 'checked')
    expectSame('the check', (await database.read(id)).counts, { new: fresh, changed: knownCount })

    const run = { id, skip_refused: false }
    if (steps.includes('run')) await killOther(via => ada.call(runImport, run, via))
    else await ada.call(runImport, run)
    await database.until(id, ({ state }) => state === 'done')
    const expected = { created: fresh, changed: knownCount, differs: false }
    expectSame('the run', (await database.read(id)).result, expected)
    const after = await database.people()
    expectSame('the run', after, {
      count: before.count + fresh,
      members: before.members + rows + Math.ceil(rows / 2)
    })

    if (steps.includes('undo')) await killOther(via => ada.call(undoImport, { id }, via))
    else await ada.call(undoImport, { id })
    await database.until(id, ({ state }) => state === 'undone')
    const undone = { removed: fresh, restored: knownCount, kept: 0 }
    expectSame('the undo', (await database.read(id)).undone, undone)
    expectSame('the undo', await database.people(), before)
    expectSame('the audit log', await database.entries(id), { runs: 1, undos: 1 })
    await ada.renew()
    await ada.call(deleteImport, { id })
  }
  const broken = await database.findBrokenEntry()
  if (broken) faults.push(`the audit log is broken: ${broken}`)
  return { seed, kills: rounds * steps.length, longest_wait_ms: Math.max(...waits), faults }

  async function killOther(begin: Parameters<typeof killWhile>[1]): Promise<void> {
    await other.start()
    const step = await killWhile(other, begin)
    await step.taken()
  }

  async function killWhile(
    service: ServiceProcess,
    begin: (more: { fetch: typeof fetch }) => Promise<Import>
  ) {
    const { id, state } = await begin({ fetch: fetchAt(service.port) })
    const { progress } = await database.until(id, now => now.progress > 0 || now.state !== state)
    await sleep(random.integer(0, Math.floor(rows / 100)))
    await service.kill()
    const killed = performance.now()
    const left = await database.read(id)
    if (left.state !== state) faults.push(`the import was no longer ${state} when it was killed`)
    onKill(`killed while ${state}, behind row ${progress}`)
    return {
      /** Waits until another process continues the step. */
      async taken(): Promise<void> {
        const next = await database.until(
          id,
          now => now.generation > left.generation || now.state !== state
        )
        waits.push(Math.round(performance.now() - killed))
        if (next.read_at > left.leased_until) faults.push(`${state} waited for the lease to end`)
      }
    }
  }

  function expectSame(what: string, found: object | null, expected: object): void {
    for (const [name, value] of Object.entries(expected)) {
      // as: one member of an object of figures
      const is = (found as Record<string, unknown> | null)?.[name]
      if (is !== value) faults.push(`${what} left ${name} ${is} instead of ${value}`)
    }
  }
}

async function storeRows(ada: Client, count: number, tag: string): Promise<string> {
  const { id } = await ada.call(createImport, {
    file_name: 'people.csv',
    rows: count,
    bytes: count * 40,
    send_invitations: false
  })
  for (let at = 0; at < count; at += importLimits.rowsPerCall) {
    const rows = Array.from({ length: Math.min(importLimits.rowsPerCall, count - at) }, (_, n) => {
      const number = at + n
      const isKnown = number < knownCount
      return {
        email: isKnown ? `known-${number}@example.com` : `p${number}-${tag}@example.com`,
        username: isKnown ? `Renamed ${tag}` : `Élodie Durand ${number}`,
        groups: number % 2 === 0 ? ['Readers', 'Writers'] : ['Readers']
      }
    })
    await ada.call(storeImportRows, { id, from: at + 1, rows })
  }
  return id
}

async function openPeople(socketDir: string) {
  const sql = new pg.Client(socketConnectionConfig(socketDir, 'vidimus', 'postgres'))
  await sql.connect()

  const first = async <Row extends object>(text: string, values: unknown[] = []) => {
    const { rows } = await sql.query<Row>(text, values)
    const [row] = rows
    if (!row) throw new Error('the database has no such row')
    return row
  }
  const read = (id: string) =>
    first<{
      state: string
      progress: number
      generation: number
      leased_until: Date
      counts: object | null
      result: object | null
      undone: object | null
      read_at: Date
    }>('select *, clock_timestamp() as read_at from import where id = $1', [id])

  return {
    read,
    /** Adds the people whom the imports will change. */
    prepare: () =>
      sql.query(
        `insert into "user" (company_id, id, email, username, tokens_valid_after, created_at)
         select (select company_id from "user" limit 1), gen_random_uuid(), 'known-' || n || '@example.com',
                'Known ' || n, now(), now()
           from generate_series(0, ${knownCount - 1}) n`
      ),
    async until(id: string, isReached: (now: Awaited<ReturnType<typeof read>>) => boolean) {
      for (const end = Date.now() + patienceMs; Date.now() < end; await sleep(5)) {
        const now = await read(id)
        if (isReached(now)) return now
      }
      throw new Error(`the import is still ${JSON.stringify(await read(id))}`)
    },
    people: () =>
      first<{ count: number; members: number; digest: string }>(
        `select count(*)::int as count, sum(cardinality(groups))::int as members,
                md5(string_agg(concat_ws(' ', email, username, locale, groups), ',' order by email))
                  as digest
           from (
             select email, username, locale, array(
               select group_id from group_user where user_id = "user".id order by 1
             ) as groups from "user"
           ) people`
      ),
    entries: (id: string) =>
      first<{ runs: number; undos: number }>(
        `select count(*) filter (where action = 'import.run')::int as runs,
                count(*) filter (where action = 'import.undo')::int as undos
           from audit_entry where target_id = $1`,
        [id]
      ),
    async findBrokenEntry(): Promise<string | undefined> {
      await using db = await openDatabase({ socketDir, database: 'vidimus' })
      const { id } = await first<{ id: string }>('select id from company')
      return (await checkAuditLog({ db }, toCompanyId(id))).broken?.reason
    },
    async [Symbol.asyncDispose]() {
      await sql.end()
    }
  }
}
