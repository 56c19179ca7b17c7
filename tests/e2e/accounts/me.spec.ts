import { expect, type Page } from '@playwright/test'
import { restoreApi, stubError } from '../../helpers/e2e/api-stubs.ts'
import { test } from '../../helpers/e2e/journey.ts'
import { tabTo, tabToTarget } from '../../helpers/e2e/keyboard.ts'
import { inspectInTurn } from '../../helpers/e2e/looks.ts'
import {
  chooseFiles,
  delayRequests,
  downloadBy,
  expectSignedInAt,
  fillSignIn,
  homeAddress,
  nextPassword,
  password,
  sealedWord,
  signUpByHand,
  siteAddress,
  startSession,
  textFile,
  watchFaults
} from '../../helpers/e2e/page.ts'

test('a person changes name, appearance, language and password, and signs out everywhere', async ({
  browser
}) => {
  test.setTimeout(240_000)
  const site = siteAddress()
  const email = `me-${Date.now()}@example.com`
  const first = await browser.newContext()
  const page = await first.newPage()
  const faults = watchFaults(page, /status of 4(?:01|22)/)

  await test.step('is told while choosing how good a password is', async () => {
    await page.goto(`${site}/en/sign-up`)
    await expect(page.getByRole('button', { name: 'Create account' })).toBeEnabled()
    await page.getByLabel('Email').fill(email)
    await page.getByLabel('Username').fill('Ada Lovelace')
    const field = page.getByLabel('Password', { exact: true })
    await field.fill('password1234')
    await expect(page.getByText('Strength: very weak')).toBeVisible()
    await page.getByLabel('Confirm password').fill('password1234')
    await page.getByRole('button', { name: 'Create account' }).click()
    await expect(page.getByText('This is too easy to guess.')).toBeVisible()
    await expect(field).toBeFocused()
    // it stays said while the password is the same
    await page.getByLabel('Username').focus()
    await expect(field).not.toBeFocused()
    await expect(page.getByText('This is too easy to guess.')).toBeVisible()
    await page.keyboard.press('Enter')
    await expect(field).toBeFocused()
    await expect(page.getByText('This is too easy to guess.')).toBeVisible()
    await field.fill(password)
    await expect(page.getByText('Strength: strong')).toBeVisible()
    await page.getByLabel('Confirm password').fill(password)
    await page.getByRole('button', { name: 'Create account' }).click()
    await expectSignedInAt(page, `${site}/en`)
  })

  await test.step('finds the account in the drawer, with figures in words', async () => {
    await tabTo(page, 'link', 'Account')
    await page.keyboard.press('Enter')
    await expect(page).toHaveURL(/\/en\/me$/)
    await expect(page.getByRole('heading', { level: 1, name: 'Account' })).toBeFocused()
    await expect(page.getByRole('main').getByText(email)).toBeVisible()
    await expect(page.getByText(/^No limit\.|documents this period, resets/).first()).toBeVisible()
    await expect(page.getByText(/Each document you deposit counts/)).toBeVisible()
    await expect(page.getByText('This browser')).toBeVisible()
  })

  await test.step('takes another name, here and in the bar', async () => {
    await tabTo(page, 'textbox', 'Username')
    await page.keyboard.press('ControlOrMeta+A')
    await page.keyboard.type('Grace Hopper')
    await page.keyboard.press('Enter')
    await expect(page.getByText('Saved.')).toBeVisible()
    await expect(page.locator('.bar .initials')).toHaveText('GH')
    await page.reload()
    await expect(page.getByLabel('Username')).toHaveValue('Grace Hopper')
  })

  await test.step('chooses dark, as in the drawer', async () => {
    const main = page.getByRole('main')
    await expect(main.getByRole('radio', { name: 'System' })).toBeChecked()
    await tabToTarget(page, main.getByRole('radio', { name: 'System' }), 'System')
    await page.keyboard.press('ArrowLeft')
    await expect(main.getByRole('radio', { name: 'Dark' })).toBeChecked()
    await expect(page.locator('html')).toHaveAttribute('data-theme', 'vidimus-dark')
    await expect(page.locator('#drawer input[value=dark]')).toBeChecked()
    await page.reload()
    await expect(main.getByRole('radio', { name: 'Dark' })).toBeChecked()
    await page.locator('#drawer input[value=system]').check()
    await expect(main.getByRole('radio', { name: 'System' })).toBeChecked()
  })

  await test.step('chooses French, which every device follows', async () => {
    await page.getByRole('main').getByRole('link', { name: 'Français' }).click()
    await expect(page).toHaveURL(/\/fr\/me$/)
    await expect(page.getByRole('heading', { level: 1, name: 'Compte' })).toBeVisible()
    await expect(page.getByRole('heading', { name: 'Appareils connectés' })).toBeVisible()
    await page.getByRole('main').getByRole('link', { name: 'English' }).click()
    await expect(page).toHaveURL(/\/en\/me$/)
  })

  const other = await (await browser.newContext()).newPage()
  await other.goto(`${site}/en/sign-in`)
  await fillSignIn(other, email, password)
  await expectSignedInAt(other, `${site}/en`)

  await test.step('is refused with a wrong or a weak password, and stays signed in', async () => {
    await page.reload()
    await changePassword(page, 'not the present password', nextPassword)
    await expect(page.getByText('That is not your current password.')).toBeVisible({
      timeout: 60_000
    })
    await expect(page.getByLabel('Current password')).toBeFocused()
    await changePassword(page, password, 'gracehopper gracehopper')
    await expect(page.getByText('This is too easy to guess.')).toBeVisible()
    await changePassword(page, password, password)
    await expect(page.getByText('Choose a password other than your current one.')).toBeVisible()
    await expect(page.locator('html')).toHaveAttribute('data-session', 'in')
  })

  await test.step('changes the password, which ends the other browser only', async () => {
    await expect(page.getByRole('button', { name: /^Sign out Chrome/ })).toBeVisible()
    const present = page.getByLabel('Current password')
    await present.fill('')
    await tabToTarget(page, present, 'the current password')
    await page.keyboard.type(password)
    await page.keyboard.press('Tab')
    await expect(page.getByRole('button', { name: 'Show password' }).first()).toBeFocused()
    await page.keyboard.press('Space')
    await expect(present).toHaveAttribute('type', 'text')
    for (const name of ['New password', 'Confirm new password']) {
      await tabTo(page, 'textbox', name)
      await page.keyboard.press('ControlOrMeta+A')
      await page.keyboard.type(nextPassword)
    }
    await page.keyboard.press('Enter')
    await expect(page.getByText('Your password has been changed.')).toBeVisible({ timeout: 60_000 })
    await expect(page.getByRole('button', { name: /^Sign out Chrome/ })).toHaveCount(0)
    await other.goto(`${site}/en/history`)
    await expect(other).toHaveURL(/\/en\/sign-in\?(?:.*&)?redirect=/)
    await page.reload()
    await expect(page.getByLabel('Username')).toHaveValue('Grace Hopper')
  })

  await test.step('signs in with the new password and not with the old one', async () => {
    await fillSignIn(other, email, password)
    await expect(
      other.getByText('The email and password do not match an account on this site.')
    ).toBeVisible()
    await expect(other.getByLabel('Email')).toHaveValue(email)
    await fillSignIn(other, email, nextPassword)
    await expectSignedInAt(other, `${site}/en/history`)
  })

  await test.step('ends one device from the list', async () => {
    const third = await (await browser.newContext()).newPage()
    await third.goto(`${site}/en/sign-in`)
    await fillSignIn(third, email, nextPassword)
    await expectSignedInAt(third, `${site}/en`)
    await page.reload()
    const buttons = page.getByRole('button', { name: /^Sign out Chrome/ })
    await expect(buttons).toHaveCount(2)
    await buttons.first().click()
    await expect(page.getByText('That device is signed out.')).toBeVisible()
    await expect(buttons).toHaveCount(1)
    await third.goto(`${site}/en/history`)
    await expect(third).toHaveURL(/\/en\/sign-in\?(?:.*&)?redirect=/)
  })

  await test.step('signs out everywhere, after a question in place', async () => {
    // stands for the names of files that this browser has verified
    await page.evaluate(() => localStorage.setItem('vidimus:checked', 'lease.pdf'))
    await tabTo(page, 'button', 'Sign out everywhere')
    await page.keyboard.press('Enter')
    const confirm = page.getByRole('button', { name: 'Yes, sign out everywhere' })
    await expect(confirm).toBeFocused()
    await page.getByRole('button', { name: 'Stay signed in' }).click()
    await expect(page.getByRole('button', { name: 'Sign out everywhere' })).toBeFocused()
    await page.keyboard.press('Enter')
    await expect(confirm).toBeFocused()
    await page.keyboard.press('Enter')
    await expect(page).toHaveURL(/\/en$/)
    await expect(page.locator('html')).toHaveAttribute('data-session', 'out')
    expect(await page.evaluate(() => localStorage.getItem('vidimus:checked'))).toBeNull()
    // the live stream of the second browser ends, and with it its session
    await expect(other).toHaveURL(/\/en\/sign-in\?(?:.*&)?redirect=/, { timeout: 40_000 })
  })
  expect(faults).toEqual([])
})

