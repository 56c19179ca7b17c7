import type { Browser } from '@playwright/test'
import { makeEdgeProcess } from '../tests/helpers/servers/edge.ts'
import { makeServiceProcess } from '../tests/helpers/service.ts'
import { launchBrowser } from './browser.ts'
import { medians } from './load.ts'
import { type BenchOptions, median, type ReportRow } from './table.ts'

const secret = 'a secret of the site that is long enough'
const warmVisits = 10

/**
 * First paint of the start page in Chromium, without a cache of the browser, from the edge runtime and
 * from a Node process of the site (`ROLE=web`), both before one API: as the first visitor after a
 * start, and as a later one. Needs `npm run build:edge`.
 */
export async function measure(options: BenchOptions): Promise<ReportRow[]> {
  const { runs, quick, say, signal } = options
  await using api = await makeServiceProcess({ ROLE: 'api', SITE_SECRET: secret, DEV: 'true' })
  await api.start()
  const settings = { API_INTERNAL_URL: `http://127.0.0.1:${api.port}`, SITE_SECRET: secret }
  await using edge = await makeEdgeProcess(settings)
  await using node = await makeServiceProcess({ ...settings, ROLE: 'web' })
  await using browser = await launchBrowser(signal)
  const figures: Record<string, number>[] = []
  for (let run = 0; run < runs; run++) {
    signal.throwIfAborted()
    say(`visits ${run + 1} of ${runs}`)
    const figure: Record<string, number> = {}
    // each is first as often as the other
    for (const name of run % 2 === 0 ? ['edge', 'node'] : ['node', 'edge']) {
      const site = name === 'edge' ? edge : node
      await site.start()
      figure[`${name} cold`] = await firstPaint(browser, site.port)
      const later: number[] = []
      for (let visit = 0; visit < (quick ? 2 : warmVisits); visit++)
        later.push(await firstPaint(browser, site.port))
      figure[`${name} warm`] = median(later)
      await site.stop()
    }
    figures.push(figure)
  }
  const all = medians(figures)
  return ['cold', 'warm'].map(host => ({
    what: `first paint from the edge, ${host} host; peer: from Node`,
    ours: all[`edge ${host}`] ?? Number.NaN,
    peer: all[`node ${host}`] ?? Number.NaN,
    unit: 'ms',
    target: { ratioAtMost: 1.2 }
  }))
}

/** Milliseconds from the start of the navigation. */
async function firstPaint(browser: Browser, port: number): Promise<number> {
  const context = await browser.newContext()
  try {
    const page = await context.newPage()
    await page.goto(`http://localhost:${port}/en`)
    return await page.evaluate(
      () =>
        new Promise<number>(resolve => {
          const seen = new PerformanceObserver(list => {
            const [paint] = list.getEntriesByName('first-contentful-paint')
            if (paint) resolve(paint.startTime)
          })
          seen.observe({ type: 'paint', buffered: true })
        })
    )
  } finally {
    await context.close()
  }
}
