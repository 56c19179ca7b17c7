import { type BrowserContext, expect, type Page } from '@playwright/test'
import { restoreApi, stubAnswer, stubError, stubUser } from '../../helpers/e2e/api-stubs.ts'
import { test } from '../../helpers/e2e/journey.ts'
import { inMatrix } from '../../helpers/e2e/looks.ts'
import { homeAddress, signUp, startSession, watchFaults } from '../../helpers/e2e/page.ts'

const since = '2026-05-03T12:00:00.000Z'

test('paths without a page, notices in an address, and the choice of a language', async ({
  context,
  page
}) => {
  await test.step('a path without a page is named, in both languages', async () => {
    await page.goto('/en/no/such?a=1#b')
    await expect(page).toHaveTitle(/^Page Not Found · /)
    await expect(page.getByRole('heading', { level: 1 })).toHaveText('Page not found: /en/no/such')
    // said once
    await expect(page.getByRole('main').getByText(/page not found/i)).toHaveCount(1)
    await page.goto('/fr/rien')
    await expect(page.getByText('Page introuvable : /fr/rien', { exact: true })).toBeVisible()
    // nothing of the address becomes a part of the page
    await page.goto('/en/%3Cimg%20src=x%20onerror=alert(1)%3E/$&')
    await expect(page.getByText('Page not found: /en/%3Cimg')).toBeVisible()
  })

  await test.step('the notice prints nothing of its address but dates and words of its own', async () => {
    const faults = watchFaults(page)
    const hostile = '<img src=x onerror=alert(1)> Call +33 1 23 45'
    const signIn = /Connectez-vous pour connaître/
    const notice = /a désactivé ce compte/
    for (const [text, words] of [
      ['', signIn],
      ['null', signIn],
      ['[]', signIn],
      ['{', signIn],
      ['%', signIn],
      [hostile, signIn],
      [JSON.stringify({ scope: hostile, reason: 'left', since }), signIn],
      [JSON.stringify({ scope: 'user', reason: 'left', since: hostile }), signIn],
      [JSON.stringify({ scope: 'user', reason: hostile, since, note: hostile }), notice]
    ] as const) {
      await page.goto(`/fr/disabled?disabled=${encodeURIComponent(text)}`)
      await expect(page.getByRole('heading', { level: 1 })).toHaveText('Accès à votre compte')
      await expect(page.getByText(words)).toBeVisible()
      expect(await page.getByRole('main').innerHTML()).not.toMatch(/onerror|Call|NaN|Invalid/)
    }
    await page.goto('/en/disabled?disabled=%7B%E0')
    await expect(page.getByText('Sign in to see the state of your account.')).toBeVisible()
    expect(faults).toEqual([])
  })

  await test.step('a language is chosen for this browser, and keeps path, query and hash', async () => {
    const asked = watchRequests(page)
    await page.goto('/en/verify?a=1&b=%2F#part')
    await choose(page, 'Français')
    await expect(page).toHaveURL('/fr/verify?a=1&b=%2F#part')
    await expect(page.locator('html')).toHaveAttribute('lang', 'fr-FR')
    const cookie = (await context.cookies()).find(({ name }) => name === 'i18n_redirected')
    expect(cookie).toMatchObject({ value: 'fr', path: '/', sameSite: 'Lax' })
    const days = ((cookie?.expires ?? 0) - Date.now() / 1000) / 86_400
    expect(Math.round(days)).toBe(365)
    // what the cookie says goes before what the browser prefers
    await page.goto('/verify?c=2')
    await expect(page).toHaveURL('/fr/verify?c=2')
    // nobody is signed in, so nobody's account is told
    expect(asked.filter(each => each.startsWith('PUT '))).toEqual([])
  })
})

test('the words of a language are loaded when asked for, and once', async ({ page }) => {
  await page.goto('/en')
  expect(await wordLoads(page)).toEqual([])
  for (const [name, lang] of [
    ['Français', 'fr-FR'],
    ['English', 'en-US'],
    ['Français', 'fr-FR']
  ] as const) {
    await choose(page, name)
    await expect(page.locator('html')).toHaveAttribute('lang', lang)
  }
  expect(await wordLoads(page)).toEqual(['fr', 'en', 'fr, kept'])
})

