import { type Browser, expect, type Page } from '@playwright/test'
import { newEmail } from '../../helpers/client.ts'
import {
  callApi,
  confirmSession,
  createGroup,
  defaultGroupOf,
  openCreateForm,
  section,
  signUpAdmin
} from '../../helpers/e2e/admins.ts'
import { stubError } from '../../helpers/e2e/api-stubs.ts'
import { test } from '../../helpers/e2e/journey.ts'
import {
  checkedLocales,
  inMatrix,
  inspectAtWidths,
  inspectInTurn
} from '../../helpers/e2e/looks.ts'
import {
  activateAccount,
  fillSignIn,
  homeAddress,
  nextPassword,
  password,
  startSession
} from '../../helpers/e2e/page.ts'

async function invite(page: Page, admin: string, email = newEmail()) {
  await openCreateForm(page, admin, 'user')
  await page.locator('input[name=email]').fill(email)
  await page.locator('main form [type=submit]').click()
  await expect(page).toHaveURL(/\/users\/[0-9a-f-]{36}$/)
  await expect(page.locator('main [data-state=ready]').first()).toBeVisible()
  return email
}

/** Signs up a person in a browser of their own, and opens their page as an administrator. */
async function openPerson(page: Page, browser: Browser, admin: string, username: string) {
  const theirs = await (await browser.newContext()).newPage()
  const email = await startSession(theirs, homeAddress(), { username, chosen: nextPassword })
  // the form to invite the same person again leads to their page
  await openCreateForm(page, admin, 'user')
  await page.locator('input[name=email]').fill(email)
  await page.locator('main form [type=submit]').click()
  await page.getByRole('alert').getByRole('link').click()
  // the new page takes the focus, which a test could have put elsewhere by then
  await expect(page.getByRole('heading', { level: 1, name: username })).toBeFocused()
  return { theirs, email }
}

test(
  'the form of an invitation tells that the default group did not load',
  inMatrix,
  async ({ page }) => {
    const { admin } = await signUpAdmin(page)
    const defaultGroup = /\/company\/[^/]+\/groups\?.*sort=created/
    await page.route(defaultGroup, route => route.abort())
    await openCreateForm(page, admin, 'user')
    const groups = page.getByRole('group', { name: 'Groups' })
    const retry = groups.getByRole('button', { name: 'Retry' })
    await expect(retry).toBeVisible()
    await inspectInTurn(page)
    await retry.focus()
    await page.keyboard.press('Enter')
    await expect(retry).toBeFocused()
    await page.unroute(defaultGroup)
    await page.keyboard.press('Enter')
    await expect(groups.getByRole('button', { name: /^Leave out/ })).toHaveCount(1)
    await expect(retry).toHaveCount(0)
    await expect(groups.getByRole('combobox')).toBeFocused()
  }
)

