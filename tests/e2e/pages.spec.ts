import { type BrowserContext, expect, type Page } from '@playwright/test'
import { fetchAt } from '../helpers/client.ts'
import { inspectPage } from '../helpers/e2e/accessibility.ts'
import { test } from '../helpers/e2e/journey.ts'
import { isMatrix, schemes } from '../helpers/e2e/looks.ts'
import {
  delayRequests,
  expectSignedInAt,
  homeAddress,
  password,
  siteAddress,
  startSession,
  watchFaults
} from '../helpers/e2e/page.ts'

// as they first appear; their other states are in states.spec.ts
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
/** The page with the most elements. */
const longestPage = '/docs/calls'
const ownPages = ['/deposit', '/history', '/me']

// the suite looks at each page in one of these, in turn, so that each language, company, width and
// scheme has its pages; the matrix takes all pages in all looks of both
for (const [turn, [host, locale, look]] of (
  [
    ['localhost', 'en', { colorScheme: 'light', width: 1280 }],
    ['demo.localhost', 'fr', { colorScheme: 'dark', width: 320 }]
  ] as const
).entries()) {
  test(`pages of ${host} in ${locale} are accessible, keep their policy and fit their window`, async ({
    browser
  }) => {
    test.setTimeout(360_000)
    const site = `${siteAddress().replace('localhost', host)}/${locale}`
    const looks = isMatrix ? allLooks : [look]
    const inTurn = (_: string, at: number) => isMatrix || at % 2 !== turn
    const stranger = await browser.newContext()
    await visitAll(stranger, { site, paths: publicPages.filter(inTurn), looks })
    await stranger.close()

    // the interface follows the language a person has chosen, so each language has its own
    const person = await browser.newContext()
    await startSession(await person.newPage(), site)
    await visitAll(person, { site, paths: ownPages.filter(inTurn), looks })
    await person.close()

    const fetch = fetchAt(Number(new URL(site).port))
    const policies = new Set<string | null>()
    for (const path of [...publicPages, ...ownPages]) {
      const answer = await fetch(`${site}${path}`)
      expect.soft(answer.status, path).toBe(path === '/nowhere' ? 404 : 200)
      policies.add(answer.headers.get('content-security-policy'))
    }
    expect([...policies]).toEqual([expect.not.stringContaining('unsafe')])
  })
}

test('a page that needs a person leads through sign-in and back', async ({ page, browser }) => {
  const site = siteAddress()
  const email = await startSession(page, homeAddress(), { chosen: password })
  const other = await (await browser.newContext()).newPage()
  await other.goto(`${site}/fr/history?kind=deposit`)
  await expect(other).toHaveURL(/\/fr\/sign-in\?redirect=/)
  await other.locator('input[name=email]').fill(email)
  await other.locator('input[type=password]').fill(password)
  // before the scripts of the page are there, nothing is sent
  await expect(other.locator('main form [type=submit]')).toBeEnabled()
  await other.keyboard.press('Enter')
  // their own language is English
  await expectSignedInAt(other, `${site}/en/history?kind=deposit`)
})

test('a fingerprint sent before the page is ready goes into no address', async ({ page }) => {
  const release = await delayRequests(page, '**/_astro/Verify.*.js')
  await page.goto('/en/verify')
  const field = page.locator('[name=fingerprint]')
  await field.fill('a'.repeat(64))
  // the browser itself must not send it
  await expect(page.getByRole('button', { name: 'Verify', exact: true })).toBeDisabled()
  await field.press('Enter')
  release()
  await expect(page.getByRole('heading', { name: /no record/ })).toBeVisible()
  await expect(page).toHaveURL('/en/verify')
})

test('the bare address shows home in the language of cookie, then browser', async ({ browser }) => {
  const site = siteAddress()
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

interface Look {
  colorScheme: 'light' | 'dark'
  width: number
}

const allLooks: Look[] = schemes.flatMap(colorScheme =>
  [1280, 320].map(width => ({ colorScheme, width }))
)

interface Visit {
  site: string
  paths: string[]
  looks: readonly Look[]
}

async function visitAll(context: BrowserContext, { site, paths, looks }: Visit): Promise<void> {
  const page = await context.newPage()
  const faults = watchFaults(page)
  const policies = new Set<string>()
  for (const path of paths) {
    for (const { colorScheme, width } of looks) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width, height: 800 })
      const answer = await page.goto(`${site}${path}`)
      expect.soft(answer?.status(), path).toBe(path === '/nowhere' ? 404 : 200)
      policies.add((await answer?.headerValue('content-security-policy')) ?? '')
      const isSampled = path === longestPage && colorScheme === 'dark'
      if (isSampled) {
        await inspectPage(page, 'none')
        await leaveTenCalls(page)
      }
      await inspectPage(page)
    }
  }
  expect(faults).toEqual([])
  expect([...policies]).toHaveLength(1)
  expect([...policies][0]).not.toContain('unsafe')
  await page.close()
}

/**
 * Removes all calls but ten, which are built of the same parts, because a check of all of them takes
 * seconds.
 */
async function leaveTenCalls(page: Page): Promise<void> {
  await page.getByRole('article').evaluateAll(calls => {
    for (const call of calls.slice(10)) call.remove()
  })
}
