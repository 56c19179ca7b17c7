import { expect, type Page } from '@playwright/test'
import { newEmail } from '../../helpers/client.ts'
import { test } from '../../helpers/e2e/journey.ts'
import { changeLanguage, delayRequests, password } from '../../helpers/e2e/page.ts'

const formScripts = '**/_astro/Sign{In,Up}.*.js'

test('forms name all that is wrong, and lead on with what was typed', async ({ page }) => {
  await test.step('a form with many errors lists its fields as links', async () => {
    await page.goto('/en/sign-up')
    const submit = page.locator('main form [type=submit]')
    await expect(submit).toBeEnabled()
    await submit.click()
    const note = page.getByRole('alert').filter({ hasText: '4 fields need your attention:' })
    await expect(note.getByRole('listitem')).toHaveText([
      'Email Value is required',
      'Username Value is required',
      'Password Value is required',
      'Confirm password Value is required'
    ])
    await note.getByRole('link', { name: 'Username' }).press('Enter')
    await expect(page.locator('input[name=username]')).toBeFocused()
    await page.keyboard.type('Ada')
    await expect(note).toHaveCount(0)
  })

  await test.step('a weak password is named together with everything else that is wrong', async () => {
    await page.goto('/en/sign-up')
    await page.getByLabel('Username').fill('Ada Lovelace')
    await page.getByLabel('Password', { exact: true }).fill('passwordpassword')
    await page.getByRole('button', { name: 'Create account' }).click()
    await expect(page.getByLabel('Email')).toHaveAccessibleDescription(/.+/)
    await expect(page.getByLabel('Password', { exact: true })).toHaveAttribute(
      'aria-invalid',
      'true'
    )
  })

  await test.step('a forgotten password on a developer’s machine leads to the outbox, with the e-mail kept', async () => {
    await page.goto('/en/sign-in')
    await page.getByLabel('Email').fill('ada@example.com')
    await page.getByRole('link', { name: 'Forgot your password?' }).click()
    // the page of the sign-in has such a field too
    await expect(
      page.getByRole('heading', { level: 1, name: 'Choose a new password' })
    ).toBeVisible()
    await expect(page.getByLabel('Email')).toHaveValue('ada@example.com')
    await page.getByRole('button', { name: 'Send me a link' }).click()
    await expect(page.getByText('a file in the outbox folder on this computer')).toBeVisible()
    await page.getByRole('button', { name: 'Use another email' }).click()
    await expect(page.getByLabel('Email')).toHaveValue('ada@example.com')
  })
})

test('a form keeps what is typed before its script runs, also in another language', async ({
  page
}) => {
  await test.step('what is typed, sent and carried by an invitation is kept before the form’s script runs', async () => {
    const release = await delayRequests(page, formScripts)
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
    await page.getByLabel('Email').press('Enter')
    release()
    await expect(page.getByText('Value is required')).toBeVisible()
    await expect(page.getByLabel('Email')).toHaveValue('bob@example.com')
  })

  await test.step('a change of language takes a half-filled form along, and nothing of it is stored', async () => {
    const release = await delayRequests(page, formScripts)
    await page.goto('/en/sign-up')
    const email = await fillIn(page)
    await changeLanguage(page, 'fr')
    await expect(page).toHaveURL(/\/fr\/sign-up$/)
    release()
    await expect(page.getByLabel('Nom affiché')).toHaveValue('Ada Lovelace')
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
    await expect(page.getByLabel('Nom affiché')).toHaveValue('')
  })
})

async function fillIn(page: Page): Promise<string> {
  const email = newEmail()
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Username').fill('Ada Lovelace')
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.locator('input[name=repeat]').fill(password)
  return email
}
