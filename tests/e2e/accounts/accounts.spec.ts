import { type Browser, expect, type Page } from '@playwright/test'
import en from '../../../src/i18n/en/mails.json' with { type: 'json' }
import fr from '../../../src/i18n/fr/mails.json' with { type: 'json' }
import { newEmail } from '../../helpers/client.ts'
import { test } from '../../helpers/e2e/journey.ts'
import { inspectInTurn } from '../../helpers/e2e/looks.ts'
import { changeLanguage, delayRequests, password, watchFaults } from '../../helpers/e2e/page.ts'
import { openMailServer } from '../../helpers/servers/mail-server.ts'
import { makeServiceProcess, type ServiceProcess } from '../../helpers/service.ts'

const other = 'nine yellow umbrellas on the roof'

let mailServer: Awaited<ReturnType<typeof openMailServer>>
let service: ServiceProcess
test.beforeAll(async () => {
  test.setTimeout(120_000)
  mailServer = await openMailServer()
  const mailing = { SMTP_URL: mailServer.url, MAIL_FROM: 'vidimus@example.org' }
  service = await makeServiceProcess({ ...mailing, LOG_LEVEL: 'info', DEMO: 'false' })
  await service.start()
})
test.afterAll(async () => {
  await service[Symbol.asyncDispose]()
  await mailServer[Symbol.asyncDispose]()
})

test('a sign-up waits for its mail, and goes on by itself in every tab', async ({ browser }) => {
  const context = await browser.newContext()
  const page = await context.newPage()
  const faults = watchFaults(page, /^Failed to load resource/)
  const email = await signUp(page)
  await expect(page.getByRole('heading', { name: 'Check your email' })).toBeVisible()
  await expect(page.getByText(`We sent a link to ${email}.`)).toBeVisible()
  await expect(page.getByRole('button', { name: /Send it again in/ })).toBeVisible()
  await inspectInTurn(page)
  // what needs a person leads back here
  await page.goto(`${site()}/en/history?kind=deposit`)
  await expect(page).toHaveURL(/\/en\/verify-account\?redirect=/)

  const link = await linkOf(email, 'verify')
  const opened = await context.newPage()
  await opened.goto(link)
  await expect(opened.getByText(`Confirm ${email} to start`)).toBeVisible()
  expect(opened.url()).not.toContain('#')
  expect(await opened.content()).not.toContain(tokenIn(link))
  await inspectInTurn(opened)
  await opened.getByRole('button', { name: 'Confirm my email' }).click()
  await expect(opened).toHaveURL(/\/en$/)
  await expect(opened.getByRole('link', { name: 'Deposit' }).first()).toBeVisible()
  await expect(page).toHaveURL(/\/en\/history\?kind=deposit$/)
  // a used link shows no form
  await opened.goto(link)
  await expect(opened.getByText('This email is already confirmed.')).toBeVisible()
  expect(faults).toEqual([])
  await context.close()
})

test('a link works when it is put into the address before the page is ready', async ({
  browser
}) => {
  const page = await fresh(browser)
  const link = await linkOf(await signUp(page), 'verify')
  const release = await delayRequests(page, '**/_astro/VerifyAccount.*.js')
  await page.goto(`${site()}/en/verify-account`)
  await page.evaluate(address => location.assign(address), link)
  release()
  await page.getByRole('button', { name: 'Confirm my email' }).click()
  await expect(page).toHaveURL(/\/en$/)
})

test('a link opened in another browser asks for a password, which is then the account’s', {
  tag: '@matrix'
}, async ({ browser }) => {
  const typed = await fresh(browser)
  const email = await signUp(typed, 'en', other)
  await expect(typed.getByText(`We sent a link to ${email}.`)).toBeVisible()
  const page = await fresh(browser)
  await page.goto(await linkOf(email, 'verify'))
  await page.getByRole('button', { name: 'Confirm my email' }).click()
  await expect(page.getByText('This is not the browser you signed up in')).toBeVisible()
  await inspectInTurn(page)
  // a stranger may have chosen the name
  await expect(page.getByLabel('Username')).toHaveValue('')
  await page.getByLabel('Username').fill('Grace Hopper')
  await choose(page)
  await page.getByRole('button', { name: 'Confirm and sign in' }).click()
  await expect(page).toHaveURL(/\/en$/)
  await expect(page.getByRole('button', { name: /Grace Hopper/ })).toBeVisible()
  // whoever had typed the address is out
  await expect(typed).toHaveURL(/\/sign-in|\/verify-account/)
  await typed.goto(`${site()}/en/deposit`)
  await expect(typed).toHaveURL(/\/en\/sign-in/)
  await signIn(typed, email, other)
  await expect(typed.getByText('do not match an account on this site')).toBeVisible()
})

