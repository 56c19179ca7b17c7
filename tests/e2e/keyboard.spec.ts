import { type BrowserContextOptions, expect, type Page } from '@playwright/test'
import { type Locale, localeNames, type Translate } from '../../src/i18n/index.ts'
import { inspectPage } from '../helpers/e2e/accessibility.ts'
import { test } from '../helpers/e2e/journey.ts'
import { expectFocusSeen, tabTo, tabToTarget } from '../helpers/e2e/keyboard.ts'
import { isMatrix } from '../helpers/e2e/looks.ts'
import { expectSignedInAt, password, siteAddress, textFile } from '../helpers/e2e/page.ts'
import { translatorOfAllWords } from '../helpers/words.ts'

const windows: Record<string, { settings: BrowserContextOptions; from: Locale; to: Locale }> = {
  'a wide window': { settings: { viewport: { width: 1280, height: 800 } }, from: 'fr', to: 'en' },
  'a window of 320 px': {
    settings: { viewport: { width: 320, height: 700 } },
    from: 'fr',
    to: 'en'
  },
  // 1280 × 1024 px, each of them four times as wide and high
  'a window at 400 %': {
    settings: { viewport: { width: 320, height: 256 }, deviceScaleFactor: 4 },
    from: 'en',
    to: 'fr'
  }
}

for (const [name, { settings, from, to }] of Object.entries(windows)) {
  test(`${name} is used by the keyboard alone, from sign-up to sign-out`, async ({ browser }) => {
    // as narrow as all, and lower
    test.skip(!isMatrix && name !== 'a window at 400 %', 'walked at 400 %')
    const context = await browser.newContext(settings)
    const page = await context.newPage()
    const site = siteAddress()
    let t = translatorOfAllWords(from)
    const email = `keys-${Date.now()}@example.com`

    await test.step('signs up', async () => {
      await page.goto(`${site}/${from}`)
      await page.keyboard.press('Tab')
      await expect(page.getByRole('link', { name: t('shell.skip') })).toBeFocused()
      await page.keyboard.press('Enter')
      await expect(page.locator('#main')).toBeFocused()
      await goTo(page, t('common.signUp'), t)
      await type(page, t('account.email'), email)
      await type(page, t('account.username'), 'Keyboard Only')
      await type(page, t('account.password'), password)
      await tabTo(page, 'button', t('account.showPassword'))
      await page.keyboard.press('Space')
      await page.keyboard.press('Space')
      await type(page, t('account.repeat'), password)
      await inspectPage(page)
      await page.keyboard.press('Enter')
      await expectSignedInAt(page, `${site}/${from}`)
    })

    await test.step('chooses another language', async () => {
      await openDrawer(page, t)
      await tabTo(page, 'link', localeNames[to])
      await page.keyboard.press('Enter')
      await expect(page).toHaveURL(`${site}/${to}`)
      await expect(page.locator('html')).toHaveAttribute('lang', new RegExp(`^${to}`))
      t = translatorOfAllWords(to)
    })

    await test.step('deposits and verifies', async () => {
      const file = textFile('Keys.txt', 'by keys alone')
      for (const [act, word] of [
        ['deposit', t('deposit.stamp.sealed')],
        ['verify', t('verify.word.original')]
      ] as const) {
        await goTo(page, t(`common.${act}`), t)
        const input = page.locator('main input[type=file]').first()
        await tabToTarget(page, input, 'the file input')
        // the system's own dialog is the one thing that a test cannot type into
        await input.setInputFiles(file)
        await expect(page.getByText(word, { exact: true }).first()).toBeVisible()
        await inspectPage(page)
      }
      await expect(page.locator('[data-verdict=original] h2')).toBeFocused()
      await tabToTarget(page, page.locator('[data-verdict] summary').first(), 'the details')
      await page.keyboard.press('Enter')
      await tabTo(page, 'button', t('verify.copy'))
    })

    await test.step('filters the history and reads the details', async () => {
      await goTo(page, t('common.history'), t)
      const rows = page.locator('main li[data-request]')
      await expect(rows).toHaveCount(2)
      await tabTo(page, 'searchbox', t('history.filters.search'))
      await page.keyboard.type('keys')
      // the check of one's own deposit has its name
      await expect(page).toHaveURL(/q=keys/)
      await expect(rows).toHaveCount(2)
      const filters = page.locator('search button[aria-expanded]')
      if (await filters.isVisible()) {
        await tabToTarget(page, filters, 'the filters')
        await page.keyboard.press('Enter')
      }
      await tabTo(page, 'combobox', t('history.filters.kind'))
      for (const key of ['Space', 'ArrowDown', 'Enter']) await page.keyboard.press(key)
      await expect(page).toHaveURL(/kind=deposit/)
      await expect(rows).toHaveCount(1)
      await inspectPage(page)
      const row = rows.first().getByRole('link')
      await tabToTarget(page, row, 'the row')
      await page.keyboard.press('Enter')
      const details = page.getByRole('dialog', { name: 'Keys.txt' })
      await expect(details.getByText(t('history.details.original'), { exact: true })).toBeVisible()
      await inspectPage(page)
      await tabTo(page, 'button', t('history.save'))
      await page.keyboard.press('Escape')
      await expect(details).toHaveCount(0)
      await expect(row).toBeFocused()
      await expectFocusSeen(page)
    })

    await test.step('signs out by the menu, and in again', async () => {
      const person = page.locator('#user')
      for (let presses = 0; !(await isFocused(page, '#user')); presses++) {
        expect(presses).toBeLessThan(60)
        await page.keyboard.press('Shift+Tab')
        await expectFocusSeen(page)
      }
      for (const key of ['Enter', 'Escape', 'Enter']) {
        await page.keyboard.press(key)
        const next = page.getByRole('menuitem', { name: t('common.account') })
        await expect(key === 'Enter' ? next : person).toBeFocused()
      }
      await page.keyboard.press('ArrowDown')
      await expect(page.getByRole('menuitem', { name: t('shell.signOut') })).toBeFocused()
      await expectFocusSeen(page)
      await page.keyboard.press('Enter')
      await expect(page).toHaveURL(`${site}/${to}`)
      await expect(page.locator('html')).toHaveAttribute('data-session', 'out')
      await goTo(page, t('common.signIn'), t)
      await type(page, t('account.email'), email)
      await type(page, t('account.password'), password)
      await page.keyboard.press('Enter')
      await expectSignedInAt(page, `${site}/${to}`)
    })
    await context.close()
  })
}

