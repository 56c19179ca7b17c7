import AxeBuilder from '@axe-core/playwright'
import { type BrowserContext, expect, type Locator, type Page, test } from '@playwright/test'
import { expectArrival, nextPassword, password, signUp, watchFaults } from '../helpers/page.ts'

// contrast depends on the scheme, the layout on the width
const looks = [
  ['light', 1280],
  ['dark', 320]
] as const
const publicPages = [
  '',
  '/verify',
  '/sign-in',
  '/sign-up',
  '/reset-password',
  '/verify-account',
  '/activate-account',
  '/confirm-email',
  '/docs',
  '/docs/calls',
  '/docs/errors',
  '/nowhere',
  '/disabled',
  `/disabled?disabled=${encodeURIComponent('{"scope":"user","reason":"security","since":"2026-05-03T12:00:00Z"}')}`
]
const ownPages = ['/deposit', '/history']

// each language and each company once: what they change does not depend on one another
for (const [host, locale] of [
  ['localhost', 'en'],
  ['demo.localhost', 'fr']
] as const) {
  test(`every page of ${host} in ${locale} is accessible, keeps its policy and fits its window`, async ({
    browser
  }) => {
    test.setTimeout(360_000)
    const site = address().replace('localhost', host)
    const stranger = await browser.newContext()
    await visitAll(stranger, `${site}/${locale}`, publicPages)
    await stranger.close()

    // the interface follows the language a person has chosen, so each language has its own
    const person = await browser.newContext()
    await signUp(await person.newPage(), `${site}/${locale}`)
    await visitAll(person, `${site}/${locale}`, ownPages)
    await fillScreens(await person.newPage(), site, locale)
    await person.close()
  })
}

test('a page that needs a person leads through sign-in and back', async ({ page, browser }) => {
  const site = address()
  const email = await signUp(page, `${site}/en`)
  const other = await (await browser.newContext()).newPage()
  await other.goto(`${site}/fr/history?kind=deposit`)
  await expect(other).toHaveURL(/\/fr\/sign-in\?redirect=/)
  await other.getByLabel('E-mail').fill(email)
  await other.locator('input[type=password]').fill(password)
  await other.keyboard.press('Enter')
  // their own language is English
  await expectArrival(other, `${site}/en/history?kind=deposit`)
})

test('a wrong password says so in words and keeps the e-mail', async ({ page, browser }) => {
  const site = address()
  const email = await signUp(page, `${site}/en`)
  const other = await (await browser.newContext()).newPage()
  await other.goto(`${site}/en/sign-in`)
  await other.getByLabel('E-mail').fill(email)
  await other.locator('input[type=password]').fill('another long sentence')
  await other.getByRole('button', { name: 'Sign in' }).click()
  await expect(
    other.getByText('That e-mail and password do not match an account here.')
  ).toBeVisible()
  await expect(other.getByLabel('E-mail')).toHaveValue(email)
})

test('the bare address shows home in the language of cookie, then browser', async ({ browser }) => {
  const site = address()
  const french = await browser.newContext({ locale: 'fr-FR' })
  const page = await french.newPage()
  await page.goto(site)
  await expect(page.locator('html')).toHaveAttribute('lang', 'fr-FR')
  expect(new URL(page.url()).pathname).toBe('/')
  await french.addCookies([{ name: 'i18n_redirected', value: 'en', url: site }])
  await page.goto(site)
  await expect(page.locator('html')).toHaveAttribute('lang', 'en-US')
  await page.goto(`${site}/verify?x=1`)
  expect(page.url()).toBe(`${site}/en/verify?x=1`)
  await french.close()
})

