import { expect, type Page, test } from '@playwright/test'
import { socketDir } from '../helpers/e2e/data-dir.ts'
import { chooseFiles, homeAddress, startSession, textFile } from '../helpers/e2e/page.ts'
import { seedRequests } from '../helpers/e2e/seeded-requests.ts'

test('a verdict and a history are printed as documents', { tag: '@matrix' }, async ({ page }) => {
  await test.step('a verdict prints as a document, in black on white from the dark theme too', async () => {
    await page.goto('/en/verify')
    await expect(page.getByRole('button', { name: 'Verify', exact: true })).toBeEnabled()
    await chooseFiles(page, textFile('lease.txt'))
    await expect(page.locator('[data-verdict]')).toBeVisible()
    await page.evaluate(() => document.documentElement.setAttribute('data-theme', 'vidimus-dark'))
    await page.emulateMedia({ media: 'print' })
    await expectOnlyDocument(page, ['[data-drop-zone]', 'form'])
    await expect(page.getByText('Verified on')).toBeVisible()
    await expect(page.locator('[data-verdict] dl time')).toHaveText(/:\d\d:\d\d.* UTC/)
    const heading = page.locator('[data-verdict] h2')
    await expect(heading).toHaveCSS('color', 'rgb(0, 0, 0)')
    await expect(page.locator('[data-verdict]')).toHaveCSS('background-color', 'rgb(255, 255, 255)')
  })

  await test.step('the history prints every row it has loaded, with the time in full', async () => {
    await page.emulateMedia({ media: 'screen' })
    const email = await startSession(page, homeAddress())
    await seedRequests(socketDir(), email, 45)
    await page.goto('/en/history')
    const rows = page.locator('[data-request]')
    await expect(rows.first()).toBeVisible()
    expect(await rows.count()).toBeLessThan(45)
    expect(rowsOnPaper(await page.pdf())).toHaveLength(45)
    await page.evaluate(() => dispatchEvent(new Event('beforeprint')))
    await page.emulateMedia({ media: 'print' })
    await expect(rows).toHaveCount(45)
    await expect(rows.last().locator('time')).toHaveText(/:\d\d:\d\d.* UTC/, { useInnerText: true })
    await expect(rows.last().getByText(/ago|yesterday/)).toBeHidden()
    const heading = page.locator('[data-print-heading]')
    await expect(heading).toContainText(email)
    await expect(heading).toContainText('45 entries')
    await expectOnlyDocument(page, ['search'])

    await page.emulateMedia({ media: 'screen' })
    await page.evaluate(() => dispatchEvent(new Event('afterprint')))
    await rows.first().getByRole('link').click()
    await expect(page.getByRole('dialog').getByText('Started')).toBeVisible()
    await page.emulateMedia({ media: 'print' })
    await expect(rows.first()).toBeHidden()
    await expect(page.getByRole('dialog').locator('time').first()).toHaveText(/:\d\d:\d\d.* UTC/)
  })

  await test.step('a history that is printed in part says so, with its filter', async () => {
    await page.emulateMedia({ media: 'screen' })
    const email = await startSession(page, homeAddress())
    await seedRequests(socketDir(), email, 120)
    await page.goto('/en/history?kind=deposit')
    await expect(page.locator('[data-request]').first()).toBeVisible()
    await page.emulateMedia({ media: 'print' })
    const heading = page.locator('[data-print-heading]')
    await expect(heading).toContainText(/Only the newest \d+ entries; older ones are not printed/)
    await expect(heading).toContainText('Type: Deposits')
    await expect(heading).toContainText(/Printed on .*:\d\d:\d\d/)
  })

  await test.step('the history loads what it prints: all that matches, or about the newest thousand', async () => {
    await page.emulateMedia({ media: 'screen' })
    const email = await startSession(page, homeAddress())
    await seedRequests(socketDir(), email, 1300)
    // the browser's own dialog would wait for a person
    await page.addInitScript(() => {
      window.print = () => {
        dispatchEvent(new Event('beforeprint'))
        const rows = document.querySelectorAll('[data-request]').length
        document.documentElement.dataset.printed = String(rows)
      }
    })
    const from = new Date(Date.now() - 20 * 24 * 3600 * 1000).toISOString().slice(0, 10)
    await page.goto(`/en/history?kind=deposit&state=failed&from=${from}`)
    await expect(page.locator('[data-request]').first()).toBeVisible()
    const heading = page.locator('[data-print-heading]')
    const printed = page.locator('[data-printed]')
    await test.step('a filter with one page', async () => {
      await page.getByRole('button', { name: 'Print', exact: true }).click()
      await expect(printed).toHaveAttribute('data-printed', /^\d\d$/)
      await page.emulateMedia({ media: 'print' })
      await expect(heading).toContainText(/^Vidimus · Camille · /)
      await expect(heading).toContainText('State: Failed')
      await expect(heading).toContainText(/From: .*:00:00/)
      await expect(heading).toContainText(/ UTC.*\d\d entries/)
      await page.emulateMedia({ media: 'screen' })
    })
    await test.step('by the keyboard, with more rows than are printed', async () => {
      await page.goto('/en/history?kind=deposit')
      await expect(page.locator('[data-request]').first()).toBeVisible()
      await page.keyboard.press('Control+p')
      await expect(page.getByText(/^Loading to print: [\d,]+ entries$/)).toBeVisible()
      await expect(printed).toHaveAttribute('data-printed', '1050')
      await page.emulateMedia({ media: 'print' })
      await expect(heading).toContainText('Only the newest 1,050 entries')
      await page.emulateMedia({ media: 'screen' })
    })
    await test.step('with Caps Lock, when older rows cannot be loaded', async () => {
      await page.route(
        url => url.searchParams.has('cursor'),
        route => route.abort()
      )
      await page.goto('/en/history?kind=deposit')
      await expect(page.locator('[data-request]').first()).toBeVisible()
      await page.keyboard.press('Control+P')
      await expect(printed).toHaveAttribute('data-printed', '50')
      await page.emulateMedia({ media: 'print' })
      await expect(heading).toContainText('Only the newest 50 entries')
    })
  })
})

async function expectOnlyDocument(page: Page, others: readonly string[]): Promise<void> {
  for (const gone of ['button', '.btn', '.bar', '.skip-link', '.drawer-panel', ...others]) {
    await expect(page.locator(gone).filter({ visible: true }), gone).toHaveCount(0)
  }
}

/** Returns the links of the history's rows in a PDF. Chromium writes links in plain text. */
function rowsOnPaper(pdf: Buffer): string[] {
  const links = pdf.toString('latin1').matchAll(/\/URI \(([^)]+)\)/g)
  return [
    ...new Set([...links].map(([, link = '']) => link).filter(link => link.includes('/history')))
  ]
}
