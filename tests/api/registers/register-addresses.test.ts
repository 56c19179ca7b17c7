import { randomUUID } from 'node:crypto'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, afterEach, expect, test } from 'vitest'
import { deleteDataSource } from '../../../src/contract/data-sources.ts'
import {
  createRegisterImport,
  deleteRegisterImport,
  getRegisterImport,
  type RegisterImportFailure
} from '../../../src/contract/register-imports.ts'
import { createForeignFiles } from '../../../src/server/adapters/foreign-files.ts'
import { fetchNextFile } from '../../../src/server/domain/registers/register-fetches.ts'
import { makeRegisterStage, tablesWith } from '../../helpers/registers/register-imports.ts'
import { csvDialect, diplomaColumns } from '../../helpers/registers.ts'

const stage = await makeRegisterStage()
const { app, ada, makeSource, begin, check, fetchFrom, settled, run } = stage
const { rowsOf, storedRows, staged } = stage
afterAll(() => stage[Symbol.asyncDispose]())

const patient = app.deps.foreignFiles
const hasty = createForeignFiles({ allowsLoopback: true, ownAddresses: [], pieceMs: 300 })
const strict = createForeignFiles({ allowsLoopback: false, ownAddresses: [] })
afterEach(() => {
  app.deps.foreignFiles = patient
})

const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

