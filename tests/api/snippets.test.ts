import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import http, { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { getRequest } from '../../src/contract/requests.ts'
import { verify } from '../../src/contract/verifications.ts'
import { makeApp, type TestApp, type TestPerson } from '../helpers/app.ts'

const snippets = join(import.meta.dirname, '../../docs/snippets')
const api = 'http://api.acme.localhost'
const programs: Record<string, string> = { '.sh': 'sh', '.ts': process.execPath, '.py': 'python3' }

let app: TestApp
let ada: TestPerson
let proxy: Server
let folder: string
let port: number
beforeAll(async () => {
  app = await makeApp()
  ada = await app.signUp()
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
    'deposit.sh',
    'localhost.py',
    'localhost.ts',
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

test.skipIf(isMissing('curl'))('deposit.sh puts a file on record', async () => {
  const bytes = randomBytes(5000)
  const path = join(folder, 'été 1.pdf')
  await writeFile(path, bytes)
  const { output, code } = await run('deposit.sh', path, { TOKEN: ada.token })
  expect(code, output).toBe(0)
  const { id } = JSON.parse(output)
  expect(await ada.call(getRequest, { id })).toMatchObject({
    state: 'done',
    name: 'été 1.pdf',
    size: 5000
  })
})

test.skipIf(isMissing('curl'))('a refused snippet fails and says why', async () => {
  const path = join(folder, 'refused.pdf')
  await writeFile(path, 'x')
  const { output, code } = await run('deposit.sh', path, { TOKEN: 'x.y.z' })
  expect(code).not.toBe(0)
  expect(JSON.parse(output)).toMatchObject({ code: 'unauthenticated' })
})

async function expectVerified(name: string, runner = run): Promise<void> {
  const bytes = randomBytes(3000)
  const path = join(folder, `${name}.pdf`)
  await writeFile(path, bytes)
  const before = await runner(name, path)
  expect(JSON.parse(before.output).items).toMatchObject([{ verdict: 'not_found' }])
  await app.deposit(ada, bytes)
  const { output, code } = await runner(name, path)
  expect(code, output).toBe(0)
  expect(verify.output.parse(JSON.parse(output)).items).toMatchObject([
    { verdict: 'authentic', company: 'Acme', findings: [{ match: 'original' }] }
  ])
}

/** Runs a snippet as a reader of a real host would: a proxy leads its name to this machine. */
function run(name: string, file: string, env: Record<string, string> = {}) {
  const { port } = proxy.address() as AddressInfo // as: it listens on TCP
  const at = { http_proxy: `http://127.0.0.1:${port}`, NODE_USE_ENV_PROXY: '1' }
  return runFile(join(snippets, name), file, { API: api, ...at, ...env })
}

/**
 * Runs a snippet as /docs of a host under localhost shows it, with no proxy and no resolver but the
 * machine's.
 */
async function runHere(name: string, file: string) {
  const extension = name.slice(name.lastIndexOf('.'))
  const parts = extension === '.sh' ? [name] : [`localhost${extension}`, name]
  const texts = await Promise.all(parts.map(part => readFile(join(snippets, part), 'utf8')))
  const whole = join(folder, `here-${name}`)
  await writeFile(whole, texts.join(''))
  return runFile(whole, file, { API: `${api}:${port}` })
}

function runFile(path: string, file: string, env: Record<string, string>) {
  const program = programs[path.slice(path.lastIndexOf('.'))] ?? ''
  const child = spawn(program, [path, file], {
    env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8', ...env }
  })
  const output: Buffer[] = []
  child.stdout.on('data', chunk => output.push(chunk))
  child.stderr.on('data', chunk => process.stderr.write(chunk))
  return new Promise<{ output: string; code: number | null }>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', code => resolve({ output: Buffer.concat(output).toString(), code }))
  })
}

/** Forwards what it is asked to the app's port, under the name it was asked for. */
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
