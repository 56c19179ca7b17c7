import { spawn, spawnSync } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import http, { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { exportAuditEntries } from '../../../src/contract/audit.ts'
import { putDeposit } from '../../../src/contract/deposits.ts'
import { createGroup, updateGroup } from '../../../src/contract/groups.ts'
import { deleteMember, disableUser } from '../../../src/contract/members.ts'
import { RegisterImport } from '../../../src/contract/register-imports.ts'
import { getRequest, listRequests } from '../../../src/contract/requests.ts'
import { createUser } from '../../../src/contract/users.ts'
import { verify } from '../../../src/contract/verifications.ts'
import { makeApp, type TestApp, type TestPerson } from '../../helpers/app.ts'
import { confirmSessions, makeApiKey, makeCategory, requestOf } from '../../helpers/cases.ts'
import { publishAll } from '../../helpers/evidence/published-log.ts'
import { csvDialect, diplomaColumns, makeRegister } from '../../helpers/registers.ts'

const root = join(import.meta.dirname, '../../..')
const snippets = join(root, 'docs/snippets')
const api = 'http://api.acme.localhost'
const programs: Record<string, string> = { '.sh': 'sh', '.ts': process.execPath, '.py': 'python3' }

interface Outcome {
  output: string
  errors: string
  code: number | null
}

type Runner = (
  name: string,
  file: string,
  env?: Record<string, string>,
  ...more: string[]
) => Promise<Outcome>

let app: TestApp
let ada: TestPerson
let proxy: Server
let folder: string
let key: string
let port: number
beforeAll(async () => {
  app = await makeApp({ runsImports: true })
  ada = await app.signUp()
  key = (await makeApiKey(app, ada, { scopes: ['deposit', 'history'] })).key
  port = await app.listen()
  proxy = await startProxy(port)
  folder = await mkdtemp(join(tmpdir(), 'vidimus-snippets-'))
})
afterAll(async () => {
  proxy.close()
  proxy.closeAllConnections()
  await rm(folder, { recursive: true, force: true })
  await app[Symbol.asyncDispose]()
})

test('are all run by a test below', async () => {
  const files = await readdir(snippets)
  expect(files.sort()).toEqual([
    'audit-log.py',
    'deposit-line.sh',
    'deposit.json',
    'deposit.py',
    'deposit.sh',
    'deposit.ts',
    'history.json',
    'history.py',
    'history.sh',
    'history.ts',
    'import.json',
    'import.py',
    'import.sh',
    'import.ts',
    'localhost.py',
    'localhost.ts',
    'receipt-check.sh',
    'receipt.json',
    'receipt.py',
    'receipt.sh',
    'receipt.ts',
    'reference.json',
    'reference.py',
    'reference.sh',
    'reference.ts',
    'verify.json',
    'verify.py',
    'verify.sh',
    'verify.ts'
  ])
})

test.skipIf(isMissing('curl', 'sha256sum'))('verify.sh tells a known file', () =>
  expectVerified('verify.sh')
)

test.skipIf(isMissing('python3'))('verify.py tells a known file', () => expectVerified('verify.py'))

test('verify.ts tells a known file', () => expectVerified('verify.ts'))

test('the program in TypeScript runs where the resolver knows no *.localhost', () =>
  expectVerified('verify.ts', runHere))

test.skipIf(isMissing('python3'))('so does the one in Python', () =>
  expectVerified('verify.py', runHere)
)

test.skipIf(isMissing('curl', 'sha256sum'))('and the one with curl', () =>
  expectVerified('verify.sh', runHere)
)

test.skipIf(isMissing('curl'))('the line with curl puts a file on record', async () => {
  const bytes = randomBytes(5000)
  const there = join(folder, 'line')
  await mkdir(there)
  await writeFile(join(there, 'a.pdf'), bytes)
  const line = await readFile(join(snippets, 'deposit-line.sh'), 'utf8')
  const here = line.replace('https://api.example.com', `${api}:${port}`)
  await writeFile(join(there, 'line.sh'), `cd '${there}'\n${here}`)
  await expectDeposited(await runFile(join(there, 'line.sh'), '', { KEY: key }), 'a.pdf')
})

test.skipIf(isMissing('curl'))('deposit.sh puts a file on record', () =>
  expectDeposit('deposit.sh')
)

test('deposit.ts puts a file on record', () => expectDeposit('deposit.ts'))

test.skipIf(isMissing('python3'))('deposit.py puts a file on record', () =>
  expectDeposit('deposit.py')
)

test.skipIf(isMissing('curl', 'python3'))(
  'the programs that deposit run where the resolver knows no *.localhost',
  async () => {
    for (const extension of ['sh', 'ts', 'py']) await expectDeposit(`deposit.${extension}`, runHere)
  }
)

test.skipIf(isMissing('curl', 'python3', 'npm'))(
  'receipt.* print a receipt, with which the line of the command judges the file',
  async () => {
    const bytes = randomBytes(700)
    const { deposit_id = '' } = await app.deposit(ada, bytes)
    await publishAll(app.deps, ada.company)
    const there = join(folder, 'receipt')
    await mkdir(there)
    await writeFile(join(there, 'report.pdf'), bytes)
    const line = await readFile(join(snippets, 'receipt-check.sh'), 'utf8')
    const here = line.replace('https://example.com', `http://${ada.host}:${port}`)
    await writeFile(join(there, 'check.sh'), `cd '${there}'\n${here}`)
    for (const extension of ['sh', 'ts', 'py']) {
      const name = `receipt.${extension}`
      const { output, errors, code } = await run(name, deposit_id, { KEY: key })
      expect(code, output + errors).toBe(0)
      await expectShown('receipt.json', output)
      expect((await runHere(name, deposit_id, { KEY: key })).output).toBe(output)
      await writeFile(join(there, 'report.pdf.vidimus.json'), output)
      const checked = await runFile(join(there, 'check.sh'), '', { VIDIMUS: root })
      expect(checked.code, checked.output + checked.errors).toBe(11)
      expect(checked.output).toContain('Unchanged: acme.localhost/log recorded this exact file')
    }
  }
)

test.skipIf(isMissing('curl', 'python3'))('history.* list what was deposited', async () => {
  const name = 'history.pdf'
  await app.deposit(ada, randomBytes(300), name)
  await publishAll(app.deps, ada.company)
  for (const extension of ['sh', 'ts', 'py']) {
    const { output, code } = await run(`history.${extension}`, '', { KEY: key })
    expect(code, output).toBe(0)
    const entries = listRequests.output.parse(JSON.parse(output))
    expect(entries[0]).toMatchObject({ kind: 'deposit', state: 'done', name })
    await expectShown('history.json', output)
  }
})

test.skipIf(isMissing('curl', 'python3', 'sha256sum'))(
  'import.* import a list once, and print why rows are refused',
  async () => {
    const { id } = await makeRegister(app, ada.company, { columns: diplomaColumns, rows: [] })
    const dialect = JSON.stringify(csvDialect)
    await app.owner.query('update data_source set dialect = $2 where id = $1', [id, dialect])
    const companys = await makeApiKey(app, ada, { isCompanys: true, scopes: ['registers'] })
    const env = { KEY: companys.key, REGISTER: id }
    const header = 'number,name,born,degree\n'
    for (const [at, extension] of ['sh', 'ts', 'py'].entries()) {
      const name = `import.${extension}`
      const path = join(folder, `list-${extension}.csv`)
      await writeFile(path, `${header}${extension}-17,Vale,1999-03-14,Physics\n`)
      const { output, errors, code } = await run(name, path, env)
      expect(code, output + errors).toBe(0)
      const made = RegisterImport.parse(JSON.parse(output))
      expect(made).toMatchObject({ state: 'done', counts: { new: 1 }, version: 2 + at })
      await expectShown('import.json', output)
      const again = await runHere(name, path, env)
      expect(RegisterImport.parse(JSON.parse(again.output))).toEqual(made)

      await writeFile(path, `${header}${extension}-18,Vale,yesterday,Physics\n`)
      const refused = await run(name, path, env)
      expect(refused.code, name).not.toBe(0)
      expect(refused.output + refused.errors, name).toContain('born: date_format')
    }
  }
)

test.skipIf(isMissing('curl', 'python3'))('reference.* find a row without a file', async () => {
  const { id } = await makeRegister(app, ada.company, {
    columns: diplomaColumns,
    rows: [['2026-0117', 'O’Neill "Vale"', '1999-03-14', 'Physics']],
    category: await makeCategory(app, ada.host)
  })
  for (const extension of ['sh', 'ts', 'py']) {
    for (const runner of [run, runHere]) {
      const fields = ['O’Neill "Vale"', '1999-03-14']
      const name = `reference.${extension}`
      const { output, errors, code } = await runner(name, '2026-0117', { REGISTER: id }, ...fields)
      expect(code, output + errors).toBe(0)
      expect(verify.output.parse(JSON.parse(output)).items).toMatchObject([
        { verdict: 'known_to_register', sources: [{ id, result: 'found' }] }
      ])
      await expectShown('reference.json', output)
    }
  }
})

/** Expects that the answer of an example shows the fields that the API returns. */
async function expectShown(name: string, output: string): Promise<void> {
  const shown: unknown = JSON.parse(await readFile(join(snippets, name), 'utf8'))
  expect(fieldsIn(shown)).toEqual(fieldsIn(JSON.parse(output)))
}

/** Returns the sorted names of the fields of a JSON value, and of the first item of each list. */
function fieldsIn(value: unknown, at = ''): string[] {
  if (Array.isArray(value)) return fieldsIn(value[0], `${at}[]`)
  if (typeof value !== 'object' || value === null) return [at]
  return Object.entries(value)
    .flatMap(([name, each]) => fieldsIn(each, `${at}.${name}`))
    .sort()
}

async function expectDeposit(name: string, runner: Runner = run): Promise<void> {
  const path = join(folder, 'été 1.pdf')
  await writeFile(path, randomBytes(5000))
  await expectDeposited(await runner(name, path, { KEY: key }), 'été 1.pdf')
}

async function expectDeposited({ output, code }: Outcome, name: string): Promise<void> {
  expect(code, output).toBe(0)
  const { id } = putDeposit.message.parse(JSON.parse(output))
  expect(await ada.call(getRequest, { id })).toMatchObject({ state: 'done', name, size: 5000 })
  await expectShown('deposit.json', output)
}

test.skipIf(isMissing('curl', 'python3'))(
  'a refused snippet fails and prints the code',
  async () => {
    const path = join(folder, 'refused.pdf')
    await writeFile(path, 'x')
    const programsWithKey = ['deposit', 'receipt', 'history', 'import'].flatMap(name =>
      Object.keys(programs).map(extension => `${name}${extension}`)
    )
    for (const name of programsWithKey) {
      const env = { KEY: 'vdm_nothing', REGISTER: randomUUID() }
      const argument = name.startsWith('receipt') ? 'k7Qx2bVdT0mZr9LpYw3HsA' : path
      const { output, errors, code } = await run(name, argument, env)
      expect(code, name).not.toBe(0)
      expect(output + errors, name).toContain('"code":"unauthenticated"')
    }
  }
)

test.skipIf(isMissing('python3'))('audit-log.py checks the export of an audit log', async () => {
  await app.owner.query(`update "user" set permissions = '{admin}' where id = $1`, [ada.id])
  const { id } = await ada.call(createGroup, { name: '=1+1, "Élèves";=2' })
  await ada.call(updateGroup, { id, name: 'Crew\u2028' })
  const { id: person } = await ada.call(createUser, { email: 'bob@example.com' })
  await ada.call(disableUser, { id: person, reason: 'left' })
  await confirmSessions(app)
  await ada.call(deleteMember, { id: person })
  const company = app.companies['acme.localhost'] ?? ''
  const headers = { authorization: `Bearer ${ada.token}` }
  const request = requestOf(exportAuditEntries, { id: company }, headers)
  const text = (await app.request('api.acme.localhost', request)).body.toString()
  const lines = text.trimEnd().split('\r\n')
  const count = lines.length - 1
  expect(count).toBeGreaterThan(4)
  const check = async (changed: string, ...noted: string[]) => {
    const path = join(folder, 'audit.csv')
    await writeFile(path, changed)
    return runFile(join(snippets, 'audit-log.py'), path, {}, ...noted)
  }

  const last = lines.at(-1)?.slice(-64) ?? ''
  const said = `${count} entries, 2 of them with erased fields. The hash of the last one: ${last}\n`
  expect(await check(text)).toMatchObject({ output: said, code: 0 })
  expect(await check(text, `${count}`, last)).toMatchObject({ output: said, code: 0 })
  const broken: [string, RegExp, string[]?][] = [
    [text.replaceAll('Crew', 'Team'), /Entry \d+ is broken: its changed fields/],
    [text.replace('group.create', 'group.delete'), /Entry \d+ is broken: its column action/],
    [text.replaceAll('group.create', 'group.delete'), /Entry \d+ is broken: it does not follow/],
    [lines.toSpliced(2, 1).join('\r\n'), /Entry 2 is broken: it is missing/],
    // a cut tail shows by a noted hash alone
    [lines.slice(0, -1).join('\r\n'), /it does not have the hash/, [`${count}`, last]]
  ]
  for (const [changed, says, noted = []] of broken) {
    const { output, code } = await check(changed, ...noted)
    expect(output).toMatch(says)
    expect(code).toBe(1)
  }
})

async function expectVerified(name: string, runner = run): Promise<void> {
  const bytes = randomBytes(3000)
  const path = join(folder, `${name}.pdf`)
  await writeFile(path, bytes)
  const before = await runner(name, path)
  expect(JSON.parse(before.output).items).toMatchObject([{ verdict: 'not_found' }])
  await app.deposit(ada, bytes)
  await publishAll(app.deps, ada.company)
  const { output, code } = await runner(name, path)
  expect(code, output).toBe(0)
  expect(verify.output.parse(JSON.parse(output)).items).toMatchObject([
    { verdict: 'authentic', company: 'Acme', findings: [{ match: 'original' }] }
  ])
  await expectShown('verify.json', output)
}

/**
 * Runs an example of the documentation. A proxy sends the requests to this machine, although the
 * example names another host.
 */
function run(name: string, file: string, env: Record<string, string> = {}, ...more: string[]) {
  const { port } = proxy.address() as AddressInfo // as: it listens on TCP
  const at = { http_proxy: `http://127.0.0.1:${port}`, NODE_USE_ENV_PROXY: '1' }
  return runFile(join(snippets, name), file, { API: api, ...at, ...env }, ...more)
}

/**
 * Runs an example as the page /docs shows it on a host under `localhost`. No proxy is needed,
 * because every machine resolves such a host to itself.
 */
async function runHere(
  name: string,
  file: string,
  env: Record<string, string> = {},
  ...more: string[]
) {
  const extension = name.slice(name.lastIndexOf('.'))
  const parts = extension === '.sh' ? [name] : [`localhost${extension}`, name]
  const texts = await Promise.all(parts.map(part => readFile(join(snippets, part), 'utf8')))
  const whole = join(folder, `here-${name}`)
  await writeFile(whole, texts.join(''))
  return runFile(whole, file, { API: `${api}:${port}`, ...env }, ...more)
}

function runFile(path: string, file: string, env: Record<string, string>, ...more: string[]) {
  const program = programs[path.slice(path.lastIndexOf('.'))] ?? ''
  const child = spawn(program, [path, file, ...more], {
    env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8', ...env }
  })
  const output: Buffer[] = []
  child.stdout.on('data', chunk => output.push(chunk))
  const errors: Buffer[] = []
  child.stderr.on('data', chunk => errors.push(chunk))
  return new Promise<Outcome>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', code =>
      resolve({
        output: Buffer.concat(output).toString(),
        errors: Buffer.concat(errors).toString(),
        code
      })
    )
  })
}

/**
 * Starts a proxy that forwards every request to the app's port and keeps the requested host name.
 */
async function startProxy(port: number): Promise<Server> {
  const server = createServer((request, response) => {
    const { host, pathname, search } = new URL(request.url ?? '/', api)
    const { method, headers } = request
    const onward = http.request({
      host: '127.0.0.1',
      port,
      method,
      path: pathname + search,
      headers: { ...headers, host }
    })
    onward.once('error', () => response.destroy())
    onward.once('response', answer => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    request.pipe(onward)
  })
  // Node asks for a tunnel even where none is needed
  server.on('connect', (_request, socket) => {
    const onward = http.globalAgent.createConnection({ host: '127.0.0.1', port })
    if (!onward) throw new Error('no connection')
    socket.write('HTTP/1.1 200 OK\r\n\r\n')
    onward.pipe(socket).pipe(onward)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return server
}

function isMissing(...tools: string[]): boolean {
  const missing = tools.filter(tool => spawnSync(tool, ['--version']).error !== undefined)
  for (const tool of missing) console.warn(`NOT RUN: a snippet needs ${tool}, which is not there`)
  return missing.length > 0
}