test('an administrator invites people, deletes them, and finds none of another company', async ({
  browser,
  page
}) => {
  await test.step('an administrator invites a person, who activates the account with the link', async () => {
    const { admin } = await signUpAdmin(page)
    await openCreateForm(page, admin, 'user')
    await expect(page.getByRole('button', { name: /^Leave out/ })).toHaveCount(1)
    await page.getByRole('button', { name: 'Invite' }).click()
    await expect(page.getByLabel('Email')).toBeFocused()
    await expect(page.getByText('Value is required')).toBeVisible()
    const email = newEmail()
    await page.getByLabel('Email').fill(email)
    await page.getByLabel('Name (optional)').fill('Ines Invited')
    await page.locator('main select[name=locale]').selectOption('fr')
    await page.getByRole('button', { name: 'Invite' }).click()
    await expect(page.getByRole('heading', { level: 1, name: 'Ines Invited' })).toBeVisible()
    await expect(page.getByText(`${email} is invited. Pass the link on.`)).toBeVisible()
    await expect(section(page, 'Identity')).toContainText('Invited, has not chosen a password yet')
    await expect(section(page, 'Identity')).toContainText('Français')
    await expect(section(page, 'Groups').getByRole('link')).toHaveCount(1)
    const box = page.getByRole('region', { name: 'Invitation link' })
    await expect(box).toContainText('It works once, until')
    await expect(box.getByRole('button', { name: 'Copy link' })).toBeVisible()
    const first = await box.getByText(/activate-account#t=/).textContent()

    // a new link replaces the first one
    await page.getByRole('button', { name: 'Make a new invitation link' }).click()
    await expect(box.getByText(/activate-account#t=/)).not.toHaveText(first ?? '')
    const link = (await box.getByText(/activate-account#t=/).textContent()) ?? ''
    expect(link).toContain('/fr/activate-account#t=')

    const invited = await (await browser.newContext()).newPage()
    await activateAccount(invited, link, 'Ines Active')

    await page.reload()
    await expect(page.getByRole('heading', { level: 1, name: 'Ines Active' })).toBeVisible()
    await expect(page.locator('[data-member-state=active]')).toHaveText('Active')
    await expect(page.getByText(/activate-account#t=/)).toHaveCount(0)

    // an email that is taken leads to its person
    await openCreateForm(page, admin, 'user')
    await page.getByLabel('Email').fill(email.toUpperCase())
    await page.getByRole('button', { name: 'Invite' }).click()
    await page.getByRole('link', { name: 'Open this person' }).click()
    await expect(page.getByRole('heading', { level: 1, name: 'Ines Active' })).toBeVisible()
  })

  await test.step('a person is deleted after their email was typed', async () => {
    const { admin, email: own } = await signUpAdmin(page)
    const email = await invite(page, admin)
    await confirmSession(own)
    const part = section(page, 'Delete person')
    await expect(part).toContainText('Documents on record stay')
    await part.getByRole('button', { name: 'Delete person…' }).click()
    const field = part.getByLabel(`Type ${email} to confirm`)
    await expect(field).toBeFocused()
    await field.fill('someone else')
    await field.press('Enter')
    await expect(field).toHaveAttribute('aria-invalid', 'true')
    await field.fill(email)
    const address = page.url()
    await field.press('Enter')
    await expect(page).toHaveURL(`${admin}/users`)
    await expect(page.getByText(/was deleted\.$/)).toBeVisible()
    await page.goto(address)
    await expect(page.getByText('There is no such person.')).toBeVisible()
  })

  await test.step('a person of another company is not found', async () => {
    const { admin } = await signUpAdmin(page)
    await invite(page, admin)
    const person = page.url().split('/').at(-1)
    const site = homeAddress().replace('//localhost', '//demo.localhost')
    const demo = await signUpAdmin(page, 'en', { site })
    await page.goto(`${demo.admin}/users/${person}`)
    await expect(page.getByText('There is no such person.')).toBeVisible()
  })
})

test('an administrator gives and takes permissions and access', { tag: '@matrix' }, async ({
  browser,
  page
}) => {
  await test.step('a permission is given with the password, and nobody takes their own', async () => {
    const { admin, email } = await signUpAdmin(page, 'en', { chosen: password })
    await openCreateForm(page, admin, 'user')
    await page.getByLabel('Email').fill(email)
    await page.getByRole('button', { name: 'Invite' }).click()
    await page.getByRole('link', { name: 'Open this person' }).click()
    await expect(page.getByRole('heading', { level: 1, name: 'Anna Admin' })).toBeVisible()
    const own = page.getByRole('switch', { name: 'Administrator' })
    await expect(own).toBeChecked()
    await expect(own).toHaveAttribute('aria-disabled', 'true')
    await expect(own).toHaveAccessibleDescription(/You cannot take this permission from yourself/)
    await own.press('Space')
    await expect(own).toBeChecked()
    await expect(page.getByRole('button', { name: 'Disable…' })).toHaveCount(0)

    const { theirs } = await openPerson(page, browser, admin, 'Ada Second')
    const toggle = page.getByRole('switch', { name: 'Administrator' })
    await expect(toggle).not.toBeChecked()
    await toggle.focus()
    await page.keyboard.press('Space')
    const dialog = page.getByRole('dialog', { name: 'Confirm with your password' })
    await expect(dialog.getByLabel('Password', { exact: true })).toBeFocused()
    await page.keyboard.press('Escape')
    // the focus is back a moment earlier, while the switch still waits for the answer
    await expect(page.getByText('Enter your password again to do this.')).toBeVisible()
    await expect(toggle).not.toBeChecked()
    await expect(toggle).toBeFocused()
    await page.keyboard.press('Space')
    await dialog.getByLabel('Password', { exact: true }).fill(password)
    await page.keyboard.press('Enter')
    await expect(toggle).toBeChecked({ timeout: 30_000 })
    await expect(page.getByText('Ada Second is now an administrator.')).toBeVisible()

    await theirs.goto(admin)
    await expect(theirs.locator('main [data-state=ready]').first()).toBeVisible()
    // not asked again within five minutes
    await toggle.press('Space')
    await expect(toggle).not.toBeChecked()
    await expect(page.getByText('Ada Second is no longer an administrator.')).toBeVisible()
  })

  await test.step('a disabled person is stopped in every window at once, and can come back', async () => {
    const { admin } = await signUpAdmin(page)
    const { theirs, email } = await openPerson(page, browser, admin, 'Dan Disabled')
    const stream = theirs.waitForRequest(/\/process\/sse/)
    await theirs.goto(`${homeAddress()}/history`)
    const ended = endOf(theirs, await stream)
    const access = section(page, 'Access')
    await expect(access).toContainText('This person can sign in.')
    await access.getByRole('button', { name: 'Disable…' }).press('Enter')
    await expect(access.getByLabel('Reason')).toBeFocused()
    await access.getByRole('button', { name: 'Disable', exact: true }).click()
    await expect(access.getByText('Value is required')).toBeVisible()
    await access.getByLabel('Reason').selectOption('security')
    const pressed = Date.now()
    await access.getByRole('button', { name: 'Disable', exact: true }).click()
    await expect(access).toContainText('Someone else may have used the account')
    await expect(access.getByRole('heading')).toBeFocused()
    await expect(page.getByText('Dan Disabled is disabled.')).toBeVisible()
    await ended
    expect(Date.now() - pressed).toBeLessThan(10_000)
    await expect(theirs).toHaveURL(/\/en\/disabled\?disabled=/, { timeout: 30_000 })
    expect(Date.now() - pressed).toBeLessThan(30_000)
    await expect(theirs.getByText(/someone else may have used the account/)).toBeVisible()

    await page.getByRole('button', { name: 'Undo' }).click()
    await expect(access).toContainText('This person can sign in.')
    await expect(page.getByRole('button', { name: 'Undo' })).toHaveCount(0)
    await theirs.getByRole('button', { name: 'Check again' }).click()
    await expect(theirs.getByText('Your session has ended.')).toBeVisible()
    await theirs.getByRole('main').getByRole('link', { name: 'Sign in' }).click()
    await fillSignIn(theirs, email, nextPassword)
    await expect(theirs.locator('html')).toHaveAttribute('data-session', 'in', { timeout: 60_000 })

    await access.getByRole('button', { name: 'Disable…' }).click()
    await access.getByLabel('Reason').selectOption('left')
    await access.getByRole('button', { name: 'Disable', exact: true }).click()
    await access.getByRole('button', { name: 'Enable' }).click()
    await expect(page.getByText('Dan Disabled can sign in again.')).toBeVisible()
    await expect(access).toContainText('This person can sign in.')

    await access.getByRole('button', { name: 'Sign out everywhere' }).click()
    await expect(page.getByText('Dan Disabled is signed out everywhere.')).toBeVisible()
  })
})

function endOf(page: Page, request: Awaited<ReturnType<Page['waitForRequest']>>) {
  return new Promise<void>(resolve => {
    const compare = (ended: typeof request) => ended === request && resolve()
    page.on('requestfinished', compare)
    page.on('requestfailed', compare)
  })
}

test(
  'two administrators change one person, and the second chooses what to keep',
  inMatrix,
  async ({ page }) => {
    const { admin } = await signUpAdmin(page)
    await invite(page, admin)
    const identity = section(page, 'Identity')
    const save = identity.getByRole('button', { name: 'Save', exact: true })
    await identity.getByRole('button', { name: 'Edit' }).click()
    await expect(identity.getByLabel('Name')).toBeFocused()
    await identity.getByLabel('Name').fill('')
    await save.click()
    await expect(identity.getByLabel('Name')).toBeFocused()
    await identity.getByLabel('Name').fill('Own name')
    await save.click()
    await expect(page.getByRole('heading', { level: 1, name: 'Own name' })).toBeVisible()
    await expect(identity.getByRole('button', { name: 'Edit' })).toBeFocused()

    await page.keyboard.press('Enter')
    await identity.getByLabel('Name').fill('Second name')
    await identity.getByLabel('Language').selectOption('fr')
    const person = page.url().split('/').at(-1)
    await callApi(page, 'PUT', `/user/${person}`, { username: 'First name' })
    await save.click()
    const conflict = page.locator('[data-state=changed]')
    await expect(conflict.getByRole('group', { name: 'Name' })).toContainText('First name')
    await expect(conflict.getByRole('group', { name: 'Language' })).toContainText('Français')
    await conflict.getByLabel(/Theirs First name/).check()
    await conflict.getByRole('button', { name: 'Save this choice' }).click()
    await expect(conflict).toHaveCount(0)
    await expect(page.getByRole('heading', { level: 1, name: 'First name' })).toBeVisible()
    await expect(identity).toContainText('Français')
  }
)

test.describe('where one group refuses', () => {
  test.use({ provoked: /Something is wrong with this group|unavailable|UNAVAILABLE/ })

  test('a person joins several groups, and leaves one with an undo', { tag: '@matrix' }, async ({
    page,
    browser
  }) => {
    const logged: string[] = []
    page.on('pageerror', error => logged.push(error.message))
    const { company, admin } = await signUpAdmin(page)
    const names = ['North', 'South'].map(name => `${name} ${Date.now()}`)
    for (const name of names) await createGroup(page, admin, name)
    const refused = page.url().split('/').at(-1)
    await openPerson(page, browser, admin, 'Gina Groups')
    const groups = section(page, 'Groups')
    const before = await groups.getByRole('listitem').count()
    for (const name of names) {
      await groups.getByRole('combobox', { name: 'Add a group' }).fill(name)
      await page.getByRole('option', { name }).click()
    }
    const detail = 'Something is wrong with this group'
    await stubError(page, ['POST', `/group/${refused}/user`], 'unavailable', { detail })
    await groups.getByRole('button', { name: 'Add', exact: true }).click()
    await expect(groups.getByText(`Added to ${names[0]}.`)).toBeVisible()
    await expect(groups.getByText(`${names[1]} – The service is unavailable`)).toBeVisible()
    expect(logged).toEqual([detail])
    await expect(groups.getByRole('link')).toHaveCount(before + 1)

    await groups.getByRole('button', { name: `Remove from the group ${names[0]}` }).click()
    await expect(page.getByText(`Gina Groups is no longer in ${names[0]}.`)).toBeVisible()
    await expect(groups.getByRole('heading')).toBeFocused()
    await expect(groups.getByRole('link', { name: names[0] ?? '' })).toHaveCount(0)
    // the undo stays when another page is opened
    const person = page.url()
    await groups.getByRole('link').first().click()
    await expect(page).toHaveURL(`${admin}/groups/${await defaultGroupOf(company)}`)
    const undone = page.waitForResponse(/\/group\/[^/]+\/user$/)
    await page.getByRole('button', { name: 'Undo' }).click()
    expect((await undone).status()).toBe(204)
    await page.goto(person)
    await expect(groups.getByRole('link', { name: names[0] ?? '' })).toBeVisible()
    await expect(section(page, 'Usage')).toContainText('This person: 0 documents')
  })
})

for (const locale of checkedLocales) {
  test(`the screens of a person hold in ${locale}, small, large and dark`, {
    tag: '@matrix'
  }, async ({ page }) => {
    const { admin } = await signUpAdmin(page, locale)
    await openCreateForm(page, admin, 'user')
    await page.locator('main form [type=submit]').click()
    await expect(page.locator('input[name=email]')).toHaveAttribute('aria-invalid', 'true')
    await inspectAtWidths(page, 1280)
    await invite(page, admin)
    await page.locator('[aria-labelledby=delete-item] button').click()
    await page.locator('[aria-labelledby=user-access] button').last().click()
    await inspectAtWidths(page, 768, 1280)
  })
}
