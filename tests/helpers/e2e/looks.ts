import type { Page } from '@playwright/test'
import { type Locale, locales } from '../../../src/i18n/index.ts'
import { inspectInBothSchemes, inspectPage } from './accessibility.ts'

/**
 * The languages in which tests check every screen: French, whose words are longer, or all languages
 * if `EVERY_STATE` is set.
 */
export const checkedLocales: readonly Locale[] = process.env.EVERY_STATE ? locales : ['fr']

/**
 * Checks a page in a window of 320 pixels, in both color schemes and with all rules. Then checks it
 * in each width of `others`, only in the dark scheme and only with the rules on colors.
 */
export async function inspectAtWidths(page: Page, ...others: [number, ...number[]]): Promise<void> {
  await page.setViewportSize({ width: 320, height: 900 })
  await inspectInBothSchemes(page)
  for (const width of others) {
    await page.setViewportSize({ width, height: 900 })
    await inspectPage(page, 'colors')
  }
}
