import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from '@playwright/test'
import { importLimits } from '../src/contract/imports.ts'
import { makeAdmin } from '../tests/helpers/e2e/admins.ts'
import { signUp } from '../tests/helpers/e2e/page.ts'
import { makeServiceProcess, type ServiceProcess } from '../tests/helpers/service.ts'
import { launchBrowser, traceTasks } from './browser.ts'
import { medians } from './load.ts'
import type { BenchOptions, ReportRow } from './table.ts'

/**
 * Measures the page that imports people, with a real service and the largest file: 25 MB with
 * 100,000 people. Measures how long each step takes and how long the page is blocked. A second
 * measurement slows the processor down four times, to the speed of a phone, and ends when the
 * service has all rows.
 */
export async function measure({ runs, quick, say, signal }: BenchOptions): Promise<ReportRow[]> {
  const count = quick ? 2000 : importLimits.rows
  await using service = await makeServiceProcess({ DEMO: 'false' })
  await service.start()
  await using folder = await mkdtempDisposable(join(tmpdir(), 'vidimus-wizard-'))
  await using browser = await launchBrowser(signal)
  const all: Record<string, number>[] = []
  for (let run = 1; run <= runs; run++) {
    signal.throwIfAborted()
    const path = join(folder.path, `people-${run}.csv`)
    await writeFile(path, listOf(count, run))
    const usual = await importFile(browser, service, { path, count, slowdown: 1 })
    say(`wizard, ${run} of ${runs}: ${JSON.stringify(usual)}`)
    const phone = await importFile(browser, service, { path, count, slowdown: 4 })
    say(`wizard, ${run} of ${runs}, slowed down: ${JSON.stringify(phone)}`)
    all.push({ ...usual, phoneSent: phone.sent, phoneLongest: phone.longest })
  }
  return rowsOf(medians(all), count)
}

/** Returns a CSV list of people, with 248 bytes per row. */
function listOf(count: number, run: number): string {
  const rows = Array.from({ length: count }, (_, at) => {
    const start = `Élodie Durand ${at};p${at}-${run}@example.com;fr;`
    return start.padEnd(246, 'x')
  })
  return `Nom;Courriel;Langue;Remarque\n${rows.join('\n')}\n`
}

/** Imports a file. Returns how long each step took in seconds, and the longest task in ms. */
async function importFile(
  browser: Browser,
  service: ServiceProcess,
  { path, count, slowdown }: { path: string; count: number; slowdown: number }
) {
  const context = await browser.newContext({ locale: 'en' })
  const page = await context.newPage()
  const home = `http://localhost:${service.port}/en`
  const company = await makeAdmin(await signUp(page, home), ['admin'], service.dataDir)
  await page.goto(`${home}/admin/${company}/users-import`)
  const input = page.locator('main input[type=file]')
  await input.waitFor({ state: 'attached' })
  await page.locator('astro-island[ssr]').waitFor({ state: 'detached' })
  const client = await context.newCDPSession(page)
  await client.send('Emulation.setCPUThrottlingRate', { rate: slowdown })
  const endTrace = await traceTasks(client)
  let began = performance.now()
  const seconds = () => {
    const passed = (performance.now() - began) / 1000
    began = performance.now()
    return passed
  }
  await input.setInputFiles(path)
  await clickWhenReady(page, '[data-step=read] .btn-primary:not(:disabled, [aria-disabled=true])')
  const read = seconds()
  await clickWhenReady(page, '[data-step=columns] .btn-primary')
  seconds()
  await clickWhenReady(page, '[data-state=checking], [data-state=checked]', false)
  const sent = seconds()
  let [checked, done] = [Number.NaN, Number.NaN]
  if (slowdown === 1) {
    await clickWhenReady(page, '[data-state=checked] .btn-primary')
    checked = seconds()
    await clickWhenReady(page, '[data-state=done]', false)
    done = seconds()
    const text = await page.locator('[data-state=done]').innerText()
    const created = count.toLocaleString('en')
    if (!text.includes(created)) throw new Error(`the page does not say ${created}: ${text}`)
  }
  const tasks = await endTrace()
  await context.close()
  const isLong = (ms: number) => ms > 50 * slowdown
  return {
    read,
    sent,
    checked,
    done,
    longest: Math.max(0, ...tasks),
    long: tasks.filter(isLong).length
  }
}

/**
 * Waits until an element of the page matches `selector`, then clicks it unless `isClicked` is
 * false. The page itself looks for the element, because Playwright would poll with long tasks in
 * the page's main thread.
 */
function clickWhenReady(page: Page, selector: string, isClicked = true): Promise<void> {
  return page.evaluate(
    ({ selector, isClicked }) =>
      new Promise<void>((done, fail) => {
        const until = Date.now() + 900_000
        const timer = setInterval(() => {
          const found = document.querySelector<HTMLElement>(selector)
          const problem = document.querySelector('[data-step] .alert-error')?.textContent
          if (!found && problem === undefined && Date.now() < until) return
          clearInterval(timer)
          if (!found) return fail(new Error(`${selector} did not come: ${problem}`))
          if (isClicked) found.click()
          done()
        }, 50)
      }),
    { selector, isClicked }
  )
}

function rowsOf(figures: Record<string, number>, count: number): ReportRow[] {
  const of = (name: string) => figures[name] ?? Number.NaN
  const what = `${count.toLocaleString('en')} rows on the page`
  const steps = ['read', 'sent', 'checked', 'done'].map(step => ({
    what: `${what}, ${step}`,
    ours: count / of(step),
    unit: '/s'
  }))
  return [
    ...steps,
    { what: `${what}, longest task`, ours: of('longest'), unit: 'ms', target: { atMost: 50 } },
    { what: `${what}, sent, 4 times slower`, ours: count / of('phoneSent'), unit: '/s' },
    {
      what: `${what}, longest task, 4 times slower`,
      ours: of('phoneLongest'),
      unit: 'ms',
      target: { atMost: 200 }
    }
  ]
}