test('forms of accounts say what they have to say in its place and in time', async ({ page }) => {
  await test.step('what a field says comes and goes without the button moving from under the pointer', async () => {
    await page.goto('/en/sign-up')
    const button = page.getByRole('button', { name: 'Create account' })
    await expect(button).toBeEnabled()
    // typefaces come later, and are no matter here
    await expect(page.locator('html')).toHaveAttribute('data-fonts')
    await page.evaluate(async () => void (await document.fonts.ready))
    // what stands below it: a button that is pressed gives way by itself
    const below = page.getByText('Already have an account?')
    const placeOf = async () => (await below.boundingBox())?.y
    const first = await placeOf()
    await page.getByLabel('Password', { exact: true }).fill('password1234')
    await expect(page.getByText('Strength: very weak')).toBeVisible()
    expect(await placeOf()).toBe(first)

    await page.getByLabel('Confirm password').fill('password123')
    await page.getByLabel('Username').focus()
    await expect(page.getByText('The value must be equal to the Password value')).toBeVisible()
    await page.getByLabel('Confirm password').fill('password1234')
    await expect(page.getByText('The value must be equal to the Password value')).toBeHidden()

    await page.getByLabel('Email').fill('nobody')
    await button.hover()
    await page.mouse.down()
    expect(await placeOf()).toBe(first)
    await page.mouse.up()
    await expect(page.getByText('Value is not a valid email address')).toBeVisible()
  })

  await test.step('caps lock is told while a password is typed', async () => {
    await page.goto('/en/sign-in')
    const field = page.getByLabel('Password', { exact: true })
    await field.focus()
    const press = (isOn: boolean) =>
      field.evaluate((element, modifierCapsLock) => {
        const init = { key: 'A', bubbles: true, modifierCapsLock }
        element.dispatchEvent(new KeyboardEvent('keydown', init))
      }, isOn)
    await expect(page.locator('astro-island[ssr]')).toHaveCount(0)
    await press(true)
    await expect(page.getByText('Caps lock is on.')).toBeVisible()
    await press(false)
    await expect(page.getByText('Caps lock is on.')).toHaveCount(0)
  })

  await test.step('a password typed before the page is ready is judged once it is', async () => {
    const release = await delayRequests(page, '**/_astro/SignUp.*.js')
    await page.goto('/en/sign-up', { waitUntil: 'commit' })
    await page.locator('input[name=password]').fill('password1234')
    await expect(page.locator('astro-island[ssr] [type=submit]')).toBeEnabled()
    release()
    await expect(page.getByText('Strength: very weak')).toBeVisible()
  })
})