async function serve(listener: RequestListener, path = '/list.csv'): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  closers.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`
}

const header = 'number,name,born,degree\n'
const first = `${header}D-1,Vale,2001-02-03,Physics\nD-7,Noor,2000-01-01,Law\n`
const next = `${header}D-2,Roux,1998-05-05,Art\n`

/** Serves the ranges of a file, each time with the version that `version` returns. */
function ranges(file: Buffer, version: () => string): RequestListener {
  return (request, response) => {
    const [, from = 0, to = 0] = (/bytes=(\d+)-(\d+)/.exec(request.headers.range ?? '') ?? []).map(
      Number
    )
    const last = Math.min(to, file.length - 1)
    response.writeHead(206, {
      etag: `"${version()}"`,
      'content-range': `bytes ${from}-${last}/${file.length}`
    })
    response.end(file.subarray(from, last + 1))
  }
}

const long = Buffer.from(
  header +
    Array.from({ length: 350 }, (_, n) => `L-${n},Vale,2001-02-03,${'x'.repeat(30_000)}\n`).join('')
)

test('a file is fetched in pieces of one version, and then imported as any other', async () => {
  const source = await makeSource()
  const asked: unknown[] = []
  const serveRanges = ranges(long, () => '1')
  const url = await serve((request, response) => {
    const { range, 'if-range': version, 'accept-encoding': encoding } = request.headers
    asked.push([range, version, encoding])
    serveRanges(request, response)
  })
  const made = await ada.call(createRegisterImport, {
    ...{ id: source, mode: 'replace', url, dialect: csvDialect, columns: diplomaColumns }
  })
  expect(made).toMatchObject({
    upload: null,
    import: { state: 'reading', file_name: null, bytes: null, rows: 0 }
  })
  const found = await settled({ id: source, importId: made.import.id })
  expect(found).toMatchObject({ state: 'checked', bytes: long.length, counts: { new: 350 } })
  expect(asked).toEqual([
    ['bytes=0-4999999', undefined, 'identity'],
    ['bytes=5000000-9999999', '"1"', 'identity'],
    ['bytes=10000000-14999999', '"1"', 'identity']
  ])
  expect(await run(found)).toMatchObject({ state: 'done', version: 1 })
  expect(await storedRows(source)).toBe(350)
  await expect.poll(staged).toBe(0)
})

test('a server that sends the whole file at once is read as one stream', async () => {
  const source = await makeSource()
  const url = await serve((_, response) => response.end(next))
  await run(await settled(await fetchFrom(source, url)))
  expect(await rowsOf(source)).toEqual(['D-2 Art'])
})

let version = 0
const drip = (response: ServerResponse, text: string, ms: number) => {
  const timer = setInterval(() => response.write(text), ms)
  response.once('close', () => clearInterval(timer))
}

const answers: Record<string, [RegisterImportFailure, RequestListener | string]> = {
  'redirects to an address inside': [
    'address_answer',
    (_, response) => response.writeHead(302, { location: 'http://10.0.0.1/' }).end()
  ],
  'does not have it': ['address_answer', (_, response) => response.writeHead(404).end()],
  'asks for a password': ['address_answer', (_, response) => response.writeHead(401).end()],
  fails: ['address_answer', (_, response) => response.writeHead(503).end()],
  'sends drops': ['address_unreachable', (_, response) => drip(response.writeHead(200), 'x', 20)],
  'sends a bomb': [
    'address_answer',
    (_, response) =>
      response
        .writeHead(200, { 'content-encoding': 'gzip' })
        .end(gzipSync(Buffer.alloc(10_000_000)))
  ],
  'never ends': [
    'address_unreachable',
    (_, response) => drip(response.writeHead(200), `D-9,a,2001-02-03,${'x'.repeat(1000)}\n`, 1)
  ],
  'never answers': ['address_unreachable', () => {}],
  'announces more than a file may have': [
    'file_too_large',
    (_, response) => response.writeHead(200, { 'content-length': '500000001' }).flushHeaders()
  ],
  'sends less than it announces': [
    'address_unreachable',
    (_, response) => {
      response.writeHead(200, { 'content-length': '9999' }).write(next)
      setTimeout(() => response.destroy(), 20)
    }
  ],
  'sends a shorter piece than it says': [
    'address_answer',
    (_, response) =>
      response.writeHead(206, { etag: '"1"', 'content-range': 'bytes 0-999/1000' }).end(next)
  ],
  'has another version for each piece': ['changed_meanwhile', ranges(long, () => `${version++}`)],
  'changes its length between pieces': [
    'changed_meanwhile',
    (request, response) =>
      ranges(long.subarray(0, long.length - version++), () => 'same')(request, response)
  ],
  'has an empty file': ['file_empty', (_, response) => response.end()],
  'sends a page': ['column_missing', (_, response) => response.end('<!doctype html>\n<p>Hello\n')],
  'sends no text': [
    'encoding_unknown',
    (_, response) => response.end(Buffer.from('504b0304000000000000', 'hex'))
  ],
  'is not there': ['address_unreachable', 'http://127.0.0.1:9/'],
  'is inside': ['address_refused', 'http://10.0.0.1/list.csv'],
  'is the service of metadata': ['address_refused', 'http://169.254.169.254/latest/meta-data/'],
  'takes a password in its address': ['address_refused', 'https://ada:secret@example.com/list.csv']
}

const slow = ['sends drops', 'never ends', 'never answers']

const unchanged = await makeSource()
await run(await check(unchanged, first))

test.each(Object.entries(answers))(
  'a register is as before when the server %s',
  async (name, [code, answer]) => {
    const url = typeof answer === 'string' ? answer : await serve(answer)
    if (slow.includes(name)) app.deps.foreignFiles = hasty
    const found = await settled(await fetchFrom(unchanged, url))
    expect(found).toMatchObject({ state: 'failed', failure: { code }, counts: null })
    expect(await rowsOf(unchanged)).toEqual(['D-1 Physics', 'D-7 Law'])
    await expect.poll(staged).toBe(0)
    await expect.poll(() => storedRows(unchanged), { timeout: 20_000 }).toBe(2)
  }
)

// G-07
test('this machine is reached in tests alone', async () => {
  let requests = 0
  const url = await serve((_, response) => {
    requests += 1
    response.end(next)
  })
  app.deps.foreignFiles = strict
  const source = await makeSource()
  for (const host of ['127.0.0.1', 'localhost', '[::1]', '2130706433', '127.1', '0x7f.1']) {
    const address = `https://${host}:${new URL(url).port}/list.csv`
    const found = await settled(await fetchFrom(source, address))
    expect(found.failure).toEqual({ code: 'address_refused' })
  }
  expect(requests).toBe(0)
})

test.each([
  [{ url: 'not an address' }, { url: { rule: 'web_address' } }],
  [{ url: 'file:///etc/passwd' }, { url: { rule: 'web_address' } }],
  [{ url: 'ftp://example.com/a.csv' }, { url: { rule: 'web_address' } }],
  [{ url: 'https://example.com/a.csv', bytes: 5 }, { bytes: { rule: 'unknown' } }],
  [{}, { bytes: { rule: 'required' } }]
])('an import has either an address or a length: %j', async (file, fields) => {
  const refused = ada.call(createRegisterImport, {
    ...{ id: await makeSource(), mode: 'replace', ...file },
    ...{ dialect: csvDialect, columns: diplomaColumns }
  })
  await expect(refused).rejects.toMatchObject({ code: 'invalid_input', fields })
})

