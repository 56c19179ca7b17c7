import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, type Locator, type Page } from '@playwright/test'
import { documentFolder, makePdf } from '../../helpers/e2e/documents.ts'
import { centerOf, type Point, startDrag } from '../../helpers/e2e/drags.ts'
import { test } from '../../helpers/e2e/journey.ts'
import { isMatrix } from '../../helpers/e2e/looks.ts'
import {
  delayRequests,
  homeAddress,
  rowOf,
  sealedWord,
  startSession
} from '../../helpers/e2e/page.ts'

const screens = [
  { width: 1280, height: 800 },
  ...(isMatrix ? [{ width: 768, height: 1024 }] : []),
  { width: 320, height: 640 }
]

/**
 * Returns the points where a drag enters the window: at its left edge, in its middle and in a
 * quarter.
 */
function entries({ width, height }: { width: number; height: number }): Point[] {
  return [
    { x: 3, y: height / 2 },
    { x: width / 2, y: height / 2 },
    { x: (3 * width) / 4, y: (3 * height) / 4 }
  ]
}

test('takes what is dropped on the zone of a page, or on a half of it, for what this is for', async ({
  page
}) => {
  await startSession(page, homeAddress())
  const deposits = watchDeposits(page)
  for (const from of ['home', 'verify'] as const) {
    await test.step(`never deposits a file that is dropped on the zone of the ${from} page`, async () => {
      const path = await makePdf(`zone-${from}.pdf`, `Dropped on ${from}`)
      for (const screen of screens) {
        await page.setViewportSize(screen)
        const ways = screen === screens[0] ? entries(screen) : entries(screen).slice(-1)
        for (const [index, entry] of ways.entries()) {
          const isFirst = index === 0
          await open(page, from === 'home' ? '/en' : '/en/verify')
          const zone = page.locator('label:has(input[type=file])').first()
          await zone.scrollIntoViewIfNeeded()
          const drag = await startDrag(page, [path], entry)
          if (isFirst) {
            for (const point of await pointsOf(zone)) {
              await drag.over(point)
              await expect(zone).toHaveAttribute('data-over', '')
              await expect(page.locator('#drop-overlay [data-over]')).toHaveCount(0)
            }
          }
          const offered = page.locator('#drop-overlay [data-target=deposit]')
          if (from === 'verify') await expect(offered).toHaveCount(0)
          await drag.drop(await visibleCentre(zone))
          await expect(page).toHaveURL(/\/en\/verify$/)
          await expect(page.getByRole('heading', { name: /no record/ })).toBeVisible()
        }
      }
    })
  }

  const screen = { width: 1280, height: 800 }
  await page.setViewportSize(screen)
  await test.step('checks what is dropped on the half for it, wherever the files came in', async () => {
    const path = await makePdf('half.pdf', 'Dropped on a half')
    for (const entry of entries(screen)) {
      await open(page, '/en/history')
      const drag = await startDrag(page, [path], entry)
      await drag.drop(await centerOf(page.locator('#drop-overlay [data-target=verify]')))
      await expect(page).toHaveURL(/\/en\/verify$/)
      await expect(page.getByRole('heading', { name: /no record/ })).toBeVisible()
    }
  })
  expect(deposits()).toBe(0)

  await test.step('takes what is dropped on the zone of the deposit page, whatever else is offered', async () => {
    await open(page, '/en/deposit')
    const zone = page.locator('[data-drop-zone=deposit]')
    await mkdir(documentFolder, { recursive: true })
    for (const [index, entry] of entries(screen).entries()) {
      const path = join(documentFolder, `deposit-${index}.txt`)
      await writeFile(path, `deposited ${index} ${Math.random()}`)
      const drag = await startDrag(page, [path], entry)
      await drag.drop(await visibleCentre(zone))
      const row = rowOf(page, `deposit-${index}.txt`)
      await expect(row.getByText(sealedWord)).toBeVisible()
    }
    await expect(page).toHaveURL(/\/en\/deposit$/)
  })
  expect(deposits()).toBeGreaterThan(0)
})

test('takes a file that is dropped before what shows the targets and reads it has loaded', async ({
  page
}) => {
  const path = await makePdf('early.pdf', 'Dropped early')
  const release = await delayRequests(page, /\/_astro\/drop[\w-]+\.[^/]+\.js$/)
  await page.goto('/en')
  const zone = page.locator('[data-drop-zone=verify]')
  const drag = await startDrag(page, [path], { x: 3, y: 3 })
  await drag.drop(await visibleCentre(zone))
  await expect(page.locator('html')).not.toHaveAttribute('data-dragging')
  release()
  await expect(page).toHaveURL(/\/en\/verify$/)
  await expect(page.getByRole('heading', { name: /no record/ })).toBeVisible()
  await expect(page.locator('#drop-overlay')).toHaveCount(0)
})

async function open(page: Page, path: string): Promise<void> {
  await page.goto(path)
  await expect(page.locator('html')).toHaveAttribute('data-can', /deposit/)
  await expect(page.locator('astro-island[ssr]')).toHaveCount(0)
}

/** Returns the center and the edges of the visible part of a drop zone. */
async function pointsOf(zone: Locator): Promise<Point[]> {
  const { left, top, right, bottom } = await visibleBox(zone)
  const x = (left + right) / 2
  const y = (top + bottom) / 2
  return [
    { x, y },
    { x: left + 4, y },
    { x: right - 4, y },
    { x, y: top + 4 },
    { x, y: bottom - 4 }
  ]
}

async function visibleCentre(zone: Locator): Promise<Point> {
  const { left, top, right, bottom } = await visibleBox(zone)
  return { x: (left + right) / 2, y: (top + bottom) / 2 }
}

/**
 * Returns the visible part of a drop zone, without what the bar at the top of the window covers.
 */
async function visibleBox(zone: Locator) {
  return zone.evaluate(element => {
    const { left, top, right, bottom } = element.getBoundingClientRect()
    const bar = document.querySelector('.bar')?.getBoundingClientRect().bottom ?? 0
    return { left, right, top: Math.max(top, bar), bottom: Math.min(bottom, innerHeight) }
  })
}

/** Counts the calls of a page that deposit files. Returns a function that returns their number. */
function watchDeposits(page: Page): () => number {
  let count = 0
  page.on('request', request => {
    const isSending = ['POST', 'PUT', 'PATCH'].includes(request.method())
    if (isSending && /^\/(deposit|uploads)(\/|$)/.test(new URL(request.url()).pathname)) count += 1
  })
  return () => count
}