test('a person pastes a password, saves their own data and sees what they used', {
  tag: '@matrix'
}, async ({ browser, context, page }) => {
  await test.step('a password can be pasted and every field names itself to password managers', async () => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await startSession(page, homeAddress())
    await page.goto('/en/me')
    const form = page.locator('form', { has: page.getByLabel('Current password') })
    await expect(form).toBeVisible()
    const purposes = await form
      .locator('input:not([type=checkbox])')
      .evaluateAll(inputs => inputs.map(input => input.getAttribute('autocomplete')))
    expect(purposes).toEqual(['username', 'current-password', 'new-password', 'new-password'])
    await expect(form.locator('input[autocomplete=username]')).toHaveValue(/@example\.com$/)
    await page.evaluate(text => navigator.clipboard.writeText(text), nextPassword)
    await page.getByLabel('New password', { exact: true }).focus()
    await page.keyboard.press('ControlOrMeta+V')
    await expect(page.getByLabel('New password', { exact: true })).toHaveValue(nextPassword)
    await expect(page.getByText('Strength: strong')).toBeVisible()
  })

  await test.step('a person saves their own data as one file, and again where it failed first', async () => {
    const email = await startSession(page, homeAddress())
    await deposit(page, 'lease.txt')
    await page.goto('/en/me')
    const section = page.getByRole('region', { name: 'Your data' })

    await stubError(page, ['GET', '/user/export'], 'unavailable')
    await section.getByRole('button', { name: 'Download my data' }).click()
    await expect(section.getByRole('alert')).toBeVisible()
    await inspectInTurn(page)
    await restoreApi(page)

    const { name, bytes } = await downloadBy(page, () =>
      section.getByRole('button', { name: 'Retry' }).click()
    )
    await expect(section.getByRole('status')).toHaveText('The file has been downloaded.')
    await expect(section.getByRole('alert')).toHaveCount(0)
    await expect(section.getByRole('button', { name: 'Download my data' })).toBeFocused()
    expect(name).toMatch(/^vidimus-export-\d{4}-\d\d-\d\d\.json$/)
    expect(JSON.parse(String(bytes))).toMatchObject({
      account: { email },
      sessions: [{ current: true }],
      requests: [{ kind: 'deposit', state: 'done', name: 'lease.txt' }],
      complete: true
    })
  })

  await test.step('a person sees what they used themselves beside what their groups used', async () => {
    const site = homeAddress()
    const other = await (await browser.newContext()).newPage()
    await startSession(other, site)
    await deposit(other, 'theirs.txt')
    await startSession(page, site)
    await deposit(page, 'mine.txt')
    await page.setViewportSize({ width: 320, height: 700 })
    await page.goto(`${site}/me`)
    const part = (title: string, name: string) =>
      page
        .getByRole('region', { name: title, exact: true })
        .getByRole('region', { name, exact: true })
    await expect(part('Usage', 'You').getByText(/^1 document( this period)?$/)).toBeVisible()
    // the group has everybody of this site in it
    await expect(
      part('Usage', 'Your groups').getByText(/(?:\d{2,}|[2-9]) .*documents/)
    ).toBeVisible()
    await page.getByRole('main').getByRole('link', { name: 'Français' }).click()
    await expect(
      part('Utilisation', 'Vous').getByText(/^1 document( pour cette période)?$/)
    ).toBeVisible()
    await expect(part('Utilisation', 'Vos groupes')).toBeVisible()
    await inspectInTurn(page)
  })
})

//
test('a browser whose clock is a day off signs in and stays', async ({ page, context }) => {
  for (const days of [-1, 1]) {
    await test.step(`${days} day`, async () => {
      await context.clearCookies()
      // only what the time is, because faked timers would hold up the change of pages
      await context.clock.setFixedTime(Date.now() + days * 86_400_000)
      await signUpByHand(page, homeAddress())
      await page.goto('/en/me')
      await expect(page.getByLabel('Username')).toHaveValue('Camille')
      await page.reload()
      await expect(page.getByLabel('Username')).toHaveValue('Camille')
      await expect(page.locator('html')).toHaveAttribute('data-session', 'in')
    })
  }
})

async function deposit(page: Page, name: string): Promise<void> {
  await page.goto('/en/deposit')
  await chooseFiles(page, textFile(name))
  await expect(page.locator('li').getByText(sealedWord)).toBeVisible()
}

async function changePassword(page: Page, present: string, chosen: string): Promise<void> {
  await page.getByLabel('Current password').fill(present)
  await page.getByLabel('New password', { exact: true }).fill(chosen)
  await page.getByLabel('Confirm new password').fill(chosen)
  await page.getByRole('button', { name: 'Change password' }).click()
}
