import { randomUUID } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pool } from 'pg'
import { createDataSource } from '../../../src/contract/data-sources.ts'
import {
  type CsvDialectInput,
  createRegisterImport,
  getRegisterImport,
  type RegisterImport,
  runRegisterImport,
  undoRegisterImport
} from '../../../src/contract/register-imports.ts'
import type { RegisterColumn } from '../../../src/contract/registers.ts'
import { openRow } from '../../../src/server/domain/registers/register-rows.ts'
import { makeApp, type TestPerson } from '../app.ts'
import { makeAdmins } from '../matrix.ts'
import { csvDialect, diplomaColumns } from '../registers.ts'

interface Options {
  mode?: RegisterImport['mode']
  columns?: RegisterColumn[]
  dialect?: Partial<CsvDialectInput>
}

/** An app that imports registers in the background, and `ada`, who administers its company. */
export async function makeRegisterStage(options: Parameters<typeof makeApp>[0] = {}) {
  const app = await makeApp({ runsImports: true, sendsMails: false, ...options })
  const signedUp = await app.signUp()
  const ada: TestPerson = {
    ...signedUp,
    call: (endpoint, input, more) => signedUp.call(endpoint, input, { token: ada.token, ...more })
  }
  await makeAdmins(app.owner)

  const makeSource = async () =>
    (await ada.call(createDataSource, { name: `Register ${randomUUID()}` })).id

  /** Creates an import whose bytes are not sent. */
  async function begin(
    source: string,
    file: string | Uint8Array,
    { mode = 'replace', columns = diplomaColumns, dialect = {} }: Options = {}
  ) {
    const bytes = Buffer.from(file)
    const made = await ada.call(createRegisterImport, {
      ...{ id: source, mode, file_name: 'diplomas.csv', bytes: bytes.length },
      ...{ dialect: { ...csvDialect, ...dialect }, columns }
    })
    return { id: source, importId: made.import.id, upload: made.upload ?? '', bytes }
  }

  async function send(upload: string, bytes: Uint8Array): Promise<void> {
    const { status, body } = await app.patch(ada, upload, bytes)
    if (status !== 204) throw new Error(`PATCH answered ${status}: ${body}`)
  }

  /** Creates an import, sends its bytes, and waits for the dry run. */
  async function check(source: string, file: string | Uint8Array, given: Options = {}) {
    const { upload, bytes, ...ids } = await begin(source, file, given)
    await send(upload, bytes)
    return settled(ids)
  }

  /** Creates an import whose file is fetched from an address. */
  async function fetchFrom(source: string, url: string) {
    const made = await ada.call(createRegisterImport, {
      ...{ id: source, mode: 'replace', url, dialect: csvDialect, columns: diplomaColumns }
    })
    return { id: source, importId: made.import.id }
  }

  async function settled(ids: { id: string; importId: string }): Promise<RegisterImport> {
    for (let tries = 0; tries < 3000; tries++) {
      const found = await ada.call(getRegisterImport, ids)
      if (found.state !== 'reading') return found
      await sleep(10)
    }
    throw new Error(`import ${ids.importId} is still read`)
  }

  const run = ({ id, data_source }: RegisterImport, skip_refused = false) =>
    ada.call(runRegisterImport, { id: data_source, importId: id, skip_refused })

  const undo = ({ id, data_source }: RegisterImport) =>
    ada.call(undoRegisterImport, { id: data_source, importId: id })

  /** The current version: its number, its rows by their tags, and their references. */
  async function stateOf(source: string) {
    const keys = await app.deps.companyKeys.open(ada.company)
    const { rows: found } = await app.owner.query(
      `select s.number, r.segment, r.tag, r.sealed from data_source s left join register_row r
           on s.company_id = r.company_id and s.id = r.source_id and r.segment = any (s.segments)
        where s.id = $1`,
      [source]
    )
    const place = { company_id: ada.company, source_id: source }
    const opened = found
      .filter(({ tag }) => tag !== null)
      .map(({ segment, ...row }) => {
        const { cells } = openRow(keys, { ...place, segment }, row)
        return { tag: row.tag.toString('hex'), cells }
      })
    return {
      number: Number(found[0].number),
      rows: new Map(opened.map(({ tag, cells }) => [tag, JSON.stringify(cells)])),
      references: opened.map(({ cells }) => String(cells.number)),
      cells: opened.map(({ cells }) => cells)
    }
  }

  /** Of each row of the current version, the reference and the degree. */
  const rowsOf = async (source: string) =>
    (await stateOf(source)).cells.map(({ number, degree }) => `${number} ${degree}`).toSorted()

  async function storedRows(source: string): Promise<number> {
    const { rows } = await app.owner.query(
      'select count(*)::int as count from register_row where source_id = $1',
      [source]
    )
    return rows[0].count
  }

  /** Of files that are on their way: uploads in the database, and files on the disk. */
  async function staged(): Promise<number> {
    const { rows } = await app.owner.query(
      `select count(*)::int as count from upload where purpose = 'register' and state <> 'settled'`
    )
    const folder = join(app.deps.blobs.stagingDirectory, ada.company)
    return rows[0].count + (await readdir(folder).catch(() => [])).length
  }

  /** Sessions end in the meantime. */
  async function passHours(hours: number): Promise<void> {
    app.wait(hours * 3_600)
    ada.token = await app.signIn(ada)
  }

  return {
    ...{ app, ada, makeSource, begin, send, check, fetchFrom, settled, run, undo },
    ...{ stateOf, rowsOf, storedRows, staged, passHours },
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose]()
  }
}

/**
 * Returns the tables that have a row with one of the texts or bytes, in the clear or as a dump shows
 * bytes: in hexadecimal or Base64.
 */
export async function tablesWith(
  owner: Pool,
  secrets: readonly (string | Buffer)[]
): Promise<string[]> {
  const forms = secrets.flatMap(secret => {
    const bytes = Buffer.from(secret)
    // without the last group, which depends on what follows
    const base64 = bytes.toString('base64').slice(0, Math.floor(bytes.length / 3) * 4)
    const shown = [bytes.toString('hex'), base64, ...(typeof secret === 'string' ? [secret] : [])]
    return shown.map(form => `%${form.replaceAll(/[%_\\]/g, '\\$&')}%`)
  })
  const { rows: tables } = await owner.query(
    `select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`
  )
  const found: string[] = []
  for (const { relname } of tables) {
    const { rows } = await owner.query(
      `select from "${relname}" as t where t::text ilike any ($1) limit 1`,
      [forms]
    )
    if (rows.length > 0) found.push(relname)
  }
  return found
}
