import { expect, test } from '@playwright/test'
import { leaveUnanswered, stubError } from '../../helpers/e2e/api-stubs.ts'
import {
  chooseFiles,
  homeAddress,
  sealedWord,
  startSession,
  textFile
} from '../../helpers/e2e/page.ts'

test('says what became of deposits, sessions and many checks', async ({ context, page }) => {
  await test.step('announces what became of the deposits, not that all are done', async () => {
    await startSession(page, homeAddress())
    await page.goto('/en/deposit')
    await chooseFiles(page, textFile('empty.txt', ''))
    await expect(page.getByRole('status').filter({ hasText: '1 not recorded' })).toBeAttached()
    await expect(page.getByText(/of the deposits done/)).toHaveCount(0)
  })

  await test.step('the sign-in page says why it came when a session ended', async () => {
    await startSession(page, homeAddress())
    await page.goto('/en/history')
    await expect(page.getByText('Documents you deposit or verify appear here.')).toBeVisible()
    await context.clearCookies()
    await page.evaluate(() => dispatchEvent(new Event('online')))
    await expect(page).toHaveURL(/\/en\/sign-in/)
    await expect(page.getByText('You are signed out. Sign in to continue.')).toBeVisible()
  })

  await test.step('shows many checks fifty at a time, each row within a narrow window', async () => {
    await page.setViewportSize({ width: 320, height: 700 })
    await page.goto('/en/verify')
    const files = Array.from({ length: 60 }, (_, nr) => {
      return textFile(`a rather long name of a document, number ${nr}.txt`, `file ${nr}`)
    })
    await chooseFiles(page, files)
    const rows = page.getByRole('main').locator('li[data-step=done]')
    await expect(rows).toHaveCount(50)
    const first = rows.first()
    const name = await first
      .getByText(/number 0/)
      .first()
      .boundingBox()
    const word = await first.getByText('No record', { exact: true }).first().boundingBox()
    expect(name?.width).toBeGreaterThanOrEqual(150)
    expect(word?.height).toBeLessThan(40)
    await page.getByRole('button', { name: 'Show 10 more' }).click()
    await expect(rows).toHaveCount(60)
  })
})

test('asks before a paused upload is lost, in a dialog that fits a narrow window', async ({
  page
}) => {
  await startSession(page, homeAddress('fr'))
  await page.setViewportSize({ width: 320, height: 700 })
  await page.goto('/fr/deposit')
  await leaveUnanswered(page, ['POST', '/deposit/batch'])
  await chooseFiles(page, textFile('bail.txt', 'un bail'))
  const pause = page.getByRole('button', { name: /Mettre en pause : bail\.txt/ })
  await pause.click()
  // the button that is gone leaves the focus to what the row offers next
  await expect(page.getByRole('button', { name: /Reprendre : bail\.txt/ })).toBeFocused()

  await page.locator('#user').click()
  await page.getByRole('menuitem', { name: 'Se déconnecter' }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog).toBeVisible()
  for (const button of await dialog.getByRole('button').all()) {
    const clipped = await button.evaluate(
      element =>
        element.scrollWidth > element.clientWidth || element.scrollHeight > element.clientHeight
    )
    expect(clipped, await button.innerText()).toBe(false)
  }
  await page.keyboard.press('Escape')
  await expect(dialog).toHaveCount(0)
  await expect(page.locator('#user')).toBeFocused()

  await page.locator('#user').click()
  await page.getByRole('menuitem', { name: 'Se déconnecter' }).click()
  await expect(dialog).toBeVisible()
  // nothing is left to ask about once the upload has ended
  await page.evaluate(() => {
    const buttons = [...document.querySelectorAll<HTMLElement>('main button')]
    buttons.find(button => button.textContent === 'Annuler')?.click()
  })
  await expect(dialog).toHaveCount(0)
  await expect(page.locator('html')).toHaveAttribute('data-session', 'in')
})

test('a lost session or connection leaves what was begun', async ({ page }) => {
  await test.step('a session that ends leaves the checks, and offers to sign in', async () => {
    await startSession(page, homeAddress())
    await page.goto('/en/verify')
    await stubError(page, ['POST', '/verify'], 'unauthenticated')
    await chooseFiles(page, textFile('lease.txt', 'a lease'))
    const main = page.getByRole('main')
    await expect(main.getByText('lease.txt')).toBeVisible()
    await expect(main.getByText('You are signed out. Sign in to continue.')).toBeVisible()
    await expect(main.getByRole('link', { name: 'Sign in' })).toHaveAttribute(
      'href',
      /^\/en\/sign-in\?redirect=/
    )
  })

  await test.step('a worker that cannot be loaded is a lost connection, and the deposit goes on', async () => {
    await startSession(page, homeAddress())
    await page.goto('/en/deposit')
    let isCut = true
    await page.route(/\/_astro\/worker-hash/, route => (isCut ? route.abort() : route.continue()))
    await chooseFiles(page, textFile('lease.txt', 'a lease'))
    await expect(page.getByText(/could not be reached/)).toBeVisible()
    // not by `unroute`: a request that begins just then is lost in Chromium
    isCut = false
    await page.evaluate(() => dispatchEvent(new Event('online')))
    await expect(page.locator('li').getByText(sealedWord)).toBeVisible()
  })
})
