import { expect, type Page, test } from '@playwright/test'
import { inspectInTurn } from '../../helpers/e2e/looks.ts'
import { changeLanguage, password } from '../../helpers/e2e/page.ts'
import { makeServiceProcess } from '../../helpers/service.ts'

test('the link of the log makes the first operator, once', async ({ browser }) => {
  test.setTimeout(180_000)
  await using service = await makeServiceProcess({ LOG_LEVEL: 'info' })
  await service.start()
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