test.describe('a language', () => {
  test.use({ provoked: /^Failed to load messages for locale fr$/ })
  test('whose words do not come is not switched to', async ({ page, context }) => {
    const warnings: string[] = []
    page.on('console', message => {
      if (message.type() === 'warning') warnings.push(message.text())
    })
    await page.goto('/en/verify?a=1')
    await page.route('**/_i18n/**', route => route.abort())
    await choose(page, 'Français')
    await expect(page.getByText('The language could not be loaded.')).toBeVisible()
    expect(warnings).toContain('Failed to load messages for locale fr')
    await expect(page).toHaveURL('/en/verify?a=1')
    expect(await context.cookies()).toEqual([])
  })
})

test('a person is led to pages of this site only, in their language on every device', async ({
  browser,
  page
}) => {
  await test.step('no redirect leads a signed-in person off this site, or in circles', async () => {
    await startSession(page, homeAddress())
    const left: string[] = []
    page.on('request', request => {
      const { hostname } = new URL(request.url())
      if (!/(?:^|\.)localhost$/.test(hostname)) left.push(request.url())
    })
    for (const path of [
      '//evil.test',
      '/\\evil.test',
      'https://evil.test',
      '/en/sign-in',
      '/en/disabled',
      '/en/nowhere'
    ]) {
      const redirect = encodeURIComponent(JSON.stringify({ path, query: '', hash: '' }))
      await page.goto(`/en/sign-in?redirect=${redirect}`)
      await expect(page, path).toHaveURL('/en')
    }
    const good = { path: '/en/verify', query: '?a=1', hash: '#b' }
    await page.goto(`/en/sign-in?redirect=${encodeURIComponent(JSON.stringify(good))}`)
    await expect(page).toHaveURL('/en/verify?a=1#b')
    expect(left).toEqual([])
  })

  await test.step('a signed-in choice is saved for the person and followed on other devices', async () => {
    await startSession(page, homeAddress())
    await page.goto('/en/history?kind=deposit')
    const saved = page.waitForRequest(request => request.method() === 'PUT')
    await choose(page, 'Français')
    await expect(page).toHaveURL('/fr/history?kind=deposit')
    expect((await saved).postDataJSON()).toEqual({ locale: 'fr' })

    const other = await browser.newContext({ storageState: await page.context().storageState() })
    await other.clearCookies({ name: 'i18n_redirected' })
    const there = await other.newPage()
    await there.goto('/en/me?a=1#b')
    await expect(there).toHaveURL('/fr/me?a=1#b')
    await expect(there.locator('html')).toHaveAttribute('lang', 'fr-FR')
    await other.close()
  })
})

test('a choice that the account cannot be told of holds here, and that is said', async ({
  page
}) => {
  await signUp(page, homeAddress())
  await page.route('**/user', (route, request) =>
    request.method() === 'PUT' ? route.abort() : route.fallback()
  )
  await choose(page, 'Français')
  await expect(page).toHaveURL('/fr')
  await expect(page.getByText(/La langue a changé dans ce navigateur\. Votre compte/)).toBeVisible()
})

test('a person who is or is not disabled reads what is true of them', async ({ page }) => {
  await test.step('a link to the notice tells nobody that their account is disabled when it is not', async () => {
    await startSession(page, homeAddress())
    await page.goto(disabledPath({ scope: 'user', reason: 'security', since }))
    await expect(page.getByText('Your account is not disabled.')).toBeVisible()
    await expect(page.getByText(/someone else may have used/)).toBeHidden()
    await page.getByRole('main').getByRole('button', { name: 'Check again' }).click()
    await expect(page).toHaveURL('/en')
  })

  await test.step('whoever is disabled reads why, what to do, and is let in again', async () => {
    await startSession(page, homeAddress())
    const faults = watchFaults(page, /status of 403/)
    await refuse(page, { scope: 'user', reason: 'security', since })
    await page.goto('/en/history')
    await expect(page).toHaveURL(/\/en\/disabled\?disabled=/)
    const details = new URL(page.url()).searchParams.get('disabled') ?? ''
    expect(JSON.parse(details)).toEqual({ scope: 'user', reason: 'security', since })
    const main = page.getByRole('main')
    await expect(main.getByText(/disabled this account on May 3, 2026/)).toBeVisible()
    await expect(main.getByText(/someone else may have used the account/)).toBeVisible()
    await expect(main.getByText(/If you think this is a mistake/)).toBeVisible()
    await main.getByRole('button', { name: 'Check again' }).click()
    await expect(main.getByText('Nothing has changed yet.')).toBeVisible()
    await restoreApi(page)
    await main.getByRole('button', { name: 'Check again' }).click()
    await expect(page).toHaveURL('/en')
    expect(faults).toEqual([])
  })

  await test.step('the API’s word about a disabled account goes before that of the address', async () => {
    await startSession(page, homeAddress())
    await refuse(page, { scope: 'user', reason: 'abuse', since })
    await page.goto(disabledPath({ scope: 'company', reason: 'payment', since }))
    await expect(page.getByText(/the terms of use were not followed/)).toBeVisible()
    await expect(page.getByText(/payment/)).toBeHidden()
    await page.getByRole('main').getByRole('button', { name: 'Sign out' }).click()
    await expect(page).toHaveURL('/en')
    await expect(page.locator('html')).toHaveAttribute('data-session', 'out')
  })

  await test.step('administrators of a suspended company read why the company was, not a person', async () => {
    await startSession(page, homeAddress())
    await refuse(page, { scope: 'company', reason: 'left', since })
    await page.goto('/en/history')
    const main = page.getByRole('main')
    await expect(main.getByText(/^Reason: .+ no longer uses this service\.$/)).toBeVisible()
    await expect(main).not.toContainText('account holder')
  })
})

