import { type Page, test } from '@playwright/test'
import { type Locale, locales } from '../../../src/i18n/index.ts'
import { inspectInSchemes } from './accessibility.ts'

/** Whether each page and state is checked in every look: in each language, width and scheme. */
export const isMatrix = process.env.MATRIX === '1'

/** The details of a test that only the matrix takes, because others see most of the same. */
export const inMatrix = { tag: '@matrix' }

/** The languages in which a walk through the screens of a noun is taken. French is longer. */
export const checkedLocales: readonly Locale[] = isMatrix ? locales : ['fr']

export const schemes = ['light', 'dark'] as const

const looksTaken = new WeakMap<object, number>()

/** Checks a page in the window that it has, in the color scheme whose turn it is. */
export function inspectInTurn(page: Page): Promise<void> {
  return inspectInSchemes(page, isMatrix ? schemes : [schemes[nextTurn() % 2] ?? 'light'])
}

/**
 * Checks a page in a window of 320 pixels or one of these widths, whichever has its turn, in the
 * color scheme whose turn it is. Leaves the window at the last width.
 */
export async function inspectAtWidths(page: Page, ...others: [number, ...number[]]): Promise<void> {
  const all = [320, ...others]
  const turn = nextTurn()
  const widths = isMatrix ? all : [all[(turn >> 1) % all.length] ?? 320]
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 })
    await inspectInSchemes(page, isMatrix ? schemes : [schemes[turn % 2] ?? 'light'])
  }
  await page.setViewportSize({ width: all.at(-1) ?? 320, height: 900 })
}

/** Begins at another number in each test, and at the same in each run, so that a failure repeats. */
function nextTurn(): number {
  const info = test.info()
  const turn = looksTaken.get(info) ?? info.title.length
  looksTaken.set(info, turn + 1)
  return turn
}
