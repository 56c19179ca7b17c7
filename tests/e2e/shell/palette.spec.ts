import { expect, type Page } from '@playwright/test'
import { addPeople, makeAdmin } from '../../helpers/e2e/admins.ts'
import { stubError } from '../../helpers/e2e/api-stubs.ts'
import { test } from '../../helpers/e2e/journey.ts'
import { inspectInTurn } from '../../helpers/e2e/looks.ts'
import { delayRequests, homeAddress, siteAddress, startSession } from '../../helpers/e2e/page.ts'

const word = () => `Q${Math.random().toString(36).slice(2, 8)}`

test('a stranger uses the palette and the list of keys', async ({ page }) => {
  await test.step('a stranger opens the pages for everybody by the keyboard, and the focus comes back', async () => {
    await visit(page, '/en/verify')
    const field = page.locator('[name=fingerprint]')
    await field.focus()
    await open(page)
    await expect(options(page)).toHaveText([
      /^Home/,
      /^Verify/,
      /^Sign in/,
      'Create an account',
      /^API documentation/,
      /^Verify a file/,
      /^As the system/,
      /^Light/,
      /^Dark/,
      /^Français/,
      /^Keyboard shortcuts/
    ])
    await expect(palette(page).getByRole('status')).toHaveText('11 results')
    await page.keyboard.press('Escape')
    await expect(palette(page)).toBeHidden()
    await expect(field).toBeFocused()

    await open(page)
    await page.keyboard.type('DOCU')
    await expect(options(page)).toHaveCount(1)
    await expect(palette(page).getByRole('status')).toHaveText('1 result')
    await page.keyboard.press('Enter')
    await expect(page).toHaveURL(/\/en\/docs$/)
    await expect(palette(page)).toBeHidden()
  })

  await test.step('the list of keys opens by ?, but not in fields, and can be switched off', async () => {
    await visit(page, '/en/verify')
    const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' })
    await page.locator('[name=fingerprint]').focus()
    await page.keyboard.press('?')
    await expect(page.locator('[name=fingerprint]')).toHaveValue('?')
    await expect(help).toBeHidden()
    await page.locator('#user, .bar-sign-in').first().focus()
    await page.keyboard.press('?')
    await expect(help).toBeVisible()
    await inspectInTurn(page)
    await help.getByRole('checkbox').uncheck()
    await help.getByRole('button', { name: 'Close' }).click()
    await page.keyboard.press('?')
    await expect(help).toBeHidden()
    await open(page)
    await page.keyboard.type('keyboard')
    await page.keyboard.press('Enter')
    await expect(help.getByRole('checkbox')).not.toBeChecked()
  })
})

test('an administrator finds people, groups and acts, by their latest words', {
  tag: '@matrix'
}, async ({ page }) => {
  await test.step('the latest answer wins, and a late one of an older text is dropped', async () => {
    const [early, late] = [word(), word()]
    const company = await makeAdmin(await startSession(page, homeAddress()))
    await addPeople(company, { word: early, count: 1 })
    await addPeople(company, { word: late, count: 1 })
    const release = await delayRequests(page, `**/company/*/users?*q=${early}*`)
    await visit(page, '/en/verify')
    await expect(page.locator('html')).toHaveAttribute('data-can', /admin/)
    await open(page)
    const sent = page.waitForRequest(`**/company/*/users?*q=${early}*`)
    await page.keyboard.type(early)
    await sent
    await expect(palette(page).getByRole('status')).toHaveText('Searching')
    await field(page).fill(late)
    await expect(options(page)).toHaveText([new RegExp(`^${late} 001`)])
    release()
    await expect(options(page)).toHaveText([new RegExp(`^${late} 001`)])
  })

  await test.step('an administrator finds people, groups and acts; what was chosen comes first; signing out empties it', async () => {
    const site = siteAddress()
    const name = word()
    const email = await startSession(page, `${site}/en`)
    const company = await makeAdmin(email)
    await addPeople(company, { word: name, count: 7 })
    await visit(page, '/en/verify')
    await expect(page.locator('html')).toHaveAttribute('data-can', /admin/)
    await open(page)
    // the arrow goes round: the last command of all
    await page.keyboard.press('ArrowUp')
    await expect(active(page)).toHaveText('Sign out')
    await page.keyboard.press('ArrowDown')
    await expect(active(page)).toHaveText('Home')

    await page.keyboard.type(`${name} 003`)
    await expect(options(page)).toHaveText([new RegExp(`^${name} 003`)])
    await expect(palette(page).getByRole('group', { name: 'People' })).toBeVisible()
    await page.keyboard.press('Enter')
    await expect(page).toHaveURL(new RegExp(`/en/admin/${company}/users/[0-9a-f-]{36}$`))
    await expect(page.getByRole('heading', { level: 1 })).toHaveText(`${name} 003`)

    await open(page)
    await expect(options(page).first()).toHaveText(new RegExp(`^${name} 003`))
    await expect(palette(page).getByRole('group', { name: 'Recent' })).toBeVisible()
    await page.keyboard.type('new gr')
    await page.keyboard.press('Enter')
    await expect(page).toHaveURL(`${site}/en/admin/${company}/create/group`)

    // what has failed is said beside what is there
    await stubError(page, ['GET', '/company/[^/]+/users'], 'internal')
    await open(page)
    await page.keyboard.type('Every')
    await expect(palette(page).getByRole('status')).toContainText('could not be searched')
    await page.keyboard.press('Escape')

    await open(page)
    await page.keyboard.type('sign out')
    await page.keyboard.press('Enter')
    await expect(page).toHaveURL(`${site}/en`)
    await visit(page, `${site}/en`)
    await open(page)
    await page.keyboard.type(name)
    await expect(palette(page).getByRole('status')).toHaveText(`Nothing matches “${name}”.`)
    await expect(options(page)).toHaveCount(0)
  })
})

test('in French, on a phone: a button opens it, and every rule of accessibility holds', async ({
  browser
}) => {
  const context = await browser.newContext({ viewport: { width: 320, height: 700 } })
  const page = await context.newPage()
  const company = await makeAdmin(await startSession(page, homeAddress('fr')))
  const name = word()
  await addPeople(company, { word: name, count: 2 })
  await visit(page, '/fr/verify')
  await expect(page.locator('html')).toHaveAttribute('data-can', /admin/)
  await page.getByRole('button', { name: 'Recherche et commandes' }).click()
  await expect(options(page).first()).toHaveText('Accueil')
  await inspectInTurn(page)
  await field(page).fill(name)
  await expect(options(page)).toHaveCount(2)
  await inspectInTurn(page)
  await options(page).first().click()
  await expect(page).toHaveURL(new RegExp(`/fr/admin/${company}/users/`))
  await context.close()
})

function palette(page: Page) {
  return page.locator('dialog.palette')
}

function field(page: Page) {
  return palette(page).getByRole('combobox')
}

function options(page: Page) {
  return palette(page).getByRole('option')
}

function active(page: Page) {
  return palette(page).getByRole('option', { selected: true }).locator('.palette-label')
}

async function open(page: Page): Promise<void> {
  // on a busy machine the first key may come before its listener
  await expect(async () => {
    if (!(await palette(page).isVisible())) await page.keyboard.press('Control+k')
    await expect(field(page)).toBeFocused({ timeout: 5000 })
  }).toPass({ timeout: 60_000 })
}

/** Opens a page and waits until its deferred parts have started. */
async function visit(page: Page, path: string): Promise<void> {
  await page.goto(path)
  await page.waitForLoadState('networkidle')
}
