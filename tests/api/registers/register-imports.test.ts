import { createHash, randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { sql } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { listAuditEntries } from '../../../src/contract/audit.ts'
import {
  getDataSource,
  listRegisterVersions,
  updateDataSource
} from '../../../src/contract/data-sources.ts'
import { registerLimits } from '../../../src/contract/kit/limits.ts'
import {
  deleteRegisterImport,
  getRegisterImport,
  listRefusedRows,
  listRegisterImports,
  runRegisterImport,
  undoRegisterImport
} from '../../../src/contract/register-imports.ts'
import { appendLeaf, emptyTree, rootOf } from '../../../src/core/evidence/merkle-tree.ts'
import { inCompany } from '../../../src/server/db/scope.ts'
import {
  countRegisterRows,
  endVersions,
  eraseUnneededRows,
  undoImport
} from '../../../src/server/domain/registers/register-versions.ts'
import { workOnRegisters } from '../../../src/server/domain/registers/register-work.ts'
import { deleteExpiredRowsJob, endIdleUploadsJob } from '../../../src/server/jobs/jobs.ts'
import { makeApiKey } from '../../helpers/cases.ts'
import { makeRegisterStage, tablesWith } from '../../helpers/registers/register-imports.ts'
import { csvDialect, diplomaColumns, fileColumns } from '../../helpers/registers.ts'

const stage = await makeRegisterStage()
const { app, ada, makeSource, begin, check, settled, run, undo } = stage
const { rowsOf, storedRows, staged, passHours } = stage
afterAll(() => stage[Symbol.asyncDispose]())

/** As the tree of the log has it, which computes it in another way. */
async function expectRootsOfRows(source: string): Promise<void> {
  const { rows: segments } = await app.owner.query(
    `select rows, root, array(
       select row_hash from register_row r where r.company_id = s.company_id
         and r.source_id = s.source_id and r.segment = s.number order by r.number) as hashes
     from register_segment s where source_id = $1 and not erased`,
    [source]
  )
  expect(segments.length).toBeGreaterThan(0)
  for (const { rows, root, hashes } of segments) {
    const tree = hashes.reduce(appendLeaf, emptyTree)
    expect([tree.size, Buffer.from(rootOf(tree))]).toEqual([rows, root])
  }
}

const header = 'number,name,born,degree\n'
const first = `${header}D-1,Vale,2001-02-03,Physics\nD-7,Noor,2000-01-01,Law\n`

test('a file is checked, run, changed, and each step can be undone', async () => {
  const source = await makeSource()
  const one = await check(source, first)
  expect(one).toMatchObject({
    state: 'checked',
    rows: 2,
    counts: { new: 2, changed: 0, unchanged: 0, removed: 0, refused: 0 },
    warnings: [],
    failure: null,
    created_by: 'Ada Lovelace'
  })
  expect(await rowsOf(source)).toEqual([])
  expect(await run(one)).toMatchObject({ state: 'done', version: 1, undoable: true })
  expect(await rowsOf(source)).toEqual(['D-1 Physics', 'D-7 Law'])

  const two = await check(
    source,
    `${header}D-1,vale,2001-02-03,Chemistry\nD-9,Ito,1999-12-31,Art\n`
  )
  expect(two.counts).toEqual({ new: 1, changed: 1, unchanged: 0, removed: 1, refused: 0 })
  expect(await run(two)).toMatchObject({ version: 2 })
  expect(await rowsOf(source)).toEqual(['D-1 Chemistry', 'D-9 Art'])

  const added = await check(
    source,
    `${header}D-9,Ito,1999-12-31,Art\nD-1,Vale,2001-02-03,Music\nD-3,Roux,1998-05-05,Law\n`,
    { mode: 'append' }
  )
  expect(added.counts).toEqual({ new: 1, changed: 0, unchanged: 1, removed: 0, refused: 1 })
  await expect(run(added)).rejects.toMatchObject({ code: 'import_refused_rows' })
  expect(await run(added, true)).toMatchObject({ version: 3 })
  expect(await rowsOf(source)).toEqual(['D-1 Chemistry', 'D-3 Law', 'D-9 Art'])
  const { rows: refused } = await ada.call(listRefusedRows, { id: source, importId: added.id })
  expect(refused).toEqual([
    { row: 2, reasons: [{ code: 'exists' }], cells: ['D-1', '', '', 'Music'] }
  ])

  const more = await check(source, `${header}D-5,Sol,1997-01-01,Law\n`, { mode: 'append' })
  await run(more)
  // the rows above it stay
  expect(await undo(added)).toMatchObject({ state: 'undone', undoable: false })
  expect(await rowsOf(source)).toEqual(['D-1 Chemistry', 'D-5 Law', 'D-9 Art'])
  await expect(undo(two)).rejects.toMatchObject({ code: 'import_state' })
  await undo(more)
  expect(await rowsOf(source)).toEqual(['D-1 Chemistry', 'D-9 Art'])
  const { current } = await ada.call(getDataSource, { id: source })
  expect(current).toMatchObject({ number: 6, mode: 'undo', rows: 2, removed: 1 })
  await expectRootsOfRows(source)
})

test('a file that changes nothing makes no version, and its rows are erased', async () => {
  const source = await makeSource()
  await run(await check(source, first))
  const again = await check(source, first)
  expect(again.counts).toEqual({ new: 0, changed: 0, unchanged: 2, removed: 0, refused: 0 })
  expect(await run(again)).toMatchObject({ state: 'done', version: null, undoable: false })
  const { current, checked } = await ada.call(getDataSource, { id: source })
  expect(current?.number).toBe(1)
  expect(checked).not.toBeNull()
  await expect.poll(() => storedRows(source), { timeout: 20_000 }).toBe(2)
})

test('a check older than the newest version cannot run', async () => {
  const source = await makeSource()
  const [one, two] = [
    await check(source, first),
    await check(source, `${header}D-2,Roux,1998-05-05,Law\n`)
  ]
  await run(one)
  for (const { id: importId } of [one, two]) {
    const again = ada.call(runRegisterImport, { id: source, importId, skip_refused: true })
    await expect(again).rejects.toMatchObject({ code: 'import_state' })
  }
  const undone = ada.call(undoRegisterImport, { id: source, importId: two.id })
  await expect(undone).rejects.toMatchObject({ code: 'import_state' })
  const outcomes = await Promise.allSettled([check(source, first), undo(one), undo(one)])
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
})

test('each odd row is refused with its reason', async () => {
  const source = await makeSource()
  const odd = [
    'D-1,Vale,2001-02-03,Physics',
    'D-1,VALE,2001-02-03,Again',
    ',Vale,2001-02-03,No key',
    'D-2,Vale,2001-02-30,No day',
    'D-3,,2001-02-03,No name',
    'D-4,Vale,2001-02-03,Long,more',
    'D-5,Vale,2001-02-03,NUL\0',
    '   ',
    `D-6,Vale,2001-02-03,${'x'.repeat(40_000)}`,
    'D-8,Vale,2001-02-03',
    `D-9,Vale,2001-02-03,"'=1+1"`
  ]
  const found = await check(source, header + odd.join('\n'))
  expect(found).toMatchObject({ state: 'checked', rows: 10, counts: { new: 3, refused: 7 } })
  const { rows } = await ada.call(listRefusedRows, { id: source, importId: found.id })
  const shown = rows.map(({ row, reasons }) =>
    [row, ...reasons.map(({ code, header: at }) => `${code} ${at ?? ''}`)].join(' ').trim()
  )
  expect(shown).toEqual([
    '2 duplicate',
    '3 required number',
    '4 date_format born',
    '5 required name',
    '6 malformed',
    '7 malformed degree',
    '9 too_long degree'
  ])
  const two = await ada.call(listRefusedRows, {
    id: source,
    importId: found.id,
    after: 3,
    limit: 2
  })
  expect(two.rows.map(({ row }) => row)).toEqual([4, 5])
  expect(two.next).toBe(5)
  await run(found, true)
  expect(await rowsOf(source)).toEqual(['D-1 Physics', 'D-8 ', 'D-9 =1+1'])
  const csv = await app.request('api.acme.localhost', {
    path: `/data_source/${source}/import/${found.id}/refused`,
    headers: { authorization: `Bearer ${ada.token}` }
  })
  const lines = csv.body.toString().split('\r\n')
  expect(lines[0]).toBe('\uFEFFnumber,name,born,degree,row,reasons')
  expect(lines[3]).toBe('D-2,Vale,2001-02-30,No day,4,born: date_format')
})

const sha = (text: string) => createHash('sha256').update(text).digest('hex')

test('a list of fingerprints takes them as programs write them', async () => {
  const source = await makeSource()
  const file = `title,sha256\nOne,${sha('1').toUpperCase()}\nTwo,SHA256:${sha('2')}\nThree,abc\n`
  const found = await check(source, file, { columns: fileColumns })
  expect(found.counts).toMatchObject({ new: 2, refused: 1 })
  expect(found.warnings).toEqual([])
})

test('references that count upwards are warned of where no second detail is asked', async () => {
  const source = await makeSource()
  const columns = diplomaColumns.filter(({ use }) => use !== 'check')
  const rows = Array.from({ length: 30 }, (_, at) => `D-${at + 100},x,y,z`).join('\n')
  const found = await check(source, header + rows, { columns })
  expect(found.warnings).toEqual(['counting_references', 'no_check_column'])
})

const unchanged = await makeSource()
await run(await check(unchanged, first))

test.each([
  ['file_empty', '\n\n'],
  ['file_empty', header],
  ['encoding_unknown', Buffer.from('504b0304000000000000', 'hex')],
  ['quote_unclosed', `${header}D-1,"Vale,2001-02-03,Physics\n${'x,y\n'.repeat(1_000_000)}`],
  ['row_too_long', `${header}D-1,Vale,2001-02-03,${'x'.repeat(5_000_000)}`],
  ['too_many_columns', `${header}${','.repeat(10_000_000)}`],
  ['column_missing', 'number,name,born\nD-1,Vale,2001-02-03\n']
])('a file is refused as a whole: %s', async (code, file) => {
  const found = await check(unchanged, file)
  expect(found).toMatchObject({ state: 'failed', failure: { code }, counts: null })
  await expect(run(found)).rejects.toMatchObject({ code: 'import_state' })
  expect(await rowsOf(unchanged)).toEqual(['D-1 Physics', 'D-7 Law'])
  await expect.poll(() => storedRows(unchanged), { timeout: 20_000 }).toBe(2)
  await expect.poll(staged).toBe(0)
})

test('old letters are read, and a mark decides', async () => {
  const source = await makeSource()
  const old = Buffer.from(`${header}D-1,Vale,2001-02-03,Été\n`, 'latin1')
  await run(await check(source, old, { dialect: { encoding: 'windows-1252' } }))
  expect(await rowsOf(source)).toEqual(['D-1 Été'])
  const wide = Buffer.from(`\uFEFF${header}D-1,Vale,2001-02-03,Été\n`, 'utf16le')
  expect((await check(source, wide)).counts).toMatchObject({ unchanged: 1 })
  const wrong = await check(source, old)
  expect(wrong.counts).toMatchObject({ refused: 1, removed: 1 })
  expect((await check(source, header, { dialect: { encoding: 'klingon' } })).failure).toEqual({
    code: 'encoding_unknown'
  })
})

test('a cancelled import and a lapsed upload leave nothing', async () => {
  const source = await makeSource()
  const [sent, cancelled, lapsed] = [
    await check(source, first),
    await begin(source, first),
    await begin(source, first)
  ]
  await ada.call(deleteRegisterImport, { id: source, importId: sent.id })
  await expect.poll(() => storedRows(source), { timeout: 20_000 }).toBe(0)
  expect((await app.tus(ada, 'DELETE', cancelled.upload)).status).toBe(204)
  expect((await app.tus(ada, 'HEAD', cancelled.upload)).status).toBe(409)
  await passHours(25)
  await endIdleUploadsJob(app.deps).run(() => false, true)
  expect((await app.tus(ada, 'HEAD', lapsed.upload)).status).toBe(409)
  expect(await ada.call(listRegisterImports, { id: source })).toEqual([])
  await expect.poll(staged).toBe(0)
})

test('the rows of a company are bounded, and old versions make room', async () => {
  const source = await makeSource()
  await run(await check(source, first))
  await run(await check(source, `${header}D-2,Roux,1998-05-05,Law\n`))
  const used = await inCompany(app.deps.db, ada.company, countRegisterRows)
  const { settings } = app.deps
  const usual = settings.bounds
  settings.bounds = { ...usual, registerRows: used }
  const full = await check(source, `${header}D-3,Roux,1998-05-05,Law\n`)
  settings.bounds = { ...usual, registerRows: 1 }
  const none = await check(source, first)
  settings.bounds = usual
  expect(full.state).toBe('checked')
  expect(none.failure).toEqual({ code: 'too_many_register_rows' })
  await expect.poll(() => storedRows(source), { timeout: 20_000 }).toBe(2)
})

test('refused rows are bounded: those of failed and of older imports make room', async () => {
  const source = await makeSource()
  const faults = async () => {
    while (await workOnRegisters(app.deps, ada.company, () => false));
    const { rows } = await app.owner.query(
      `select import_id, count(*)::int as count from register_fault
       where company_id = $1 group by 1`,
      [ada.company]
    )
    return new Map(rows.map(({ import_id, count }) => [import_id, count]))
  }
  const setBytes = (bytes: number, { id }: { id: string }) =>
    app.owner.query('update register_import set refused_bytes = $1 where id = $2', [bytes, id])
  const half = registerLimits.refusedBytes / 2
  const mixed = `${first},Vale,2001-02-03,No key\n`
  const old = await run(await check(source, mixed), true)
  const young = await run(await check(source, `${mixed},,,\n,Roux,1998-05-05,Art\n`), true)
  await setBytes(half, old)
  await setBytes(half, young)
  expect([(await faults()).get(old.id), (await faults()).get(young.id)]).toEqual([1, 2])
  await setBytes(half + 1, young)
  expect([(await faults()).get(old.id), (await faults()).get(young.id)]).toEqual([undefined, 2])
  expect((await ada.call(listRefusedRows, { id: source, importId: old.id })).rows).toEqual([])

  const open = await check(source, mixed)
  await setBytes(half * 2, open)
  const failed = await check(source, mixed)
  expect(failed).toMatchObject({
    state: 'failed',
    failure: { code: 'too_many_refused_rows' },
    counts: null
  })
  await ada.call(deleteRegisterImport, { id: source, importId: open.id })
  const keyless = ',Vale,2001-02-03,No key\n'.repeat(2_000)
  const quoted = await check(source, `${header}${keyless}D-2,"Ito,2001-02-03,x`)
  expect(quoted.failure).toMatchObject({ code: 'quote_unclosed' })
  expect(
    [...(await faults()).keys()].filter(id => [open, failed, quoted].some(each => each.id === id))
  ).toEqual([])
})

test('who changes labels notices a run or an undo that has changed the columns', async () => {
  const source = await makeSource()
  const one = await check(source, first)
  await run(one)
  const { version } = await ada.call(getDataSource, { id: source })
  const renamed = diplomaColumns.map(column => ({
    ...column,
    labels: { ...column.labels, fr: `${column.labels.fr} !` }
  }))
  const change = (seen: number) =>
    ada.call(
      updateDataSource,
      { id: source, labels: [{ index: 0, labels: { en: 'Number', fr: 'Numéro' } }] },
      { version: seen }
    )
  const two = await check(source, `${header}D-2,Roux,1998-05-05,Law\n`, { columns: renamed })
  await run(two)
  await expect(change(version)).rejects.toMatchObject({ code: 'changed_meanwhile' })
  await undo(two)
  await expect(change(version + 1)).rejects.toMatchObject({ code: 'changed_meanwhile' })
  // the same columns again
  await run(await check(source, `${header}D-2,Roux,1998-05-05,Law\n`))
  await change(version + 2)
})

test('a part of the comparison that is repeated counts once', async () => {
  const source = await makeSource()
  await run(await check(source, first))
  // the database lets each import compare its first part in vain
  await app.owner.query(`
    create sequence vain;
    grant usage on sequence vain to public;
    create function fail_once() returns trigger language plpgsql as $$ begin
      if nextval('vain') = 1 then raise exception using errcode = '40001'; end if;
      return null;
    end $$;
    create constraint trigger vain after update on register_import deferrable initially deferred
      for each row when (new.step = 'comparing' and new.progress = 8) execute function fail_once()`)
  const file = Array.from({ length: 200 }, (_, at) => `N-${at},Vale,2001-02-03,Law`).join('\n')
  const { counts } = await check(source, `${first}${file}`)
  await app.owner.query('drop trigger vain on register_import')
  const { rows } = await app.owner.query('select last_value::int as tries from vain')
  expect(rows[0].tries).toBeGreaterThan(1)
  expect(counts).toEqual({ new: 200, changed: 0, unchanged: 2, removed: 0, refused: 0 })
  await expectRootsOfRows(source)
})

test('rows are not erased while an undo goes back to them', async () => {
  const source = await makeSource()
  await run(await check(source, first))
  const two = await run(await check(source, `${header}D-2,Roux,1998-05-05,Law\n`))
  const { db } = app.deps
  let ending: Promise<unknown> | undefined
  await inCompany(db, ada.company, async tx => {
    await undoImport(tx, app.deps, { id: two.id, by: { id: ada.id, company_id: ada.company } })
    let hasEnded = false
    ending = endVersions(app.deps, ada.company, { before: new Date(8e15), limit: 1_000 })
    void ending.then(() => {
      hasEnded = true
    })
    const waits = async () => {
      const { rows } = await app.owner.query('select from pg_locks where not granted')
      return hasEnded || rows.length > 0
    }
    await expect.poll(waits, { timeout: 20_000 }).toBe(true)
    while (await eraseUnneededRows(app.deps, ada.company));
  })
  await ending
  while (await eraseUnneededRows(app.deps, ada.company));
  expect(await rowsOf(source)).toEqual(['D-1 Physics', 'D-7 Law'])
  // and the other way round: what is about to be erased is not gone back to
  const three = await run(await check(source, `${header}D-3,Roux,1998-05-05,Law\n`))
  let undoing: Promise<unknown> | undefined
  await inCompany(db, ada.company, async tx => {
    await sql`update register_version set erased_at = now() where source_id = ${source}
      and number = 3`.execute(tx)
    undoing = undo(three).catch(error => error.code)
    const waits = async () =>
      (await app.owner.query('select from pg_locks where not granted')).rows.length > 0
    await expect.poll(waits, { timeout: 20_000 }).toBe(true)
  })
  expect(await undoing).toBe('import_state')
})

test('rows of old versions are erased after 30 days, and imports are forgotten', async () => {
  const source = await makeSource()
  const one = await run(await check(source, first))
  const two = await run(await check(source, `${header}D-2,Roux,1998-05-05,Law\n`))
  await passHours(31 * 24)
  expect(await storedRows(source)).toBe(3)
  await deleteExpiredRowsJob(app.deps).run(() => false, true)
  while (await workOnRegisters(app.deps, ada.company, () => false));
  expect(await storedRows(source)).toBe(1)
  for (const { id: importId } of [one, two])
    await expect(ada.call(getRegisterImport, { id: source, importId })).rejects.toMatchObject({
      code: 'not_found'
    })
})

// G-08
test('nothing of a row is in the clear, and its upload is charged to nobody', async () => {
  const [key, name, print, shown, refused] = Array.from({ length: 5 }, () => randomUUID())
  const born = '1987-06-05'
  const source = await makeSource()
  const file = `${header}${key},${name},${born},${shown}\n,${refused},${born},x\n`
  await run(await check(source, file), true)
  const digest = createHash('sha256').update(String(print)).digest()
  const prints = `title,sha256\nT${shown},${digest.toString('hex')}\n`
  await run(await check(await makeSource(), prints, { columns: fileColumns }))
  const secrets = [key, name, shown, refused, print, born].map(String)
  expect(await tablesWith(app.owner, [...secrets, digest, digest.toString('hex')])).toEqual([])
  expect(await tablesWith(app.owner, ['diplomas.csv'])).toContain('register_import')
  const { rows } = await app.owner.query('select count(*)::int as count from request')
  expect(rows[0].count).toBe(0)
})

test('processes that race read a file once', async () => {
  const source = await makeSource()
  const { upload, bytes, ...ids } = await begin(source, first)
  await app.patch(ada, upload, bytes)
  const others = await Promise.all(
    [1, 2, 3].map(() => workOnRegisters(app.deps, ada.company, () => false))
  )
  expect(others).toHaveLength(3)
  const found = await settled(ids)
  expect(found.counts).toMatchObject({ new: 2 })
  const { rows } = await app.owner.query(
    'select segment, attempts from register_import where id = $1',
    [found.id]
  )
  expect(rows).toEqual([{ segment: 1, attempts: 1 }])
})

test('a key of the company imports, and an operator for another company', async () => {
  const { key } = await makeApiKey(app, ada, { isCompanys: true, scopes: ['registers'] })
  const operator = await app.signUp('beta.localhost')
  await app.owner.query(`update "user" set permissions = '{admin,operator}' where id = $1`, [
    operator.id
  ])
  const importAs = async (host: string, token: string, headers = {}) => {
    const authorization = `Bearer ${token}`
    const ask = (method: string, path: string, body?: Uint8Array, more = {}) =>
      app.request(`api.${host}`, {
        ...{ method, path, body: body ?? new Uint8Array() },
        headers: {
          authorization,
          ...{ 'content-length': String(body?.length ?? 0), ...headers, ...more }
        }
      })
    const source = await makeSource()
    const json = { 'content-type': 'application/json' }
    const created = await ask(
      'POST',
      `/data_source/${source}/import`,
      Buffer.from(
        JSON.stringify({
          ...{ mode: 'replace', file_name: 'a.csv', bytes: first.length },
          ...{ dialect: csvDialect, columns: diplomaColumns }
        })
      ),
      json
    )
    if (created.status !== 201) return created.status
    const made = JSON.parse(created.body.toString())
    const sent = await ask('PATCH', made.upload, Buffer.from(first), {
      ...{ 'tus-resumable': '1.0.0', 'upload-offset': '0' },
      'content-type': 'application/offset+octet-stream'
    })
    expect(sent.status).toBe(204)
    const ids = { id: source, importId: made.import.id }
    expect((await settled(ids)).state).toBe('checked')
    const path = `/data_source/${source}/import/${made.import.id}/run`
    const ran = await ask('POST', path, Buffer.from('{"skip_refused":false}'), json)
    expect(ran.status).toBe(202)
    expect(await rowsOf(source)).toEqual(['D-1 Physics', 'D-7 Law'])
    // the columns are known by now
    const next = Buffer.from(`${header}D-2,Roux,1998-05-05,Art\n`)
    const put = await ask('PUT', `/data_source/${source}/import?mode=replace&run=true`, next, {
      'idempotency-key': randomUUID()
    })
    expect(put.status).toBe(202)
    await expect.poll(() => rowsOf(source), { timeout: 20_000 }).toEqual(['D-2 Art'])
    return source
  }
  await importAs('acme.localhost', key)
  const company = { company: ada.company }
  const source = await importAs('beta.localhost', operator.token, company)
  // people of the company see that it was none of them, and both companies have it in their logs
  const [version] = await ada.call(listRegisterVersions, { id: String(source) })
  expect(version).toMatchObject({ number: 2, created_by: null })
  for (const [id, by] of [
    [ada.company, ada],
    [operator.company, operator]
  ] as const) {
    const entries = await by.call(listAuditEntries, { id, target: String(source) })
    expect(entries.map(({ action }) => action)).toEqual([
      ...['data_source.import', 'data_source.upload', 'data_source.import', 'data_source.upload'],
      ...(by === ada ? ['data_source.create'] : [])
    ])
  }
  // nobody else, and no operator without naming the company
  expect(await importAs('beta.localhost', operator.token)).toBe(404)
  const other = await app.signUp('beta.localhost')
  await app.owner.query(`update "user" set permissions = '{admin}' where id = $1`, [other.id])
  expect(await importAs('beta.localhost', other.token, company)).toBe(404)
  expect(await importAs('beta.localhost', other.token)).toBe(404)
})

test('the body of one call is imported, checked and run, and the same call again does nothing', async () => {
  const source = await makeSource()
  await run(await check(source, first))
  const put = (key: string, body: string, query: Record<string, string> = {}) =>
    app.request('api.acme.localhost', {
      method: 'PUT',
      path: `/data_source/${source}/import?${new URLSearchParams({ mode: 'replace', ...query })}`,
      headers: {
        authorization: `Bearer ${ada.token}`,
        'idempotency-key': key,
        'content-length': String(Buffer.byteLength(body))
      },
      body: Buffer.from(body)
    })
  // the columns are found by their headers
  const moved = 'born,degree,number,name\n2001-02-03,Physics,D-1,Vale\n1998-05-05,Art,D-2,Roux\n'
  const key = randomUUID()
  const sent = await put(key, moved, { run: 'true' })
  expect(sent.status).toBe(202)
  const { id: importId } = JSON.parse(sent.body.toString())
  await expect
    .poll(async () => (await ada.call(getRegisterImport, { id: source, importId })).state, {
      timeout: 20_000
    })
    .toBe('done')
  expect(await rowsOf(source)).toEqual(['D-1 Physics', 'D-2 Art'])
  const again = await put(key, moved, { run: 'true' })
  expect(again.headers['idempotent-replayed']).toBe('true')
  expect(JSON.parse(again.body.toString())).toMatchObject({ id: importId, version: 2 })
  const odd = await put(randomUUID(), `${header},x,y,z\n`, { run: 'true' })
  const stopped = await settled({ id: source, importId: JSON.parse(odd.body.toString()).id })
  expect(stopped).toMatchObject({ state: 'checked', counts: { refused: 1 } })
})

test('a call that waits to be asked for its body is asked once, and not if it is refused', async () => {
  const source = await makeSource()
  await run(await check(source, first))
  const port = await app.listen()
  const heads = (...more: string[]) =>
    [
      `PUT /data_source/${source}/import?mode=replace HTTP/1.1`,
      'Host: api.acme.localhost',
      `Authorization: Bearer ${ada.token}`,
      `Content-Length: ${first.length}`,
      'Expect: 100-continue',
      'Connection: close',
      ...more
    ].join('\r\n')
  const exchange = (head: string) =>
    new Promise<string>((resolve, reject) => {
      let said = ''
      const socket = connect(port, '127.0.0.1', () => socket.write(`${head}\r\n\r\n`))
      socket.on('data', bytes => {
        if (said === '' && `${bytes}`.includes(' 100 ')) socket.write(first)
        said += bytes
      })
      socket.on('error', reject)
      socket.on('close', () => resolve(said))
    })
  const statuses = (said: string) => said.match(/(?<=^HTTP\/1\.1 )\d+/gm)
  expect(statuses(await exchange(heads(`Idempotency-Key: ${randomUUID()}`)))).toEqual([
    '100',
    '202'
  ])
  expect(statuses(await exchange(heads()))).toEqual(['400'])
})

test('rows are not added to a list whose columns another import has changed meanwhile', async () => {
  const source = await makeSource()
  await run(await check(source, first))
  const added = await begin(source, `${header}D-3,Roux,1998-05-05,Law\n`, { mode: 'append' })
  const unchecked = diplomaColumns.filter(({ use }) => use !== 'check')
  await run(await check(source, first, { columns: unchecked }))
  const { upload, bytes, ...ids } = added
  await app.patch(ada, upload, bytes)
  await expect(run(await settled(ids))).rejects.toMatchObject({ code: 'import_state' })
  expect(await rowsOf(source)).toHaveLength(2)
})

test('a list that changes no row may still bring other columns, with how it is written', async () => {
  const source = await makeSource()
  await run(await check(source, first))
  const names = { en: 'Certificate', fr: 'Certificat' }
  const renamed = diplomaColumns.map(each => ({ ...each, labels: names }))
  const same = await run(await check(source, first, { columns: renamed }))
  expect(same).toMatchObject({ state: 'done', version: null })
  const { columns } = await ada.call(getDataSource, { id: source })
  expect(columns.map(({ labels }) => labels)).toEqual(renamed.map(() => names))
})
