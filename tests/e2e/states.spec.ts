import { createHash } from 'node:crypto'
import { type Browser, expect, type Page, test } from '@playwright/test'
import { type Locale, locales, type Translate } from '../../src/i18n/index.ts'
import { readAstroBuild } from '../../src/server/site/astro-build.ts'
import { failurePage } from '../../src/site/failure-page.ts'
import {
  leaveUnanswered,
  restoreApi,
  stubAnswer,
  stubError,
  stubUser
} from '../helpers/e2e/api-stubs.ts'
import { inspectInTurn, isMatrix } from '../helpers/e2e/looks.ts'
import {
  chooseFiles,
  homeAddress as homeIn,
  password,
  startSession,
  textFile
} from '../helpers/e2e/page.ts'
import { translatorOfAllWords } from '../helpers/words.ts'

// Pages as they first appear are in pages.spec.ts; here is what people, data and the network make of
// them. A state is a line that brings it about and one that looks at it.

// The suite takes each walk in one language, and its parts in turn in each window and scheme. The
// matrix takes each in all.
const inSuite = { everybody: 'fr', deposits: 'en', account: 'fr' } as const
const widths = [320, 1280]

// the longest walks of the suite: each worker takes one
test.describe.configure({ mode: 'parallel' })

for (const { locale, width } of isMatrix
  ? locales.flatMap(locale => widths.map(width => ({ locale, width })))
  : locales.map(locale => ({ locale, width: undefined }))) {
  test.describe(`in ${locale}${width ? ` at ${width} px` : ''}, every state is accessible`, () => {
    test('of pages for everybody', async ({ browser }) => {
      const { page, context, t, home, visit, look, takeParts } = await open(browser, 'everybody')
      await takeParts(lookAtSignIn, lookAtSignUp, lookAtVerify, lookAtShell, lookAtFailure)
      await context.close()

      async function lookAtSignIn() {
        await visit(`${home}/sign-in?reason=ended`)
        await page.locator('main [type=submit]').click()
        await expect(page.locator('[aria-invalid=true]')).toHaveCount(2)
        await look('sign-in after a session has ended, with empty fields')
        await page.locator('input[name=email]').fill('ada@example.com')
        await page.locator('input[name=password]').fill(password)
        await page.locator('main form button[aria-pressed]').click()
        await stubError(page, ['GET', '/user/login/challenge'], 'internal')
        await page.locator('main [type=submit]').click()
        await expect(page.getByRole('alert')).toBeVisible()
        await look('sign-in, failed, with the password shown')
        await restoreApi(page)
        await leaveUnanswered(page, ['GET', '/user/login/challenge'])
        await page.locator('main [type=submit]').click()
        await expect(page.getByText(t('account.securing'))).toBeVisible()
        await look('sign-in at work')
        await restoreApi(page)
      }

      async function lookAtSignUp() {
        await visit(`${home}/sign-up`)
        await page.locator('input[name=password]').fill('password1234')
        await expect(page.locator('main progress')).toBeVisible()
        await look('sign-up with a weak password')
        await page.locator('input[name=password]').fill('')
        await page.locator('main [type=submit]').click()
        await expect(page.getByRole('alert')).toBeVisible()
        await look('sign-up with empty fields')
        await stubError(page, ['GET', '/user/login/challenge'], 'email_taken')
        const values = { email: 'ada@example.com', username: 'Ada', password, repeat: password }
        for (const [name, value] of Object.entries(values)) {
          await page.locator(`input[name=${name}]`).fill(value)
        }
        await page.locator('main [type=submit]').click()
        await expect(page.getByRole('alert').getByRole('link')).toBeVisible()
        await look('sign-up with an e-mail that has an account')
        await restoreApi(page)
        await page.route(/\/sign-up$/, async route => {
          const response = await route.fetch()
          const body = (await response.text()).replace(
            'isSignUpOpen&quot;:[0,true]',
            'isSignUpOpen&quot;:[0,false]'
          )
          await route.fulfill({ response, body })
        })
        await visit(`${home}/sign-up`)
        await expect(page.getByText(t('entrance.signUp.closedText'))).toBeVisible()
        await look('sign-up where it is closed')
        await restoreApi(page)
      }

      async function lookAtVerify() {
        await visit(`${home}/verify`)
        await page.locator('[name=fingerprint]').fill('not a fingerprint')
        await page.locator('main form [type=submit]').click()
        await expect(page.locator('[aria-invalid=true]')).toHaveCount(1)
        await look('verify with a wrong fingerprint')
        await leaveUnanswered(page, ['POST', '/verify'])
        await choose(page, 'asked.txt')
        await expect(page.getByText(t('verify.asking'), { exact: true })).toBeVisible()
        await look('verify at work')
        await restoreApi(page)
        await page.reload()
        await stubError(page, ['POST', '/verify'], 'internal')
        await choose(page, 'waiting.txt')
        await expect(page.getByRole('timer')).toBeVisible()
        await look('verify, which goes on by itself')
        await restoreApi(page)
        await page.reload()
        await stubError(page, ['POST', '/verify'], 'invalid_input')
        await choose(page, 'refused.txt')
        await expect(page.getByRole('alert')).toBeVisible()
        await look('verify, failed')
        await restoreApi(page)
        await choose(page, 'unknown.txt')
        await expect(page.locator('[data-verdict=not_found]')).toBeVisible()
        await look('verify without a record')
        for (const match of ['original', 'stored_copy'] as const) {
          await stubAnswer(page, ['POST', '/verify'], recordOf(match))
          await choose(page, match)
          await expect(page.locator(`[data-verdict=${match}]`)).toBeVisible()
          await look(`verify, unchanged: ${match}`)
          await restoreApi(page)
        }
        await choose(page, 'one.txt', 'two.txt', '')
        await expect(page.locator('[data-step=done]').first()).toBeVisible()
        await page.locator('summary').first().click()
        await look('verify of many files, with earlier ones')
      }

      async function lookAtShell() {
        await visit(home)
        await openDrawer(page)
        await look('the drawer of a stranger')
        await page.keyboard.press('Escape')
        await page.route('**/_i18n/**', route => route.abort())
        await openDrawer(page)
        await page.locator('#drawer a[data-locale]:not([aria-current])').click()
        await page.keyboard.press('Escape')
        await expect(page.locator('.toast-sheet')).toBeVisible()
        await look('a message')
        await restoreApi(page)
        // home has a zone of its own for a stranger's files
        await visit(`${home}/docs`)
        await page.evaluate(() => {
          const dataTransfer = new DataTransfer()
          dataTransfer.items.add(new File(['a'], 'a.txt'))
          dispatchEvent(new DragEvent('dragover', { dataTransfer, cancelable: true }))
        })
        await expect(page.locator('#drop-overlay')).toBeVisible()
        await look('files over the window')
        await visit(`${home}/verify`)
        await page.waitForLoadState('networkidle')
        await context.setOffline(true)
        await expect(page.locator('#offline')).not.toBeEmpty()
        await look('without a network')
        await context.setOffline(false)
      }

      async function lookAtFailure() {
        const body = failurePage(await readAstroBuild('dist'), {
          locale,
          status: 503,
          id: 'example'
        })
        await page.route(`${home}/verify`, route =>
          route.fulfill({ status: 503, contentType: 'text/html', body })
        )
        await page.goto(`${home}/verify`)
        await expect(page.getByText('503')).toBeVisible()
        await look('a page that failed')
        await restoreApi(page)
      }
    })

    test('of deposits and of the history', async ({ browser }) => {
      const { page, context, t, home, visit, look, takeParts } = await open(browser, 'deposits')
      await startSession(page, home)
      await takeParts(lookAtHistoryWithout, lookAtDeposit, lookAtHistory)
      await context.close()

      async function lookAtHistoryWithout() {
        await visit(`${home}/history`)
        await expect(page.getByText(t('history.empty.title'))).toBeVisible()
        await look('history without an entry')
        await leaveUnanswered(page, ['GET', '/process'])
        await visit(`${home}/history`)
        await expect(page.getByText(t('history.loading'))).toBeVisible()
        await look('history at work')
        await restoreApi(page)
        await stubError(page, ['GET', '/process'], 'internal')
        await visit(`${home}/history`)
        await expect(page.locator('main [data-state=error]')).toBeVisible()
        await look('history, failed')
        await restoreApi(page)
      }

      async function lookAtDeposit() {
        await stubError(page, ['GET', '/category'], 'internal')
        await visit(`${home}/deposit`)
        await choose(page, 'held.txt')
        await expect(page.getByText(t('deposit.categories.held', { count: 1 }))).toBeVisible()
        await look('deposit without its categories, failed')
        await restoreApi(page)
        await stubAnswer(page, ['GET', '/category'], [])
        await visit(`${home}/deposit`)
        await expect(page.getByText(t('deposit.categories.none'))).toBeVisible()
        await look('deposit without a category')
        await restoreApi(page)

        await leaveUnanswered(page, ['POST', '/deposit/batch'])
        await visit(`${home}/deposit`)
        await choose(page, 'first.txt', 'second.txt')
        await expect(page.locator('li[data-status=uploading]')).toHaveCount(1)
        await look('deposit at work')
        await page.locator('li[data-status=uploading] button').first().click()
        await expect(page.locator('li[data-status=paused]')).toHaveCount(1)
        await look('deposit, one paused')
        await openDrawer(page)
        await page.locator('#drawer a[href$="/history"]').click()
        await expect(page.locator('#upload-progress')).toBeVisible()
        await expect(page.getByText(t('history.empty.title'))).toBeVisible()
        await look('uploads on another page')
        await openDrawer(page)
        await page.locator('#drawer [data-act=sign-out]').click()
        await expect(page.locator('dialog.confirm-dialog')).toBeVisible()
        await look('a question')
        await page.locator('dialog.confirm-dialog button').first().click()
        await page.locator('#upload-progress a').click()
        await page.getByRole('button', { name: t('deposit.action.cancelAll') }).click()
        const yes = page.getByRole('button', { name: t('deposit.cancelAll.yes') })
        await expect(yes).toBeVisible()
        await look('a question before all is canceled')
        await yes.click()
        await expect(page.locator('li[data-status=cancelled]').first()).toBeVisible()
        await look('deposit, cancelled')
        await restoreApi(page)

        await visit(`${home}/deposit`)
        await choose(page, 'lease.txt')
        await expect(page.locator('li[data-status=done]')).toBeVisible()
        await choose(page, 'lease.txt')
        await expect(page.locator('li[data-status=duplicate]')).toBeVisible()
        await look('deposit, recorded, and once more')
        const figures = { used: 9, limit: 10, resets_at: '2027-05-03T12:00:00.000Z' }
        await stubError(page, ['POST', '/deposit/batch'], 'request_limit_reached', figures)
        await choose(page, 'too many.txt')
        await expect(page.locator('li[data-status=paused]')).toBeVisible()
        await look('deposit with a limit reached')
        await restoreApi(page)
        await visit(`${home}/deposit`)
        await stubError(page, ['POST', '/deposit/batch'], 'type_not_allowed')
        await choose(page, 'refused.txt')
        await expect(page.locator('li[data-status=failed]')).toBeVisible()
        await look('deposit, failed')
        await restoreApi(page)
      }

      async function lookAtHistory() {
        const row = page.locator('main li[data-request]')
        const lease = row.filter({ hasText: 'lease' }).last().getByRole('link')
        await visit(`${home}/history`)
        await expect(row.first()).toBeVisible()
        const filters = page.locator('search button[aria-expanded]')
        if (await filters.isVisible()) await filters.click()
        await look('history')
        await lease.click()
        await page.locator('dialog summary').click()
        await expect(page.locator('dialog .fingerprint').nth(1)).toBeVisible()
        await look('history with details')
        await page.keyboard.press('Escape')
        for (const [code, state] of [
          ['internal', 'failed'],
          [undefined, 'at work']
        ] as const) {
          if (code) await stubError(page, ['GET', '/deposit/[^/?]+'], code)
          else await leaveUnanswered(page, ['GET', '/deposit/[^/?]+'])
          await visit(`${home}/history`)
          await lease.click()
          const sign = code
            ? page.locator('dialog [role=alert]')
            : page.getByText(t('history.details.loading'))
          await expect(sign).toBeVisible()
          await look(`history with details, ${state}`)
          await restoreApi(page)
        }
        await visit(`${home}/history?q=nothing&from=2026-02-01&to=2026-01-01`)
        await expect(page.locator('main [data-state=empty]')).toBeVisible()
        await look('history that is filtered to nothing')
        await visit(`${home}/history`)
        await expect(page.locator('[data-stream=live]')).toBeVisible()
        await context.setOffline(true)
        await expect(page.locator('[data-stream=offline]')).toBeAttached()
        await expect(page.locator('#offline')).not.toBeEmpty()
        await look('history without a network')
        await context.setOffline(false)
      }
    })

    test('of the account, of what stands beside every page, and of a session at its end', async ({
      browser
    }) => {
      const { page, context, t, home, visit, look, takeParts } = await open(browser, 'account')
      await startSession(page, home)
      await takeParts(lookAtAccount, lookAtShell, lookAtEnds)
      await context.close()

      async function lookAtAccount() {
        await leaveUnanswered(page, ['GET', '/user/session'])
        await visit(`${home}/me`)
        await expect(page.locator('section[data-state=loading]')).toBeVisible()
        await look('account at work')
        await restoreApi(page)
        await stubError(page, ['GET', '/user/session'], 'internal')
        await visit(`${home}/me`)
        await expect(page.locator('section[data-state=failed]')).toBeVisible()
        await look('account without its devices, failed')
        await restoreApi(page)
        await visit(`${home}/me`)
        await expect(page.locator('section[data-state=ready]')).toBeVisible()
        await look('account')
        await page.locator('[aria-labelledby=profile] [type=submit]').click()
        await expect(page.getByText(t('me.saved'))).toBeVisible()
        await look('account, saved')
        await page.locator('input[name=username]').fill('')
        await page.locator('[aria-labelledby=profile] [type=submit]').click()
        await page.locator('[aria-labelledby=change-password] [type=submit]').click()
        await expect(page.locator('[aria-invalid=true]')).toHaveCount(4)
        await look('account with empty fields')
        await page.getByRole('button', { name: t('me.sessions.everywhere') }).click()
        await expect(page.getByText(t('me.sessions.question'))).toBeVisible()
        await look('account with a question')
      }

      async function lookAtShell() {
        await visit(`${home}/verify`)
        await describe(page, locale)
        await openDrawer(page)
        await expect(page.locator('#drawer progress').first()).toBeVisible()
        await look('the drawer of an administrator, with usage')
        await page.keyboard.press('Escape')
        await page.locator('#user').click()
        await expect(page.getByRole('menuitem').first()).toBeFocused()
        await look('the menu of the person')
        await page.keyboard.press('Escape')
        await page.setViewportSize({ width: 960, height: 2000 })
        await look('the rail')
        await restoreApi(page)
      }

      async function lookAtEnds() {
        await describe(page, locale, { features: [] })
        await visit(`${home}/deposit`)
        await expect(page.getByText(t('deposit.notAllowed'))).toBeVisible()
        await look('deposit without the right to')
        await restoreApi(page)
        await stubError(page, ['GET', '/user'], 'unauthenticated')
        await visit(`${home}/history`)
        await expect(page).toHaveURL(/\/sign-in\?reason=ended/)
        await look('a session that has ended')
      }
    })

    async function open(browser: Browser, walk: keyof typeof inSuite) {
      test.skip(!isMatrix && inSuite[walk] !== locale, 'walked in the other language')
      const context = await browser.newContext()
      const page = await context.newPage()
      const t: Translate = translatorOfAllWords(locale)
      const home = homeIn(locale)
      const visit = async (url: string) => {
        await page.goto(url)
        await expect(page.locator('astro-island[ssr]')).toHaveCount(0)
      }
      const look = (state: string) => test.step(state, () => inspectInTurn(page))
      const takeParts = async (...parts: (() => Promise<void>)[]) => {
        for (const [at, part] of parts.entries()) {
          // high enough for all of a page: axe misjudges the colors of what is half scrolled away
          const size = { width: width ?? widths[at % 2] ?? 320, height: 2000 }
          await page.setViewportSize(size)
          await part()
        }
      }
      return { page, context, t, home, visit, look, takeParts }
    }
  })
}

