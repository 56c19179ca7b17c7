import { expect, type Page } from '@playwright/test'
import { socketDir } from '../helpers/e2e/data-dir.ts'
import { test } from '../helpers/e2e/journey.ts'
import { inspectInTurn } from '../helpers/e2e/looks.ts'
import {
  chooseFiles,
  downloadBy,
  homeAddress,
  sealedWord,
  siteAddress,
  startSession,
  textFile,
  watchFaults
} from '../helpers/e2e/page.ts'
import { seedRequests } from '../helpers/e2e/seeded-requests.ts'

test('the history is searched, filled and scrolled', async ({ context, page }) => {
  await test.step('finds, filters, opens and exports, and keeps all that in the address', async () => {
    const faults = watchFaults(page)
    await startSession(page, homeAddress(), { email: `find-${Date.now()}@example.com` })
    await depositFiles(page, ['Lease été.txt', '=cmd.txt', 'Other.txt'])

    await test.step('by words, whatever their accents', async () => {
      await page.goto('/en/history')
      await expect(rows(page)).toHaveCount(3)
      await page.getByRole('searchbox').fill('ETE lease')
      await expect(rows(page)).toHaveCount(1)
      await expect(page).toHaveURL(/\?q=ETE\+lease$/)
      await expect(page.getByRole('status').getByText('1 entry')).toBeVisible()
      await page.reload()
      await expect(page.getByRole('searchbox')).toHaveValue('ETE lease')
      await expect(rows(page)).toHaveCount(1)
    })

    await test.step('nothing found says what was looked for, and clears', async () => {
      await page.getByRole('searchbox').fill('nothing')
      await expect(page.getByRole('heading', { name: 'No entry matches “nothing”.' })).toBeVisible()
      await page.getByRole('main').getByRole('button', { name: 'Clear filters' }).last().click()
      await expect(rows(page)).toHaveCount(3)
      await expect(page).toHaveURL(/\/en\/history$/)
      await expect(page.getByRole('searchbox')).toHaveValue('')
    })

    await test.step('by kind, state and day', async () => {
      await page.getByLabel('Type').selectOption('verify')
      await expect(rows(page)).toHaveCount(0)
      await page.getByLabel('Type').selectOption('deposit')
      await page.getByLabel('State').selectOption('done')
      await expect(rows(page)).toHaveCount(3)
      await page.getByLabel('To', { exact: true }).fill('2020-01-01')
      await expect(rows(page)).toHaveCount(0)
      await page.getByLabel('To', { exact: true }).fill(today())
      await expect(rows(page)).toHaveCount(3)
      await page.getByRole('button', { name: 'Clear filters' }).click()
    })

    await test.step('details by keyboard, and back to the row', async () => {
      await rows(page).first().getByRole('link').focus()
      await page.keyboard.press('ArrowDown')
      await expect(rows(page).nth(1).getByRole('link')).toBeFocused()
      await page.keyboard.press('End')
      await expect(rows(page).nth(2).getByRole('link')).toBeFocused()
      await page.keyboard.press('Enter')
      const drawer = page.getByRole('dialog', { name: /txt/ })
      await expect(drawer.getByText('Fingerprint', { exact: true })).toBeVisible()
      await expect(page).toHaveURL(/\?request=/)
      await page.keyboard.press('Escape')
      await expect(drawer).toHaveCount(0)
      await expect(rows(page).nth(2).getByRole('link')).toBeFocused()
    })

    await test.step('CSV of the filter', async () => {
      await page.getByLabel('Type').selectOption('deposit')
      await page.getByRole('searchbox').fill('cmd')
      await expect(rows(page)).toHaveCount(1)
      const { name, bytes } = await downloadBy(page, () =>
        page.getByRole('button', { name: 'Export CSV' }).click()
      )
      expect(name).toMatch(/^history-\d{4}-\d\d-\d\d\.csv$/)
      const text = String(bytes)
      expect(text).toMatch(/^\ufeffReference,Type,Date \(UTC\),/)
      expect(text.split('\r\n')).toHaveLength(3)
      expect(text).toContain(",'=cmd.txt,")
      await expect(page.getByText('The file has been downloaded.')).toBeVisible()
    })
    expect(faults).toEqual([])
  })

  await test.step('new rows wait while the list is in use, and none moves under the pointer', async () => {
    await startSession(page, homeAddress())
    await depositFiles(page, ['first.txt', 'second.txt'])
    await page.goto('/en/history')
    await expect(rows(page)).toHaveCount(2)
    await expect(page.getByText('Updates live')).toBeVisible()
    const pointed = rows(page).first()
    await pointed.hover()
    const before = await pointed.boundingBox()
    const id = await pointed.getAttribute('data-request')

    const other = await context.newPage()
    await depositFiles(other, ['third.txt'])
    await expect(page.getByRole('button', { name: '1 new' })).toBeVisible()
    const same = page.locator(`[data-request="${id}"]`)
    expect(await same.boundingBox()).toEqual(before)
    // the pointer stays: once it leaves the list, new rows need no button
    await page.getByRole('button', { name: '1 new' }).dispatchEvent('click')
    await expect(rows(page)).toHaveCount(3)
    await expect(rows(page).first()).toContainText('third.txt')
    await other.close()
  })

  await test.step('draws few of many rows, by day, also those that failed', async () => {
    const faults = watchFaults(page)
    const email = await startSession(page, homeAddress())
    await seedRequests(socketDir(), email, 600)
    await page.goto('/en/history')
    await expect(page.getByRole('heading', { level: 2, name: 'Yesterday' })).toBeVisible()
    const last = page.getByText('seeded 600.pdf', { exact: true })
    await expect(async () => {
      await page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight))
      await expect(last).toBeVisible({ timeout: 250 })
    }).toPass({ intervals: [0], timeout: 60_000 })
    await expect(page.getByText('No more entries.')).toBeVisible()
    expect(await rows(page).count()).toBeLessThan(120)
    await last.focus()
    await page.keyboard.press('Home')
    await expect(rows(page).first().getByRole('link')).toBeFocused()
    await expect(rows(page).first()).toBeInViewport()
    await expect(page.getByText('seeded 1.pdf', { exact: true })).toBeInViewport()

    for (const [locale, width] of [
      ['en', 1280],
      ['fr', 320]
    ] as const) {
      // the interface follows the language a person has chosen
      if (locale === 'fr') {
        await page.getByRole('link', { name: 'Français' }).first().click()
        await expect(page).toHaveURL(/\/fr\/history/)
      }
      await page.setViewportSize({ width, height: 800 })
      await page.goto(`/${locale}/history?state=failed`)
      await expect(rows(page).first()).toBeVisible()
      await inspectInTurn(page)
    }
    expect(faults).toEqual([])
  })
})