/** Opens a page by its link in the drawer. Expects that the heading of the page gets the focus. */
async function goTo(page: Page, name: string, t: Translate): Promise<void> {
  await openDrawer(page, t)
  const link = page.locator('#drawer').getByRole('link', { name, exact: true })
  await tabToTarget(page, link, `the drawer’s link ${name}`)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { level: 1, name })).toBeFocused()
}

/** Opens the drawer, unless it is visible beside the page. */
async function openDrawer(page: Page, t: Translate): Promise<void> {
  if (await page.locator('#drawer').isVisible()) return
  const menu = page.getByRole('button', { name: t('shell.menu'), exact: true })
  await tabToTarget(page, menu, 'the button of the drawer')
  // Escape closes it and leads back
  for (const key of ['Enter', 'Escape', 'Enter']) {
    await page.keyboard.press(key)
    await expect(page.locator('#drawer')).toBeVisible({ visible: key === 'Enter' })
    await expect(menu).toBeFocused()
  }
}

async function type(page: Page, label: string, text: string): Promise<void> {
  await tabToTarget(page, page.getByLabel(label, { exact: true }), `the field ${label}`)
  await page.keyboard.type(text)
}

function isFocused(page: Page, selector: string): Promise<boolean> {
  return page.locator(selector).evaluate(element => element === document.activeElement)
}
