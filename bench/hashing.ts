import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtempDisposable, open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Browser, Page } from '@playwright/test'
import { type AstroBuild, readAstroBuild } from '../src/server/site/astro-build.ts'
import { launchBrowser } from './browser.ts'
import { type BenchOptions, median, type ReportRow } from './table.ts'
import { serveBuild } from './weight.ts'

const run = promisify(execFile)

// in addition to the memory that reading the file uses
const spareMegabytes = 32

// for two files that are each small enough for the browser to hash in one piece
const maxMegabytesForTwoFiles = 150

/**
 * How fast the built verify page hashes files, compared with `sha256sum`, and four files at the
 * same time with one. Also the memory.
 */
export async function measure({ runs, quick, say, signal }: BenchOptions): Promise<ReportRow[]> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'vidimus-hashing-'))
  const build = await readAstroBuild('dist')
  const { server, port } = await serveBuild(build)
  using _closed = { [Symbol.dispose]: () => void server.close() }
  await using browser = await launchBrowser()
  const usual = await makeFile(join(folder.path, 'usual'), 10)
  const whole = await makeFile(join(folder.path, 'whole'), 32)
  const small = await makeFile(join(folder.path, 'small'), quick ? 20 : 100)
  const large = await makeFile(join(folder.path, 'large'), quick ? 100 : 1000)
  const address = `http://127.0.0.1:${port}/en/verify`
  const openPage = () => openHashing(browser, build, address)
  const page = await openPage()
  const bare = await openBareDigest(browser, address)
  await page.hash([small]) // loads the workers
  await bare.digest(usual)
  const times = { usual: pair(), limit: pair(), small: pair(), large: pair(), four: pair() }
  for (let turn = 1; turn <= runs; turn++) {
    signal.throwIfAborted()
    say(`hashing, ${turn} of ${runs}`)
    for (const [name, file] of entriesOf({ usual, small, large })) {
      times[name].ours.push(file.megabytes / (await page.hash([file])))
      times[name].peer.push(file.megabytes / (await sha256sum(file)))
    }
    times.limit.ours.push(usual.megabytes / (await page.hash([usual])))
    times.limit.peer.push(usual.megabytes / (await bare.digest(usual)))
    const four = [small, small, small, small]
    times.four.ours.push((4 * small.megabytes) / (await page.hash(four)))
    times.four.peer.push(small.megabytes / (await page.hash([small])))
  }
  await page.close()
  await bare.close()
  const speed = (what: string, { ours, peer }: Pair, ratio: number): ReportRow => {
    return { what, ours: median(ours), peer: median(peer), unit: 'MB/s', target: { ratio } }
  }
  return [
    speed(`fingerprint of ${usual.megabytes} MB, sha256sum`, times.usual, 1.5),
    speed(`fingerprint of ${usual.megabytes} MB, browser's digest`, times.limit, 0.9),
    speed(`fingerprint of ${small.megabytes} MB, sha256sum`, times.small, 0.9),
    speed(`fingerprint of ${large.megabytes} MB, sha256sum`, times.large, 0.9),
    speed('four fingerprints at once, one', times.four, 1.3),
    ...(await memoryOf(browser, openPage, large, whole))
  ]
}

function entriesOf<Name extends string, Value>(of: Record<Name, Value>): [Name, Value][] {
  return Object.entries(of) as [Name, Value][] // as: its own keys
}

interface Pair {
  ours: number[]
  peer: number[]
}

function pair(): Pair {
  return { ours: [], peer: [] }
}

interface BenchFile {
  path: string
  megabytes: number
}

async function makeFile(path: string, megabytes: number): Promise<BenchFile> {
  const file = await open(path, 'w')
  for (let written = 0; written < megabytes; written++) await file.write(randomBytes(1_000_000))
  await file.close()
  return { path, megabytes }
}

async function sha256sum({ path }: BenchFile): Promise<number> {
  const start = performance.now()
  await run('sha256sum', [path])
  return (performance.now() - start) / 1000
}

// by their names in the build
type HashModule = Record<string, (file: File) => Promise<string>>

async function addInput(page: Page): Promise<void> {
  await page.evaluate(() => {
    const input = document.createElement('input')
    input.type = 'file'
    input.multiple = true
    input.id = 'bench'
    document.body.append(input)
  })
}