test('main journey with the keyboard alone', async ({ page }) => {
  const site = address()
  await page.goto(`${site}/en`)
  await page.keyboard.press('Tab')
  await expect(page.getByRole('link', { name: 'Skip to content' })).toBeFocused()
  await tabTo(page, 'link', 'Sign up')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/sign-up/)
  await tabTo(page, 'textbox', 'E-mail')
  await page.keyboard.type(`keys-${Date.now()}@example.com`)
  await tabTo(page, 'textbox', 'Username')
  await page.keyboard.type('Keyboard Only')
  await tabTo(page, 'textbox', 'Password')
  await page.keyboard.type(password)
  await tabTo(page, 'textbox', 'Password, once more')
  await page.keyboard.type(password)
  await page.keyboard.press('Enter')
  await expectArrival(page, `${site}/en`)
  await tabTo(page, 'link', 'History')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { level: 1, name: 'History' })).toBeFocused()

  const file = { name: 'keys.txt', mimeType: 'text/plain', buffer: Buffer.from('by keys alone') }
  for (const name of ['Deposit', 'Verify']) {
    await tabTo(page, 'link', name)
    await page.keyboard.press('Enter')
    await expect(page.getByRole('heading', { level: 1, name })).toBeFocused()
    const input = page.locator('input[type=file]')
    await tabToTarget(page, input, 'the file input')
    // the system's own dialog is the one thing that a test cannot type into
    await input.setInputFiles(file)
    if (name === 'Deposit') await expect(page.getByText('Recorded', { exact: true })).toBeVisible()
  }
  await expect(page.getByRole('heading', { name: /recorded this exact file/ })).toBeFocused()
})

test('account, password and sign-out everywhere with the keyboard alone', async ({ page }) => {
  const site = address()
  const email = await signUp(page, `${site}/en`)
  await tabTo(page, 'link', 'Account')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { level: 1, name: 'Account' })).toBeFocused()
  await expect(page.getByText('This browser')).toBeVisible()

  await tabTo(page, 'textbox', 'Username')
  await page.keyboard.press('ControlOrMeta+A')
  await page.keyboard.type('Keyboard Only')
  await page.keyboard.press('Enter')
  await expect(page.getByText('Saved.')).toBeVisible()

  const dark = page.getByRole('main').getByRole('radio', { name: 'Dark' })
  await tabToTarget(page, page.getByRole('main').getByRole('radio', { name: 'System' }), 'System')
  await page.keyboard.press('ArrowLeft')
  await expect(dark).toBeChecked()
  await page.keyboard.press('ArrowRight')

  const present = page.getByLabel('Current password')
  await tabToTarget(page, present, 'the current password')
  await page.keyboard.type(password)
  await page.keyboard.press('Tab')
  await expect(page.getByRole('button', { name: 'Show the password' }).first()).toBeFocused()
  await page.keyboard.press('Space')
  await expect(present).toHaveAttribute('type', 'text')
  await tabTo(page, 'textbox', 'New password')
  await page.keyboard.type(nextPassword)
  await tabTo(page, 'textbox', 'New password, once more')
  await page.keyboard.type(nextPassword)
  await page.keyboard.press('Enter')
  await expect(page.getByText('Your password is changed.')).toBeVisible({ timeout: 60_000 })

  await tabTo(page, 'button', 'Sign out everywhere')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('button', { name: 'Yes, sign out everywhere' })).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(`${site}/en`)
  await expect(page.locator('html')).toHaveAttribute('data-session', 'out')

  await tabTo(page, 'link', 'Sign in')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/sign-in/)
  await tabTo(page, 'textbox', 'E-mail')
  await page.keyboard.type(email)
  await tabTo(page, 'textbox', 'Password')
  await page.keyboard.type(nextPassword)
  await page.keyboard.press('Enter')
  await expectArrival(page, `${site}/en`)
})

test('drawer and menu of a narrow window with the keyboard alone', async ({ page }) => {
  await signUp(page, `${address()}/en`)
  await page.setViewportSize({ width: 320, height: 700 })
  await page.reload()
  await tabTo(page, 'button', 'Menu')
  await page.keyboard.press('Enter')
  const drawer = page.getByRole('navigation')
  await expect(drawer.getByRole('link', { name: 'History' })).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(drawer).toBeHidden()
  await expect(page.getByRole('button', { name: 'Menu' })).toBeFocused()
  await page.keyboard.press('Enter')
  await tabTo(page, 'link', 'Deposit')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { level: 1, name: 'Deposit' })).toBeFocused()

  const person = page.locator('.bar-user')
  await page.keyboard.press('Shift+Tab')
  await tabToTarget(page, person, 'the menu of the person')
  await page.keyboard.press('Enter')
  await expect(page.getByRole('menuitem', { name: 'Account' })).toBeFocused()
  await page.keyboard.press('Escape')
  await expect(person).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('menuitem', { name: 'Account' })).toBeFocused()
  await page.keyboard.press('ArrowDown')
  await expect(page.getByRole('menuitem', { name: 'Sign out' })).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(page.locator('html')).toHaveAttribute('data-session', 'out')
})

