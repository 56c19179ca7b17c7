import { type Browser, expect, type Page } from '@playwright/test'
import { newEmail } from '../../helpers/client.ts'
import { makeAdmin } from '../../helpers/e2e/admins.ts'
import { test } from '../../helpers/e2e/journey.ts'
import { inspectInTurn } from '../../helpers/e2e/looks.ts'
import { changeLanguage, fillSignIn, password, startSession } from '../../helpers/e2e/page.ts'
import { makeServiceProcess, type ServiceProcess } from '../../helpers/service.ts'

// of its own, because the one of the other tests is on a developer's machine
let service: ServiceProcess
test.beforeAll(async () => {
  test.setTimeout(120_000)
  service = await makeServiceProcess({ DEMO: 'true', LOG_LEVEL: 'info' })
  await service.start()
})
test.afterAll(() => service[Symbol.asyncDispose]())

test('strangers wait for an administrator where no mail can be sent, and do not see the account of the demonstration', {
  tag: '@matrix'
}, async ({ browser, page }) => {
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

// last, because it removes the demonstration
test('the link of the log makes the first operator, once', async ({ browser }) => {
  test.setTimeout(180_000)
  await expect.poll(() => service.log()).toContain('/en/setup#')
  const link = /http:[^"]+\/en\/setup#[\w-]{22}/.exec(service.log())?.[0] ?? ''
  expect(link).toContain(`http://localhost:${service.port}/en/setup#`)
  const page = await browser.newPage()
  await test.step('a wrong code asks for another one', () => enterWrongCode(page, service.port))
  await test.step('the demonstration says what it is', () => lookAtDemo(page, service.port))

  await page.goto(link)
  await expect(page.getByRole('heading', { level: 1, name: 'Set up' })).toBeVisible()
  await expect(page.getByLabel('Company name')).toHaveValue('Vidimus')
  // the code is in no address that a link, a bookmark or a picture of the screen could carry on
  expect(page.url()).not.toContain('#')
  const carried = page.locator('a[data-keeps-link-params]').first()
  expect(await carried.getAttribute('href')).not.toContain('#')
  await inspectInTurn(page)

  await expect(page.getByText(`People open localhost:${service.port}`)).toBeVisible()
  await expect(
    page.getByText(/Names that end in localhost always point to this computer/)
  ).toBeVisible()
  await page.getByLabel('Email').fill('operator@example.com')
  await page.getByLabel('Username').fill('Olive Operator')
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByLabel('Confirm password').fill(password)
  await page.getByLabel('Company name').fill('Orchard')
  await page.getByLabel('Remove it and all its documents').check()
  // a change of language takes form and code along
  await changeLanguage(page, 'fr')
  await expect(page.getByLabel('Nom affiché')).toHaveValue('Olive Operator')
  await changeLanguage(page, 'en')
  await expect(page.getByLabel('Company name')).toHaveValue('Orchard')
  await expect(page.getByLabel('Remove it and all its documents')).toBeChecked()
  await page.setViewportSize({ width: 320, height: 700 })
  const width = await page.evaluate(() => document.documentElement.scrollWidth)
  expect(width).toBeLessThanOrEqual(320)
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.getByRole('button', { name: 'Become the operator' }).click()
  await expect(page.getByText('You are the operator.')).toBeVisible({ timeout: 60_000 })
  await expect(page.getByRole('button', { name: /Olive Operator/ })).toBeVisible()
  await expect(page.getByRole('link', { name: 'Deposit a document' })).toBeVisible()
  await inspectInTurn(page)
  await page.getByRole('link', { name: 'Go to the home page' }).click()
  await expect(page).toHaveTitle(/Orchard/)
  await expect(page.getByRole('button', { name: /Olive Operator/ })).toBeVisible()
  await expect(page.getByRole('main').getByRole('link', { name: 'Deposit' })).toBeVisible()

  const stranger = await browser.newPage()
  await stranger.goto(link.replace('/en/', '/fr/'))
  await expect(stranger.getByText('Cette installation est déjà faite.')).toBeVisible()
  const demo = await stranger.request.get(`http://localhost:${service.port}/en`, {
    headers: { host: `demo.localhost:${service.port}` }
  })
  expect(demo.status()).toBe(421)
})

async function enterWrongCode(page: Page, port: number): Promise<void> {
  await page.goto(`http://localhost:${port}/fr/setup#wrong`)
  await page.getByLabel('Adresse e‑mail').fill('operator@example.com')
  await page.getByLabel('Nom affiché').fill('Olive')
  await page.getByLabel('Mot de passe', { exact: true }).fill(password)
  await page.getByLabel('Répétez le mot de passe').fill(password)
  await page.getByRole('button', { name: 'Devenir l’opérateur' }).click()
  await expect(page.getByText(/Le code d’installation est incorrect/)).toBeVisible({
    timeout: 60_000
  })
  await expect(page.getByLabel('Code d’installation')).toBeVisible()
  await inspectInTurn(page)
}

async function lookAtDemo(page: Page, port: number): Promise<void> {
  await page.setViewportSize({ width: 320, height: 700 })
  for (const [locale, word] of [
    ['en', 'Demonstration'],
    ['fr', 'Démonstration']
  ] as const) {
    await page.goto(`http://demo.localhost:${port}/${locale}`)
    await expect(page.getByRole('banner').getByText(word, { exact: true })).toBeVisible()
    const width = await page.evaluate(() => document.documentElement.scrollWidth)
    expect(width).toBeLessThanOrEqual(320)
  }
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.goto(`http://localhost:${port}/en`)
  await expect(page.getByText('Demonstration', { exact: true })).toHaveCount(0)
}

/**
 * Opens a page whose HTTP requests have the header of a proxy. So the service does not treat them
 * as requests from a developer's machine.
 */
async function throughProxy(browser: Browser): Promise<Page> {
  const context = await browser.newContext({ extraHTTPHeaders: { via: '1.1 proxy' } })
  return context.newPage()
}