test('after a sleep nothing is missing and nothing doubled', async ({ page, context, browser }) => {
  const email = await startSession(page, homeAddress())
  await depositFiles(page, ['awake.txt'])
  await page.goto('/en/history')
  await expect(rows(page)).toHaveCount(1)
  await expect(page.locator('[data-stream=live]')).toBeVisible()
  const storage = await context.storageState()
  await context.setOffline(true)
  // the banner of the page says it, and nothing says it twice
  await expect(page.locator('[data-stream=offline]')).toBeAttached()
  await expect(page.locator('[data-stream=offline]')).toBeHidden()
  await expect(page.getByText('You are offline.')).toHaveCount(1)
  const elsewhere = await browser.newContext({ storageState: storage })
  await depositFiles(await elsewhere.newPage(), ['while-1.txt', 'while-2.txt'])
  await context.setOffline(false)
  await expect(rows(page)).toHaveCount(3)
  const ids = await rows(page).evaluateAll(all =>
    all.map(each => each.getAttribute('data-request'))
  )
  const listed = await elsewhere.newPage()
  await listed.goto(`${siteAddress()}/en/history`)
  await expect(rows(listed)).toHaveCount(3)
  const truth = await rows(listed).evaluateAll(all =>
    all.map(each => each.getAttribute('data-request'))
  )
  expect(ids, email).toEqual(truth)
  await elsewhere.close()
})

function rows(page: Page) {
  return page.getByRole('main').locator('li[data-request]')
}

function today(): string {
  const now = new Date()
  const two = (value: number) => String(value).padStart(2, '0')
  return `${now.getFullYear()}-${two(now.getMonth() + 1)}-${two(now.getDate())}`
}

async function depositFiles(page: Page, names: string[]): Promise<void> {
  await page.goto(`${siteAddress()}/en/deposit`)
  await chooseFiles(
    page,
    names.map(name => textFile(name))
  )
  await expect(page.locator('li').getByText(sealedWord)).toHaveCount(names.length)
}
