import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterEach, expect, test } from 'vitest'

const setup = resolve(import.meta.dirname, '../../scripts/setup.mjs')

// Stands in for npm: writes each call to calls.log and leaves what the real one would.
const npm = `
import * as fs from 'node:fs'
const [command] = process.argv.slice(2)
fs.appendFileSync('calls.log', command + '\\n')
if (fs.existsSync('broken') && command === 'run') process.exit(1)
fs.mkdirSync(command === 'ci' ? 'node_modules' : 'dist', { recursive: true })
await new Promise(resolve => setTimeout(resolve, 150))
`

const clones: string[] = []
afterEach(() => {
  for (const clone of clones.splice(0)) fs.rmSync(clone, { recursive: true, force: true })
})

test('installs and builds once, and then only what a change needs', async () => {
  const clone = makeClone()
  expect(await run(clone, 'start')).toBe(0)
  expect(calls(clone)).toEqual(['ci', 'run'])

  for (const [path, expected] of [
    [undefined, []],
    ['src/pages/index.astro', ['run']],
    ['public/robots.txt', ['run']],
    ['src/server/main.ts', []],
    ['package-lock.json', ['ci', 'run']]
  ] as const) {
    const before = calls(clone).length
    if (path !== undefined) write(clone, path, 'changed')
    expect(await run(clone, 'start'), path).toBe(0)
    expect(calls(clone).slice(before), path).toEqual(expected)
  }
})

test('lets parallel setups share one install and one build', async () => {
  const clone = makeClone()

  const codes = await Promise.all([1, 2, 3].map(() => run(clone, 'start')))

  expect(codes).toEqual([0, 0, 0])
  expect(calls(clone)).toEqual(['ci', 'run'])
})

test('takes over from a setup that was killed', async () => {
  const clone = makeClone()
  const killed = start(clone, 'start')
  while (calls(clone).length === 0) await new Promise(resolve => setImmediate(resolve))
  killed.kill('SIGKILL')
  await once(killed, 'exit')

  expect(await run(clone, 'start')).toBe(0)

  expect(calls(clone)).toEqual(['ci', 'ci', 'run'])
})

test('serves no build that failed', async () => {
  const clone = makeClone()
  await run(clone, 'start')
  write(clone, 'src/pages/index.astro', 'changed')
  write(clone, 'broken', '')

  expect(await run(clone, 'start')).toBe(1)
  fs.rmSync(join(clone, 'broken'))
  expect(await run(clone, 'start')).toBe(0)

  expect(calls(clone)).toEqual(['ci', 'run', 'run', 'run'])
})

test('does nothing when told to skip', async () => {
  const clone = makeClone()

  expect(await run(clone, 'start', { SETUP: 'skip' })).toBe(0)

  expect(calls(clone)).toEqual([])
})

test.for(['chromium', 'firefox'])('keeps the %s that is named, if it starts', async name => {
  const clone = makeClone()
  const both = { CHROMIUM_PATH: '/bin/true', FIREFOX_PATH: '/bin/true' }
  const broken = { ...both, [`${name.toUpperCase()}_PATH`]: '/bin/false' }

  expect(await run(clone, 'test', broken)).toBe(1)
  expect(await run(clone, 'test', both)).toBe(0)

  expect(fs.readFileSync(join(clone, '.cache', name), 'utf8')).toBe('/bin/true')
})

test('needs Chromium, and does without Firefox, where neither can be installed', async () => {
  const clone = makeClone()
  const bare = { PATH: '' }

  expect(await run(clone, 'test', bare)).toBe(1)
  expect(await run(clone, 'test', { ...bare, CHROMIUM_PATH: '/bin/true' })).toBe(0)

  expect(fs.readdirSync(join(clone, '.cache'))).toEqual(['chromium'])
})

function makeClone(): string {
  const clone = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), 'setup-')))
  clones.push(clone)
  write(clone, 'package.json', '{ "dependencies": {} }')
  write(clone, 'package-lock.json', '{}')
  write(clone, 'src/pages/index.astro', '<h1>One</h1>')
  write(clone, 'npm.mjs', npm)
  write(clone, 'scripts/setup.mjs', fs.readFileSync(setup, 'utf8'))
  return clone
}

function write(clone: string, path: string, content: string): void {
  fs.mkdirSync(dirname(join(clone, path)), { recursive: true })
  fs.writeFileSync(join(clone, path), content)
}

function start(clone: string, mode: string, settings: Record<string, string> = {}): ChildProcess {
  return spawn(process.execPath, ['scripts/setup.mjs', mode], {
    cwd: clone,
    env: {
      PATH: process.env.PATH,
      npm_execpath: join(clone, 'npm.mjs'),
      npm_node_execpath: process.execPath,
      ...settings
    },
    stdio: 'ignore'
  })
}

async function run(clone: string, mode: string, settings?: Record<string, string>) {
  const [code] = await once(start(clone, mode, settings), 'exit')
  return code
}

function calls(clone: string): string[] {
  const path = join(clone, 'calls.log')
  return fs.existsSync(path) ? fs.readFileSync(path, 'utf8').split('\n').filter(Boolean) : []
}