test('a document deposited twice is met with the keyboard alone', async ({ page }) => {
  await signUp(page, `${address()}/en`)
  await page.goto('/en/deposit')
  const file = { name: 'twice.txt', mimeType: 'text/plain', buffer: Buffer.from('twice') }
  const input = page.locator('input[type=file]').first()
  await input.setInputFiles(file)
  await expect(page.getByText('Recorded', { exact: true })).toBeVisible()
  await input.setInputFiles(file)
  await expect(page.getByText(/You deposited exactly this file on/)).toBeVisible()
  const again = page.getByRole('button', { name: /^Deposit again/ })
  await tabToTarget(page, again, 'the button “Deposit again”')
  await page.keyboard.press('Enter')
  await expect(page.getByText('Recorded', { exact: true })).toHaveCount(2)
})

function address(): string {
  return test.info().project.use.baseURL ?? ''
}

async function visitAll(context: BrowserContext, site: string, paths: string[]): Promise<void> {
  const page = await context.newPage()
  const faults = watchFaults(page)
  const policies = new Set<string>()
  for (const path of paths) {
    const answer = await page.goto(`${site}${path}`)
    policies.add((await answer?.headerValue('content-security-policy')) ?? '')
    for (const [colorScheme, width] of looks) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width, height: 800 })
      await inspect(page)
    }
  }
  expect(faults).toEqual([])
  expect([...policies]).toHaveLength(1)
  expect([...policies][0]).not.toContain('unsafe')
  await page.close()
}

/** The states that only use brings: a recorded deposit, a history with rows, both verdicts. */
async function fillScreens(page: Page, site: string, locale: 'en' | 'fr'): Promise<void> {
  const faults = watchFaults(page)
  const words = {
    en: { recorded: 'Recorded', unchanged: 'Unchanged', unknown: 'No record' },
    fr: { recorded: 'Enregistré', unchanged: 'Inchangé', unknown: 'Aucune trace' }
  }[locale]
  // the longest words in the narrowest window
  if (locale === 'fr') {
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.setViewportSize({ width: 320, height: 800 })
  }
  const file = {
    name: 'Lease 2026.pdf',
    mimeType: 'application/pdf',
    buffer: Buffer.from('a lease')
  }
  const other = { ...file, name: 'Other 2026.pdf', buffer: Buffer.from(`other ${Math.random()}`) }
  await page.goto(`${site}/${locale}/deposit`)
  await page.locator('input[type=file]').first().setInputFiles(file)
  await expect(page.getByText(words.recorded, { exact: true }).first()).toBeVisible()
  await inspect(page)
  await page.goto(`${site}/${locale}/history`)
  await expect(page.getByText('Lease 2026.pdf').first()).toBeVisible()
  await inspect(page)
  for (const [chosen, word] of [
    [file, words.unchanged],
    [other, words.unknown]
  ] as const) {
    await page.goto(`${site}/${locale}/verify`)
    await page.locator('input[type=file]').first().setInputFiles(chosen)
    await expect(page.getByText(word, { exact: true }).first()).toBeVisible()
    await inspect(page)
  }
  expect(faults).toEqual([])
}

async function inspect(page: Page): Promise<void> {
  await expect(page.locator('h1')).toHaveCount(1)
  const overflow = await page.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth
  )
  expect(overflow, `${page.url()} scrolls sideways`).toBeLessThanOrEqual(0)
  const html = await page.content()
  expect(html, 'the policy blocks style attributes').not.toMatch(/<[^>]+\sstyle="/)
  // a raw key such as "verify.title" is a missing translation
  expect(await page.locator('body').innerText()).not.toMatch(/(^|\n)[a-z]+(\.[a-zA-Z_]+)+(\n|$)/)
  const { violations } = await new AxeBuilder({ page }).analyze()
  expect(violations.map(each => `${page.url()}: ${each.id} ${each.nodes[0]?.html}`)).toEqual([])
}

async function tabTo(page: Page, role: 'button' | 'link' | 'textbox', name: string): Promise<void> {
  await tabToTarget(page, page.getByRole(role, { name, exact: true }).first(), `${role} "${name}"`)
}

async function tabToTarget(page: Page, target: Locator, words: string): Promise<void> {
  for (let presses = 0; presses < 40; presses++) {
    if (await target.evaluate(element => element === document.activeElement)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`${words} is not reached by the Tab key`)
}
