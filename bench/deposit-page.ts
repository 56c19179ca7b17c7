import { randomBytes } from 'node:crypto'
import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, CDPSession, Page } from '@playwright/test'
import { signUp } from '../tests/helpers/e2e/page.ts'
import { makeServiceProcess } from '../tests/helpers/service.ts'
import { launchBrowser, traceTasks } from './browser.ts'
import { type BenchOptions, median, type ReportRow } from './table.ts'

// between 1 and 200 kB, spread evenly, the same in every run
const sizeOf = (index: number) => 1000 + ((index * 7919) % 199_001)

/**
 * The deposit page with a real service and a thousand documents that were chosen together: how long
 * the page is blocked, the time until the last is deposited, and the memory.
 */
export async function measure({ runs, quick, say, signal }: BenchOptions): Promise<ReportRow[]> {
  const count = quick ? 100 : 1000
  await using service = await makeServiceProcess()
  await service.start()
  await using folder = await mkdtempDisposable(join(tmpdir(), 'vidimus-desk-'))
  await using browser = await launchBrowser(signal)
  const home = `http://localhost:${service.port}/en`
  const deposits: Deposited[] = []
  for (let run = 1; run <= runs; run++) {
    signal.throwIfAborted()
    // every file has different bytes
    const paths = await makeFiles(folder.path, count)
    deposits.push(await deposit(browser, home, paths))
    say(`desk, ${run} of ${runs}: ${count} in ${deposits.at(-1)?.seconds.toFixed(0)} s`)
  }
  return rowsOf(deposits, count)
}

interface Deposited {
  seconds: number
  /** Processor time in milliseconds. */
  longest: number
  /** In bytes. */
  grown: number
}

async function deposit(browser: Browser, home: string, paths: string[]): Promise<Deposited> {
  const context = await browser.newContext({ locale: 'en' })
  const page = await context.newPage()
  await signUp(page, home)
  await page.goto(`${home}/deposit`)
  const input = page.locator('main input[type=file]').first()
  await input.waitFor({ state: 'attached' })
  await page.locator('astro-island[ssr]').waitFor({ state: 'detached' })
  const client = await context.newCDPSession(page)
  await client.send('HeapProfiler.enable')
  const before = await heapOf(client)
  const endTrace = await traceTasks(client)
  const started = performance.now()
  await input.setInputFiles(paths)
  const count = paths.length.toLocaleString('en')
  await headingOf(page, `of ${count}`)
  await headingOf(page, `${count} recorded`)
  const seconds = (performance.now() - started) / 1000
  const longest = Math.max(0, ...(await endTrace()))
  const grown = (await heapOf(client)) - before
  await context.close()
  return { seconds, longest, grown }
}

async function makeFiles(folder: string, count: number): Promise<string[]> {
  const paths: string[] = []
  for (let index = 0; index < count; index++) {
    const path = join(folder, `document-${index}.bin`)
    await writeFile(path, randomBytes(sizeOf(index)))
    paths.push(path)
  }
  return paths
}

// a timer in the page looks for the heading, because polling by Playwright would cause long tasks
// there
function headingOf(page: Page, text: string): Promise<void> {
  return page.evaluate(
    wanted =>
      new Promise<void>((done, fail) => {
        const until = Date.now() + 600_000
        const timer = setInterval(() => {
          const text = document.querySelector('section[tabindex="-1"] h2')?.textContent ?? ''
          const hasFailed = Date.now() > until || text.includes('not recorded')
          if (!hasFailed && !text.includes(wanted)) return
          clearInterval(timer)
          if (hasFailed) fail(new Error(`the page says ${text}`))
          else done()
        }, 100)
      }),
    text
  )
}

async function heapOf(client: CDPSession): Promise<number> {
  await client.send('HeapProfiler.collectGarbage')
  const { usedSize } = await client.send('Runtime.getHeapUsage')
  return usedSize
}

function rowsOf(deposits: Deposited[], count: number): ReportRow[] {
  const of = (figure: keyof Deposited) => median(deposits.map(each => each[figure]))
  const what = `${count.toLocaleString('en')} files chosen`
  return [
    { what: `${what}, longest task`, ours: of('longest'), unit: 'ms', target: { atMost: 50 } },
    {
      what: `${what}, recorded`,
      ours: count / of('seconds'),
      unit: '/s',
      target: { atLeast: 100 }
    },
    // the chosen files alone take 100 MB
    { what: `${what}, page memory`, ours: of('grown') / 1e6, unit: 'MB', target: { atMost: 30 } }
  ]
}
