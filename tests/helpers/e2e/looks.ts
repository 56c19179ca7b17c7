import type { Page } from '@playwright/test'
import { type Locale, locales } from '../../../src/i18n/index.ts'
import { inspectInBothSchemes, inspectPage } from './accessibility.ts'

/**
 * The languages in which tests check every screen: French, whose words are longer, or all languages
 * if `EVERY_STATE` is set.
 */
export const walkedLocales: readonly Locale[] = process.env.EVERY_STATE ? locales : ['fr']

/**
 * Checks a page in a narrow window in both schemes with all rules, then in wider ones what their
 * width changes: what is cut off, and the colours of what is only shown there.
 */
export async function inspectAtWidths(page: Page, ...others: number[]): Promise<void> {
  await page.setViewportSize({ width: 320, height: 900 })
  await inspectInBothSchemes(page)
  for (const width of others) {
    await page.setViewportSize({ width, height: 900 })
    await inspectPage(page, 'colours')
  }
}