test('a forgotten password is replaced by mail, and nobody learns who has an account', async ({
  browser
}) => {
  const first = await fresh(browser)
  const email = await confirmed(first)
  const page = await fresh(browser)
  await page.goto(`${site()}/en/sign-in`)
  await page.getByRole('link', { name: 'Forgot your password?' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'Choose a new password' })).toBeVisible()
  await page.getByLabel('Email').fill('nobody@example.com')
  await page.getByRole('button', { name: 'Send me a link' }).click()
  await expect(page.getByText('If there is an account for nobody@example.com')).toBeVisible()
  await page.getByRole('button', { name: 'Use another email' }).click()
  await page.getByLabel('Email').fill(email)
  await page.getByRole('button', { name: 'Send me a link' }).click()
  await expect(page.getByText(`If there is an account for ${email}`)).toBeVisible()
  await inspectInTurn(page)

  await page.goto(await linkOf(email, 'reset'))
  await expect(page.getByText(`A new password for ${email}.`)).toBeVisible()
  await inspectInTurn(page)
  await choose(page, other)
  await page.getByRole('button', { name: 'Change my password' }).click()
  await expect(page).toHaveURL(/\/en$/)
  await expect(
    page.getByText('Your password has been changed, and you are signed in.')
  ).toBeVisible()
  await mailTo(email, 'password_changed')
  const again = await fresh(browser)
  await again.goto(`${site()}/en/sign-in`)
  await signIn(again, email, password)
  await expect(again.getByText('do not match an account on this site')).toBeVisible()
  await signIn(again, email, other)
  await expect(again).toHaveURL(/\/en$/)
})

test('an invited person chooses name and password, in French too', { tag: '@matrix' }, async ({
  browser
}) => {
  const operator = await fresh(browser)
  const setup = /http:[^"]+\/en\/setup#[\w-]{22}/.exec(service.log())?.[0] ?? ''
  await operator.goto(setup)
  await operator.getByLabel('Email').fill('operator@example.com')
  await operator.getByLabel('Username').fill('Olive Operator')
  await choose(operator)
  await operator.getByRole('button', { name: 'Become the operator' }).click()
  await expect(operator.getByText('You are the operator.')).toBeVisible()
  const email = newEmail()
  await operator.evaluate(
    async ([address, api]) => {
      const token = /__Host-vidimus=([^;]+)/.exec(document.cookie)?.[1]
      await fetch(`${api}/user`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: JSON.stringify({ email: address, username: 'Grace Murray', locale: 'fr' })
      })
    },
    [email, site().replace('//', '//api.')]
  )
  const link = await linkOf(email, 'activate')
  expect(link).toContain('/fr/activate-account#t=')
  const page = await fresh(browser)
  await page.goto(link)
  await expect(page.getByText(`a invité ${email}.`)).toBeVisible()
  await page.setViewportSize({ width: 320, height: 800 })
  await inspectInTurn(page)
  await expect(page.getByLabel('Nom affiché')).toHaveValue('Grace Murray')
  await page.getByLabel('Nom affiché').fill('Grace Hopper')
  await page.getByLabel('Mot de passe', { exact: true }).fill(password)
  // a change of language takes link and form along
  await changeLanguage(page, 'en')
  await expect(page.getByLabel('Username')).toHaveValue('Grace Hopper')
  await expect(page.getByLabel('Password', { exact: true })).toHaveValue(password)
  await changeLanguage(page, 'fr')
  await page.getByLabel('Répétez le mot de passe').fill(password)
  await page.getByRole('button', { name: 'Activer mon compte' }).click()
  await expect(page).toHaveURL(/\/fr$/)
  await page.goto(link)
  await expect(page.getByText('Ce compte est déjà actif.')).toBeVisible()
  await expect(page.getByLabel('Nom affiché')).toHaveCount(0)
})