test.describe('a page for some', () => {
  for (const guard of ['admin', 'operator']) {
    test(
      `of kind ${guard} leads strangers to sign in and back, others home, and stays with whom it is for`,
      guard === 'admin' ? {} : inMatrix,
      async ({ page, context }) => {
        await guardVerify(context, guard)
        // a page that a test has written may ask no other address on this machine
        await stubAnswer(page, ['GET', '/data_source'], [])
        await page.goto('/fr/verify?q=a%20b#part')
        await expect(page).toHaveURL(/\/fr\/sign-in\?redirect=/)
        const redirect = new URL(page.url()).searchParams.get('redirect') ?? ''
        expect(JSON.parse(redirect)).toEqual({
          path: '/fr/verify',
          query: '?q=a%20b',
          hash: '#part'
        })

        await startSession(page, homeAddress())
        await stubUser(page, { permissions: [] })
        await page.goto('/en/verify')
        await expect(page).toHaveURL('/en')
        await expect(
          page.getByText('Your account does not have access to that page.')
        ).toBeVisible()

        await stubUser(page, { permissions: [guard] })
        await page.goto('/en/verify')
        await expect(page.locator('html')).toHaveAttribute('data-can', new RegExp(guard))
        await expect(page.getByRole('heading', { level: 1, name: 'Verify' })).toBeVisible()
        // the right is taken away while the page is open
        await stubUser(page, { permissions: [] })
        await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
        await expect(page).toHaveURL('/en')
      }
    )
  }
})

async function choose(page: Page, language: string): Promise<void> {
  await page.getByRole('navigation').getByRole('link', { name: language, exact: true }).click()
}

function disabledPath(details: object): string {
  return `/en/disabled?disabled=${encodeURIComponent(JSON.stringify(details))}`
}

/** Makes the browser receive the error of a disabled account in place of the person. */
async function refuse(page: Page, disabled: object): Promise<void> {
  await stubError(page, ['GET', '/user'], 'account_disabled', { disabled })
}

/** Makes the verify page require a permission, by changing its HTML. */
async function guardVerify(context: BrowserContext, guard: string): Promise<void> {
  await context.route(/\/verify(?:\?|$)/, async (route, request) => {
    if (!request.headers()['accept']?.includes('html') && request.resourceType() !== 'document') {
      return route.fallback()
    }
    const response = await route.fetch()
    const body = (await response.text()).replace('data-guard="none"', `data-guard="${guard}"`)
    await route.fulfill({ response, body })
  })
}

function watchRequests(page: Page): string[] {
  const asked: string[] = []
  page.on('request', request => asked.push(`${request.method()} ${request.url()}`))
  return asked
}

/**
 * Returns the languages whose words were requested. Marks those that came from the browser's cache.
 */
function wordLoads(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    performance.getEntriesByType('resource').flatMap(entry => {
      const locale = /\/_i18n\/[^/]+\/(\w+)\//.exec(entry.name)?.[1]
      if (!locale || !(entry instanceof PerformanceResourceTiming)) return []
      return [entry.transferSize === 0 ? `${locale}, kept` : locale]
    })
  )
}