/** A server that begins to answer and goes on when the test says so. */
async function serveInSteps(path: string) {
  const asked = Promise.withResolvers<void>()
  const askedAgain = Promise.withResolvers<void>()
  const closed = Promise.withResolvers<void>()
  const goOn: (() => void)[] = []
  const url = await serve((_, response) => {
    response.writeHead(200).write(header)
    goOn.push(() => response.end(next.slice(header.length)))
    response.once('close', closed.resolve)
    if (goOn.length > 1) askedAgain.resolve()
    asked.resolve()
  }, path)
  return {
    url,
    asked: asked.promise,
    askedAgain: askedAgain.promise,
    closed: closed.promise,
    goOn() {
      for (const end of goOn.splice(0)) end()
    }
  }
}

// G-08
test('neither an address nor the file stays in the clear, and a lost lease ends the fetch', async () => {
  const secret = randomUUID()
  const server = await serveInSteps(`/${secret}/list.csv?token=${secret}`)
  const source = await makeSource()
  const ids = await fetchFrom(source, server.url)
  await server.asked
  expect(await ada.call(getRegisterImport, ids)).toMatchObject({
    state: 'reading',
    progress: { step: 'fetching', share: 0 }
  })
  expect(await tablesWith(app.owner, [secret, '127.0.0.1'])).toEqual([])
  // as if another process had taken over, and then died
  await app.owner.query(
    'update register_import set generation = generation + 1, leased_until = null where id = $1',
    [ids.importId]
  )
  await server.closed
  app.deps.signals.registers.send(ada.company)
  await server.askedAgain
  // the upload, and the file of the new attempt alone
  await expect.poll(staged, { timeout: 20_000 }).toBe(2)
  server.goOn()
  await run(await settled(ids))
  expect(await rowsOf(source)).toEqual(['D-2 Art'])
  expect(await tablesWith(app.owner, [secret, '127.0.0.1'])).toEqual([])
  expect(JSON.stringify(app.logged)).not.toContain(secret)
  await expect.poll(staged).toBe(0)
})

test.each(['import', 'source'])('deleting the %s ends its fetch', async what => {
  const server = await serveInSteps('/list.csv')
  const source = await makeSource()
  const { importId } = await fetchFrom(source, server.url)
  await server.asked
  if (what === 'import') await ada.call(deleteRegisterImport, { id: source, importId })
  else await ada.call(deleteDataSource, { id: source })
  await server.closed
  await expect.poll(staged, { timeout: 20_000 }).toBe(0)
})

test('a company has one fetch under way, and room for one', async () => {
  const server = await serveInSteps('/list.csv')
  const source = await makeSource()
  const [one, two] = [await fetchFrom(source, server.url), await fetchFrom(source, server.url)]
  await server.asked
  const create = (bytes: number) =>
    ada.call(createRegisterImport, {
      ...{ id: source, mode: 'replace', file_name: 'a.csv', bytes },
      ...{ dialect: csvDialect, columns: diplomaColumns }
    })
  const { import: made } = await create(500_000_000)
  await expect(create(1)).rejects.toMatchObject({ code: 'import_too_large' })
  await ada.call(deleteRegisterImport, { id: source, importId: made.id })
  server.goOn()
  expect((await settled(one)).state).toBe('checked')
  await expect
    .poll(
      async () => {
        server.goOn()
        return (await ada.call(getRegisterImport, two)).state
      },
      { timeout: 20_000 }
    )
    .toBe('checked')
})

test('a file is not fetched while those before it leave no room for it', async () => {
  const server = await serveInSteps('/list.csv')
  const source = await makeSource()
  const [one, two] = [await fetchFrom(source, server.url), await fetchFrom(source, server.url)]
  await server.asked
  const large = await begin(source, next)
  const sizes = 'update register_import set bytes = $1 where id = $2'
  await app.owner.query(sizes, [500_000_001, large.importId])
  server.goOn()
  await settled(one)
  const fetchNext = () =>
    fetchNextFile(app.deps, ada.company, { stopping: () => false, onFound: () => undefined })
  expect(await fetchNext()).toBe(false)
  const { rows } = await app.owner.query('select attempts from register_import where id = $1', [
    two.importId
  ])
  expect(rows).toEqual([{ attempts: 0 }])
  await ada.call(deleteRegisterImport, { id: source, importId: large.importId })
  const stateOfTwo = async () => {
    server.goOn()
    return (await ada.call(getRegisterImport, two)).state
  }
  await expect.poll(stateOfTwo, { timeout: 20_000 }).toBe('checked')
})