/** Chooses a file for each name. The content of a file is its name. */
async function choose(page: Page, ...names: string[]): Promise<void> {
  await chooseFiles(
    page,
    names.map(name => textFile(`Document ${name}`, name))
  )
}

/** Opens the drawer, unless it is visible beside the page. */
async function openDrawer(page: Page): Promise<void> {
  const { width } = page.viewportSize() ?? { width: 0 }
  if (width < 1280) await page.locator('#menu').click()
  await expect(page.locator('#drawer')).toBeVisible()
}

/**
 * Makes the browser receive a person who administers a company and has used most of their limits,
 * then reloads the page.
 */
async function describe(page: Page, locale: Locale, changes: object = {}): Promise<void> {
  const left = { requests: 5, storage: 100e6 }
  await stubUser(page, {
    locale,
    features: ['deposit'],
    permissions: ['admin'],
    usage_remaining: left,
    usage: {
      requests_used: 95,
      requests_limit: 100,
      requests_remaining: left.requests,
      storage_used: 900e6,
      storage_limit: 1e9,
      storage_remaining: left.storage,
      resets_at: null,
      own: { requests_used: 12, storage_used: 40e6 }
    },
    ...changes
  })
  await page.reload()
}

/**
 * Returns the API's answer to a verification of the file that `choose(page, match)` chooses.
 * `match` says which fingerprint was found.
 */
function recordOf(match: 'original' | 'stored_copy') {
  const at = '2026-05-03T12:00:00.000Z'
  const leaf_hash = createHash('sha256').update('leaf').digest('hex')
  const sha256 = createHash('sha256').update(match).digest('hex')
  const findings = [{ match, recorded: at, leaf_hash }]
  const item = { sha256, verdict: 'authentic', company: 'Acme', at, findings, records: 1 }
  return { items: [{ ...item, sources: [] }], sources: [] }
}
