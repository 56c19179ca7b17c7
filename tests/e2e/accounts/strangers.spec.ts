import { type Browser, expect, type Page } from '@playwright/test'
import { newEmail } from '../../helpers/client.ts'
import { makeAdmin } from '../../helpers/e2e/admins.ts'
import { test } from '../../helpers/e2e/journey.ts'
import { inspectInTurn } from '../../helpers/e2e/looks.ts'
import { changeLanguage, fillSignIn, password, startSession } from '../../helpers/e2e/page.ts'
import { makeServiceProcess } from '../../helpers/service.ts'

// a service of its own, because the one of the other tests is on a developer's machine
test('strangers wait for an administrator where no mail can be sent, and do not see the account of the demonstration', async ({
  browser,
  page
}) => {
  await using service = await makeServiceProcess({ DEMO: 'true' })
  await service.start()
  const home = `http://localhost:${service.port}/en`
  const stranger = await throughProxy(browser)
  const email = newEmail()

  await test.step('a sign-up waits, and the pages say so', async () => {
    await stranger.goto(`${home}/sign-up`)
    await expect(stranger.locator('main form [type=submit]')).toBeEnabled()
    await stranger.getByLabel('Email').fill(email)
    await stranger.getByLabel('Username').fill('Walter Waiting')
    await stranger.getByLabel('Password', { exact: true }).fill(password)
    await stranger.locator('input[name=repeat]').fill(password)
    await stranger.getByRole('button', { name: 'Create account' }).click()
    await expect(
      stranger.getByRole('heading', { name: 'Waiting for an administrator' })
    ).toBeVisible({ timeout: 60_000 })
    await expect(stranger.getByText('This site does not send email.')).toBeVisible()
    await expect(stranger.getByText('kept for 30 days')).toBeVisible()
    await expect(stranger.getByRole('button', { name: /Send it again/ })).toHaveCount(0)
    await expect(stranger.getByText(/We sent|on its way/)).toHaveCount(0)
    await inspectInTurn(stranger)
    await changeLanguage(stranger, 'fr')
    await expect(
      stranger.getByRole('heading', { name: 'En attente d’un administrateur' })
    ).toBeVisible()
    await inspectInTurn(stranger)
  })

  await test.step('a forgotten password cannot be mailed either', async () => {
    const other = await throughProxy(browser)
    await other.goto(`${home}/reset-password`)
    await other.getByLabel('Email').fill('nobody@example.com')
    await other.getByRole('button', { name: 'Send me a link' }).click()
    await expect(other.getByText('This site does not send email.')).toBeVisible()
    await expect(other.getByText(/on its way/)).toHaveCount(0)
  })

  await test.step('an administrator gets the link for them, or removes the sign-up', async () => {
    const own = await startSession(page, home, { username: 'Anna Admin', chosen: password })
    const company = await makeAdmin(own, ['admin'], service.dataDir)
    const admin = `${home}/admin/${company}`
    await page.goto(`${admin}/users?q=${encodeURIComponent(email)}`)
    await page.getByRole('link', { name: /Walter Waiting/ }).click()
    await expect(page.locator('[data-member-state=waiting]')).toBeVisible()
    await expect(page.getByRole('switch')).toHaveAccessibleDescription(/must be confirmed first/)
    await expect(page.getByRole('button', { name: 'Edit' })).toHaveCount(0)
    await page.getByRole('button', { name: 'Make a new confirmation link' }).click()
    const box = page.getByRole('region', { name: 'Link that confirms the email' })
    await expect(box.getByText(/verify-account#t=/)).toBeVisible()
    await inspectInTurn(page)
    await page.getByRole('button', { name: 'Remove the sign-up…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('dialog').getByLabel('Password', { exact: true }).fill(password)
    await page.keyboard.press('Enter')
    await expect(page).toHaveURL(`${admin}/users`)
    await expect(page.getByText(`The sign-up of ${email} was removed.`)).toBeVisible()
  })

  await test.step('the demonstration shows its account to a developer only', async () => {
    const address = `${home.replace('localhost', 'demo.localhost')}/sign-in`
    const { promise: asked, resolve: answer } = Promise.withResolvers<unknown>()
    stranger.on('response', async response => {
      if (/\/demo$/.test(response.url())) answer(await response.json())
    })
    await stranger.goto(address)
    expect(await asked).toEqual({})
    await expect(stranger.getByText('claire.marchand@example.com')).toHaveCount(0)

    await page.goto(address)
    await expect(page.getByText('claire.marchand@example.com')).toBeVisible()
    await inspectInTurn(page)
    await page.setViewportSize({ width: 320, height: 700 })
    await inspectInTurn(page)
    await fillSignIn(page, 'claire.marchand@example.com', 'a seal of green wax')
    await expect(page).toHaveURL(/demo\.localhost:\d+\/\w\w$/)
  })
})

/**
 * Opens a page whose HTTP requests have the header of a proxy. So the service does not treat them
 * as requests from a developer's machine.
 */
async function throughProxy(browser: Browser): Promise<Page> {
  const context = await browser.newContext({ extraHTTPHeaders: { via: '1.1 proxy' } })
  return context.newPage()
}
