import { expect, type Page } from '@playwright/test'
import { makeToken } from '../../helpers/browser.ts'
import { test } from '../../helpers/e2e/journey.ts'
import {
  changeLanguage,
  chooseFiles,
  delayRequests,
  fillSignIn,
  homeAddress,
  password,
  signUp,
  startSession,
  textFile
} from '../../helpers/e2e/page.ts'

const ownAccount = /\/\/api\.[^/]+\/user$/

test('a link of another language opens in the person’s own, before anything can be chosen', async ({
  page
}) => {
  await signUp(page, homeAddress('fr'))
  await delayRequests(page, ownAccount)
  const shown = await watchShownLanguages(page)
  await page.goto('/en/verify?a=1#b')
  await expect(page).toHaveURL('/fr/verify?a=1#b')
  await chooseFiles(page, textFile('bail.txt'))
  await expect(page.getByText('bail.txt').first()).toBeVisible()
  await page.goto('/')
  await expect(page.locator('html')).toHaveAttribute('lang', 'fr-FR')
  expect(shown).toEqual(new Set(['fr-FR']))
})

test('where the language is learned later, nothing that was given to the page is lost', async ({
  page
}) => {
  await test.step('where the language is learnt later, files and typed text go along', async () => {
    await startSession(page, homeAddress('fr'))
    const answer = await delayRequests(page, ownAccount)
    await page.goto('/en/verify')
    await chooseFiles(page, textFile('lease.txt'))
    await page.getByRole('textbox', { name: 'Fingerprint' }).fill('3a7bd3e2360a')
    await expect(page.getByText('lease.txt').first()).toBeVisible()
    answer()
    await expect(page).toHaveURL('/fr/verify')
    await expect(page.getByText('lease.txt').first()).toBeVisible()
    await expect(page.getByRole('textbox', { name: 'Empreinte' })).toHaveValue('3a7bd3e2360a')
    // the page was exchanged in its place in the history
    await page.goBack()
    await expect(page).toHaveURL('about:blank')
  })

  await test.step('a file that no script has taken yet goes along too', async () => {
    await startSession(page, homeAddress('fr'))
    const hydrate = await delayRequests(page, /\/_astro\/Verify\.[^/]*\.js/)
    const answer = await delayRequests(page, ownAccount)
    await page.goto('/en/verify')
    await chooseFiles(page, textFile('early.txt'))
    answer()
    await expect(page).toHaveURL('/fr/verify')
    hydrate()
    await expect(page.getByText('early.txt').first()).toBeVisible()
  })
})

test('a language that was picked while signed out is the person’s after the sign-in', {
  tag: '@matrix'
}, async ({ page }) => {
  const email = await signUp(page, homeAddress('fr'), { chosen: password })
  await page.context().clearCookies()
  await page.goto('/fr/sign-in')
  await changeLanguage(page, 'en')
  await expect(page).toHaveURL('/en/sign-in')
  const saved = page.waitForRequest(request => request.method() === 'PUT')
  await fillSignIn(page, email, password)
  expect((await saved).postDataJSON()).toEqual({ locale: 'en' })
  await expect(page).toHaveURL('/en')
  await page.goto('/fr/me')
  await expect(page).toHaveURL('/en/me')
})

test('the cookie of a token that has ended is deleted', async ({ page, context }) => {
  const { hostname } = new URL(homeAddress())
  for (const value of [makeToken({ exp: Math.floor(Date.now() / 1000) + 1 }), 'nonsense']) {
    await context.addCookies([
      {
        name: '__Host-vidimus',
        value,
        url: `https://${hostname}`,
        secure: true,
        sameSite: 'Lax',
        expires: Date.now() / 1000 + 3600
      }
    ])
    await page.goto('/en')
    await expect(page.locator('html')).toHaveAttribute('data-session', 'out')
    expect((await context.cookies()).map(({ name }) => name)).not.toContain('__Host-vidimus')
  }
})

/** Returns the languages of the documents that are drawn from now on. */
async function watchShownLanguages(page: Page): Promise<Set<string>> {
  const shown = new Set<string>()
  await page.exposeFunction('noteLanguage', (language: string) => shown.add(language))
  await page.addInitScript(() => {
    const note = () => {
      const { lang, hidden } = document.documentElement
      // @ts-expect-error: exposed above
      if (document.body && !hidden) noteLanguage(lang)
      requestAnimationFrame(note)
    }
    requestAnimationFrame(note)
  })
  return shown
}
