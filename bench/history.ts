import type { CDPSession, Page } from '@playwright/test'
import { signUp } from '../tests/helpers/e2e/page.ts'
import { seedRequests } from '../tests/helpers/e2e/seeded-requests.ts'
import { makeServiceProcess } from '../tests/helpers/service.ts'
import { launchBrowser } from './browser.ts'
import { type BenchOptions, median, quantile, type ReportRow } from './table.ts'

/** A swipe over the screen: speed in pixels per second, duration in seconds. */
const flick = { speed: 3000, seconds: 10 }

/**
 * Measures scrolling through a history of 100,000 loaded requests in a real browser: how regular
 * the frames are, and how much of a core the page's main thread uses. Without a graphics card the
 * processor draws the screen, so frames are later than on an ordinary computer.
 */
export async function measure({ runs, quick, say, signal }: BenchOptions): Promise<ReportRow[]> {
  const count = quick ? 2000 : 100_000
  await using service = await makeServiceProcess()
  await service.start()
  await using browser = await launchBrowser()
  const page = await browser.newPage()
  const email = await signUp(page, `http://localhost:${service.port}/en`)
  await seedRequests(await service.socketDir(), email, count)
  await page.goto(`http://localhost:${service.port}/en/history`)
  const loadedIn = await loadAll(page, signal)
  say(`${count} requests loaded in ${(loadedIn / 1000).toFixed(0)} s`)
  const session = await page.context().newCDPSession(page)
  const scrolls: Scroll[] = []
  for (let run = 0; run < runs; run++) {
    signal.throwIfAborted()
    scrolls.push(await scroll(page, session))
  }
  return rowsOf(scrolls)
}

/**
 * Scrolls to the end again and again until everything is loaded, as if somebody held the End key.
 * Returns how long that took in milliseconds.
 */
async function loadAll(page: Page, signal: AbortSignal): Promise<number> {
  const started = performance.now()
  await page.locator('main li[data-request]').first().waitFor()
  const end = page.getByText('No more entries.')
  while (!(await end.isVisible())) {
    signal.throwIfAborted()
    await page.evaluate(
      () =>
        new Promise<void>(resolve => {
          window.scrollTo(0, document.documentElement.scrollHeight)
          requestAnimationFrame(() => resolve())
        })
    )
  }
  return performance.now() - started
}

interface Scroll {
  /** Milliseconds between consecutive frames. */
  frames: number[]
  /** The fraction of the time in which the page's main thread was busy, from 0 to 1. */
  busy: number
}

async function scroll(page: Page, session: CDPSession): Promise<Scroll> {
  await page.evaluate(() => {
    window.scrollTo(0, document.documentElement.scrollHeight / 2)
    window.frameTimes = []
    window.isWatching = true
    requestAnimationFrame(function note(time) {
      window.frameTimes.push(time)
      if (window.isWatching) requestAnimationFrame(note)
    })
  })
  await session.send('Performance.enable')
  const before = await workOf(session)
  await session.send('Input.synthesizeScrollGesture', {
    x: 640,
    y: 400,
    yDistance: -flick.speed * flick.seconds,
    speed: flick.speed,
    gestureSourceType: 'mouse'
  })
  const after = await workOf(session)
  const times = await page.evaluate(() => {
    window.isWatching = false
    return window.frameTimes
  })
  const frames = times.slice(1).map((time, index) => time - (times[index] ?? time))
  return { frames, busy: (after.work - before.work) / (after.time - before.time) }
}

async function workOf(session: CDPSession): Promise<{ work: number; time: number }> {
  const { metrics } = await session.send('Performance.getMetrics')
  const metric = (name: string) => metrics.find(each => each.name === name)?.value ?? Number.NaN
  return { work: metric('TaskDuration'), time: metric('Timestamp') }
}

function rowsOf(scrolls: Scroll[]): ReportRow[] {
  const frames = (share: number) => median(scrolls.map(({ frames }) => quantile(frames, share)))
  return [
    { what: 'history scrolled, frame p50', ours: frames(0.5), unit: 'ms' },
    { what: 'history scrolled, frame p99', ours: frames(0.99), unit: 'ms', target: { atMost: 34 } },
    { what: 'history scrolled, slowest frame', ours: frames(1), unit: 'ms' },
    {
      what: 'history scrolled, main thread',
      ours: 100 * median(scrolls.map(({ busy }) => busy)),
      unit: '%'
    }
  ]
}

declare global {
  interface Window {
    frameTimes: number[]
    isWatching: boolean
  }
}
