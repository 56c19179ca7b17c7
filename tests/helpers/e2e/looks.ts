import type { Page } from '@playwright/test'
import { type Locale, locales } from '../../../src/i18n/index.ts'
import { inspectPage } from './accessibility.ts'

/**
 * The languages in which tests check every screen: French, whose words are longer, or all languages
 * if `EVERY_STATE` is set.
 */
export const checkedLocales: readonly Locale[] = process.env.EVERY_STATE ? locales : ['fr']

/**
 * Checks a page in a window of 320 pixels, in the light scheme and with all rules. Then checks it
 * in each of the other widths, in the dark scheme and with the rules on colors.
 */
export async function inspectAtWidths(page: Page, ...others: [number, ...number[]]): Promise<void> {
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize({ width: 320, height: 900 })
  await inspectPage(page)
  await page.emulateMedia({ colorScheme: 'dark' })
  for (const width of others) {
    await page.setViewportSize({ width, height: 900 })
    await inspectPage(page, 'colors')
  }
}