// a worker that reads a whole file and calls the browser's digest
async function openBareDigest(browser: Browser, address: string) {
  const page = await browser.newPage({ bypassCSP: true }) // allows a worker without a file
  await page.goto(address)
  await addInput(page)
  await page.evaluate(() => {
    const code = `onmessage = async ({ data }) => {
      postMessage(await crypto.subtle.digest('SHA-256', await data.arrayBuffer()))
    }`
    const url = URL.createObjectURL(new Blob([code], { type: 'text/javascript' }))
    Object.assign(globalThis, { bareWorker: new Worker(url) })
  })
  return {
    /** Returns the seconds until the file is hashed. */
    async digest(file: BenchFile): Promise<number> {
      await choose(page, [file])
      return page.evaluate(async () => {
        const worker: Worker = Object(globalThis).bareWorker
        const [file] = document.querySelector<HTMLInputElement>('#bench')?.files ?? []
        const start = performance.now()
        await new Promise((resolve, reject) => {
          worker.onmessage = resolve
          worker.onerror = reject
          worker.postMessage(file)
        })
        return (performance.now() - start) / 1000
      })
    },
    close: () => page.close()
  }
}

async function openHashing(browser: Browser, build: AstroBuild, address: string) {
  const module = [...build.files.keys()].find(path => /\/hash-client\.[^/]+\.js$/.test(path))
  if (!module) throw new Error('the build holds no hash-client')
  const page = await browser.newPage()
  await page.goto(address)
  await addInput(page)
  return {
    /** Returns the seconds until all files are hashed. */
    async hash(files: BenchFile[]): Promise<number> {
      await choose(page, files)
      return page.evaluate(async path => {
        const named: HashModule = await import(path)
        const hashFile = Object.values(named).find(each => typeof each === 'function')
        const input = document.querySelector<HTMLInputElement>('#bench')
        const chosen = [...(input?.files ?? [])]
        if (!hashFile || chosen.length === 0)
          throw new Error('nothing to hash, or nothing to hash by')
        const start = performance.now()
        await Promise.all(chosen.map(file => hashFile(file)))
        return (performance.now() - start) / 1000
      }, module)
    },
    async read(file: BenchFile): Promise<void> {
      await choose(page, [file])
      await page.evaluate(async () => {
        const [file] = document.querySelector<HTMLInputElement>('#bench')?.files ?? []
        const reader = file?.stream().getReader()
        while (reader && !(await reader.read()).done);
      })
    },
    close: () => page.close()
  }
}

// a file that occurs twice becomes two entries
async function choose(page: Page, files: BenchFile[]): Promise<void> {
  await page.locator('#bench').setInputFiles(files.map(({ path }) => path))
}

type Hashing = Awaited<ReturnType<typeof openHashing>>

// the peak growth while the page reads or hashes files; no rows on systems other than Linux
async function memoryOf(
  browser: Browser,
  openPage: () => Promise<Hashing>,
  file: BenchFile,
  whole: BenchFile
): Promise<ReportRow[]> {
  if (!existsSync('/proc/self/clear_refs')) return []
  const client = await browser.newBrowserCDPSession()
  const growth = async (work: (page: Hashing) => Promise<unknown>) => {
    const page = await openPage()
    const { processInfo } = await client.send('SystemInfo.getProcessInfo')
    const pids = processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => id)
    const before = pids.map(pid => statusOf(pid, 'VmRSS'))
    for (const pid of pids) writeFileSync(`/proc/${pid}/clear_refs`, '5') // resets the peak
    await work(page)
    const grown = pids.map((pid, index) => statusOf(pid, 'VmHWM') - (before[index] ?? 0))
    await page.close()
    return Math.max(...grown)
  }
  const peer = await growth(page => page.read(file))
  const ours = await growth(page => page.hash([file]))
  const what = `memory for ${file.megabytes} MB, reading alone`
  const two = await growth(page => page.hash([whole, whole]))
  return [
    { what, ours, peer, unit: 'MB', target: { atMost: peer + spareMegabytes } },
    {
      what: `memory for two of ${whole.megabytes} MB at once`,
      ours: two,
      unit: 'MB',
      target: { atMost: maxMegabytesForTwoFiles }
    }
  ]
}

// in MB: `VmHWM:  123456 kB` → 123.456
function statusOf(pid: number, name: string): number {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0) / 1000
}