test('a person moves to another e-mail and then deletes the account', async ({ browser }) => {
  const page = await fresh(browser)
  const email = await confirmed(page)
  const next = newEmail()
  await page.goto(`${site()}/en/me`)
  const form = page.getByRole('region', { name: 'Email', exact: true })
  await form.getByLabel('New email').fill(next)
  await form.getByLabel('Password', { exact: true }).fill(other)
  await form.getByRole('button', { name: 'Change email' }).click()
  await expect(form.getByText('That is not your current password.')).toBeVisible()
  await form.getByLabel('Password', { exact: true }).fill(password)
  await form.getByRole('button', { name: 'Change email' }).click()
  await expect(form.getByText(`We sent a link to ${next}.`)).toBeVisible()
  await inspectInTurn(page)
  await mailTo(email, 'email_notice')
  const link = await linkOf(next, 'email_confirm')
  const elsewhere = await fresh(browser)
  await elsewhere.goto(link)
  await expect(elsewhere.getByText('Sign in first with your current email')).toBeVisible()
  await inspectInTurn(elsewhere)
  await page.goto(link)
  await page.getByRole('button', { name: 'Confirm my new email' }).click()
  await expect(page.getByText(`Your email is now ${next}.`)).toBeVisible()
  await inspectInTurn(page)

  await page.getByRole('link', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'Delete my account' }).click()
  await inspectInTurn(page)
  await page.getByRole('button', { name: 'Keep my account' }).click()
  await expect(page.getByRole('button', { name: 'Delete my account' })).toBeFocused()
  await page.getByRole('button', { name: 'Delete my account' }).click()
  const question = page.getByRole('region', { name: 'Delete account' })
  await question.getByLabel('Password', { exact: true }).fill(password)
  await question.getByRole('button', { name: 'Delete my account for good' }).click()
  await expect(page).toHaveURL(/\/en$/)
  await expect(page.locator('html')).toHaveAttribute('data-session', 'out')
  await mailTo(next, 'account_deleted')
  await page.goto(`${site()}/en/sign-in`)
  await signIn(page, next, password)
  await expect(page.getByText('do not match an account on this site')).toBeVisible()
})

test('the pages of links say what they need when they are opened without one', async ({
  browser
}) => {
  const page = await fresh(browser)
  for (const path of ['verify-account', 'activate-account', 'confirm-email']) {
    await page.goto(`${site()}/en/${path}`)
    await expect(page.getByText('This page opens from a link in an email.')).toBeVisible()
  }
  await page.goto(`${site()}/en/verify-account#t=${'A'.repeat(43)}&email=a@example.com`)
  await expect(page.getByText(/no longer works/)).toBeVisible()
})

function site(): string {
  return `http://localhost:${service.port}`
}

async function fresh(browser: Browser): Promise<Page> {
  return (await browser.newContext()).newPage()
}

async function signUp(page: Page, locale = 'en', chosen = password): Promise<string> {
  const email = newEmail()
  await page.goto(`${site()}/${locale}/sign-up`)
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Username').fill('Ada Lovelace')
  await choose(page, chosen)
  await page.getByRole('button', { name: 'Create account' }).click()
  await expect(page).toHaveURL(/\/verify-account/)
  return email
}

async function confirmed(page: Page): Promise<string> {
  const email = await signUp(page)
  await page.goto(await linkOf(email, 'verify'))
  await page.getByRole('button', { name: 'Confirm my email' }).click()
  await expect(page).toHaveURL(/\/en$/)
  return email
}

async function choose(page: Page, chosen = password): Promise<void> {
  await page.getByLabel('Password', { exact: true }).fill(chosen)
  await page.getByLabel('Confirm password').fill(chosen)
}

async function signIn(page: Page, email: string, typed: string): Promise<void> {
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(typed)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}

/** Waits for the newest mail of a kind to a person, in any language, and returns its text. */
async function mailTo(
  email: string,
  kind: Exclude<keyof typeof en, 'footer' | 'contact'>
): Promise<string> {
  const patterns = [en, fr].map(words => {
    const parts = words[kind].title.split(/\{\{\w+\}\}/)
    return new RegExp(`^${parts.map(part => RegExp.escape(part)).join('.*')}$`)
  })
  for (let tries = 0; tries < 1200; tries++) {
    const found = mailServer.mails.findLast(
      ({ to, headers }) =>
        to.includes(email) && patterns.some(each => each.test(headers.get('subject') ?? ''))
    )
    if (found) return found.text
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  throw new Error(`no ${kind} was mailed to ${email}`)
}

async function linkOf(email: string, kind: Parameters<typeof mailTo>[1]): Promise<string> {
  return /http:\S+#t=\S+/.exec(await mailTo(email, kind))?.[0] ?? ''
}

function tokenIn(link: string): string {
  return new URLSearchParams(new URL(link).hash.slice(1)).get('t') ?? ''
}
