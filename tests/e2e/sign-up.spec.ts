import { type Browser, expect, type Page } from '@playwright/test'
import { inspectInBothSchemes } from '../helpers/accessibility.ts'
import { newEmail } from '../helpers/client.ts'
import { test } from '../helpers/journey.ts'

const password = 'seven green bicycles in the rain'

test('a sign-up waits for an administrator where nothing can mail it, and the pages say so', async ({
  browser
}) => {
  const page = await throughProxy(browser)
  await page.goto('/en/sign-up')
  await fillIn(page)
  await page.getByRole('button', { name: 'Create account' }).click()
  await expect(page.getByRole('heading', { name: 'Waiting for an administrator' })).toBeVisible()
  await expect(page.getByText('This site does not send email.')).toBeVisible()
  await expect(page.getByText('kept for 30 days')).toBeVisible()
  await expect(page.getByRole('button', { name: /Send it again/ })).toHaveCount(0)
  await expect(page.getByText(/We sent|on its way/)).toHaveCount(0)
  await look(page, 'waiting-en')
  await speak(page, 'Français')
  await expect(page.getByRole('heading', { name: 'En attente d’un administrateur' })).toBeVisible()
  await look(page, 'waiting-fr')

  const other = await throughProxy(browser)
  await other.goto('/en/reset-password')
  await other.getByLabel('Email').fill('nobody@example.com')
  await other.getByRole('button', { name: 'Send me a link' }).click()
  await expect(other.getByText('This site does not send email.')).toBeVisible()
  await expect(other.getByText(/on its way/)).toHaveCount(0)
})

test('a forgotten password on a developer’s machine leads to the outbox, with the e-mail kept', async ({
  page
}) => {
  await page.goto('/en/sign-in')
  await page.getByLabel('Email').fill('ada@example.com')
  await page.getByRole('link', { name: 'Forgot your password?' }).click()
  // the page of the sign-in has such a field too
  await expect(page.getByRole('heading', { level: 1, name: 'Choose a new password' })).toBeVisible()
  await expect(page.getByLabel('Email')).toHaveValue('ada@example.com')
  await page.getByRole('button', { name: 'Send me a link' }).click()
  await expect(page.getByText('a file in the outbox folder on this computer')).toBeVisible()
  await page.getByRole('button', { name: 'Use another email' }).click()
  await expect(page.getByLabel('Email')).toHaveValue('ada@example.com')
})

test('what is typed and what an invitation carries come along before the form’s script runs', async ({
  page
}) => {
  await page.route('**/_astro/Sign{In,Up}.*.js', () => undefined)
  await page.goto('/en/sign-in')
  await page.getByLabel('Email').fill('ada@example.com')
  await page.getByRole('link', { name: 'Forgot your password?' }).click()
  await expect(page).toHaveURL(/\/en\/reset-password\?email=ada%40example\.com$/)
  await expect(page.getByLabel('Email')).toHaveValue('ada@example.com')
  await page.goto('/en/sign-in?email=bob%40example.com')
  await page.getByRole('main').getByRole('link', { name: 'Create an account' }).click()
  await expect(page).toHaveURL(/\/en\/sign-up\?email=bob%40example\.com$/)
  await page.getByRole('main').getByRole('link', { name: 'Sign in' }).click()
  await expect(page).toHaveURL(/\/en\/sign-in\?email=bob%40example\.com$/)
})

test('a change of language takes a half-filled form along, and nothing of it is stored', async ({
  page
}) => {
  await page.goto('/en/sign-up')
  const email = await fillIn(page)
  await speak(page, 'Français')
  await expect(page.getByLabel('Nom d’utilisateur')).toHaveValue('Ada Lovelace')
  await expect(page.getByLabel(/Adresse e.mail/)).toHaveValue(email)
  await expect(page.getByLabel('Mot de passe', { exact: true })).toHaveValue(password)
  const stored = await page.evaluate(() =>
    JSON.stringify([{ ...localStorage }, { ...sessionStorage }, history.state, document.cookie])
  )
  expect(stored).not.toContain(password)
  expect(stored).not.toContain('Ada Lovelace')
  // another page ends it
  await page.goto('/fr/sign-in')
  await page.goto('/fr/sign-up')
  await expect(page.getByLabel('Nom d’utilisateur')).toHaveValue('')
})

test('a weak password is named together with everything else that is wrong', async ({ page }) => {
  await page.goto('/en/sign-up')
  await page.getByLabel('Username').fill('Ada Lovelace')
  await page.getByLabel('Password', { exact: true }).fill('passwordpassword')
  await page.getByRole('button', { name: 'Create account' }).click()
  await expect(page.getByLabel('Email')).toHaveAccessibleDescription(/.+/)
  await expect(page.getByLabel('Password', { exact: true })).toHaveAttribute('aria-invalid', 'true')
})

test('the demonstration shows its account on its sign-in page, to a developer only', async ({
  browser,
  page,
  baseURL
}) => {
  const address = `${(baseURL ?? '').replace('localhost', 'demo.localhost')}/en/sign-in`
  await page.goto(address)
  await expect(page.getByText('claire.marchand@example.com')).toBeVisible()
  await look(page, 'demo-sign-in')
  await page.setViewportSize({ width: 320, height: 700 })
  await look(page, 'demo-sign-in-320')
  await page.getByLabel('Email').fill('claire.marchand@example.com')
  await page.getByLabel('Password', { exact: true }).fill('a seal of green wax')
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await expect(page).toHaveURL(/demo\.localhost:\d+\/\w\w$/)

  const stranger = await throughProxy(browser)
  const asked = stranger.waitForResponse(/\/demo$/)
  await stranger.goto(address)
  expect(await (await asked).json()).toEqual({})
  await expect(stranger.getByText('claire.marchand@example.com')).toHaveCount(0)
})

/** A browser that comes through a proxy, as strangers do. */
async function throughProxy(browser: Browser): Promise<Page> {
  const context = await browser.newContext({ extraHTTPHeaders: { via: '1.1 proxy' } })
  return context.newPage()
}

async function fillIn(page: Page): Promise<string> {
  const email = newEmail()
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Username').fill('Ada Lovelace')
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.locator('input[name=repeat]').fill(password)
  return email
}

async function speak(page: Page, language: string): Promise<void> {
  await page.locator('a[data-locale]', { hasText: language }).first().dispatchEvent('click')
}

async function look(page: Page, name: string): Promise<void> {
  await inspectInBothSchemes(page)
  await page.screenshot({ path: `.cache/sign-up-${name}.png`, fullPage: true, caret: 'initial' })
}
