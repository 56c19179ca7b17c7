import { canonicalizeSvg } from '../src/server/domain/companies/canonical-svg.ts'
import { drawPicture, pictureSizes } from '../tests/helpers/e2e/draw-picture.ts'
import { findFirefox, startFirefox } from '../tests/helpers/e2e/firefox.ts'
import { nestedPictures } from '../tests/helpers/nested-pictures.ts'
import { launchBrowser } from './browser.ts'
import { type BenchOptions, median, type ReportRow } from './table.ts'

/**
 * How long a browser takes to draw a logo or favicon that the service accepts, at the sizes at
 * which pages show it: the slowest of 500 nested drawings, each by the median of several attempts.
 * In Chromium and, where it is installed, in Firefox.
 */
export async function measure(options: BenchOptions): Promise<ReportRow[]> {
  const pictures = nestedPictures(options.quick ? 50 : 500).flatMap(picture => {
    try {
      return [canonicalizeSvg(picture, 'logo')]
    } catch {
      return []
    }
  })
  const rows: ReportRow[] = []
  const browser = await launchBrowser(options.signal)
  try {
    const page = await browser.newPage()
    const draw = async (picture: string, w: number, h: number) =>
      (await page.evaluate(drawPicture, { picture, w, h })).milliseconds
    rows.push(await slowestOf('Chromium', pictures, draw, options))
  } finally {
    await browser.close()
  }
  const path = findFirefox()
  if (path === undefined) return rows
  await using firefox = await startFirefox(path)
  const tab = await firefox.openTab()
  await tab.goto('about:blank')
  const draw = async (picture: string, w: number, h: number) => {
    const input = JSON.stringify({ picture, w, h })
    return Number(await tab.evaluate(`async () => (await (${drawPicture})(${input})).milliseconds`))
  }
  rows.push(await slowestOf('Firefox', pictures, draw, options))
  return rows
}

async function slowestOf(
  browser: string,
  pictures: readonly string[],
  draw: (picture: string, w: number, h: number) => Promise<number>,
  { quick, signal }: BenchOptions
): Promise<ReportRow> {
  let slowest = 0
  // the first drawing of a browser loads its fonts
  for (const picture of pictures.slice(0, 20)) await draw(picture, 100, 20)
  for (const picture of pictures) {
    for (const { w, h } of pictureSizes) {
      signal.throwIfAborted()
      const times: number[] = []
      for (let run = 0; run < (quick ? 1 : 3); run++) times.push(await draw(picture, w, h))
      slowest = Math.max(slowest, median(times))
    }
  }
  return {
    what: `slowest accepted picture in ${browser}`,
    ours: slowest,
    unit: 'ms',
    target: { atMost: 100 },
    note: `${pictures.length} nested drawings that are accepted, each drawn at ${pictureSizes.length} sizes`
  }
}
