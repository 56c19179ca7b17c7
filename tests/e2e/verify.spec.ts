import { createHash } from 'node:crypto'
import { expect, type Locator, type Page, test } from '@playwright/test'
import { chooseFiles, delayRequests, textFile } from '../helpers/e2e/page.ts'

test('pasted fingerprints are verified line by line, and what is none is named', async ({
  page
}) => {
  await test.step('a paste that is refused takes the earlier verdict away', async () => {
    await open(page)
    const field = page.locator('[name=fingerprint]')
    await field.fill(hashOf('nobody deposited this'))
    await field.press('Enter')
    const verdict = page.locator('[data-verdict]')
    await expect(verdict).toBeVisible()
    await field.fill('no fingerprint')
    await field.press('Enter')
    await expect(page.getByText(/^There is no fingerprint here/)).toBeVisible()
    await expect(field).toBeFocused()
    await expect(verdict).toHaveCount(0)
  })

  await test.step('what sha256sum prints is checked line by line as it is pasted', async () => {
    await open(page)
    await page.locator('[name=fingerprint]').focus()
    await page.evaluate(
      text => {
        const clipboardData = new DataTransfer()
        clipboardData.setData('text/plain', text)
        const paste = new ClipboardEvent('paste', {
          clipboardData,
          bubbles: true,
          cancelable: true
        })
        document.activeElement?.dispatchEvent(paste)
      },
      `${hashOf('one')}  one.pdf\r\n${hashOf('two')} *two.pdf\r\n`
    )
    await expect(page.locator('li[data-step=done]')).toHaveCount(2)
    await expect(page.getByText('one.pdf').first()).toBeVisible()
    await expect(page.getByText('two.pdf').first()).toBeVisible()
  })

  await test.step('lines without a fingerprint are named, and the pasted text stays', async () => {
    await open(page)
    const field = page.locator('[name=fingerprint]')
    const text = `# list\n${hashOf('one')}  one.pdf\n${'a'.repeat(32)}  old.pdf`
    await field.focus()
    await page.evaluate(pasted => {
      const clipboardData = new DataTransfer()
      clipboardData.setData('text/plain', pasted)
      const paste = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true })
      document.activeElement?.dispatchEvent(paste)
    }, text)
    await expect(page.locator('[data-verdict]')).toBeVisible()
    await expect(field).toHaveValue(text)
    await expect(page.getByText(/Line 3: this fingerprint is MD5/)).toBeVisible()
    await expect(page.getByText('Line 1 has no fingerprint and was skipped.')).toBeVisible()
  })
})

async function drag(over: Locator, event: 'dragover' | 'drop'): Promise<void> {
  await over.evaluate((element, type) => {
    const dataTransfer = new DataTransfer()
    dataTransfer.items.add(new File(['another'], 'other.txt'))
    element.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }))
  }, event)
}

test('files are verified, also those that were chosen offline', async ({ context, page }) => {
  await test.step('a file chosen offline is fingerprinted, and verified when the network returns', async () => {
    const hashing = page.waitForResponse(/\/hash[.-][^/]*\.js/)
    await open(page)
    await hashing
    await page.waitForLoadState('networkidle')
    await context.setOffline(true)
    await chooseFiles(page, textFile('offline.txt', 'chosen offline'))
    await expect(page.getByText('The service could not be reached.').first()).toBeVisible()
    await expect(page.getByText(/our side/)).toHaveCount(0)
    await context.setOffline(false)
    await expect(page.locator('[data-verdict]')).toBeVisible()
  })

  await test.step('a page that cannot be opened offline leaves the person where they are', async () => {
    await open(page)
    await page.waitForLoadState('networkidle')
    await context.setOffline(true)
    await page.locator('footer a, header a').first().click()
    await expect(page.getByText('You are offline, so this page could not be opened.')).toBeVisible()
    await expect(page).toHaveURL(/\/en\/verify$/)
    await context.setOffline(false)
  })

  await test.step('the verdict takes the place of the zone, which comes back', async () => {
    await page.setViewportSize({ width: 1280, height: 800 })
    await open(page)
    const zone = page.locator('main input[type=file]')
    await chooseFiles(page, textFile('lease.txt', 'a lease'))
    const heading = page.locator('[data-verdict]').getByRole('heading')
    await expect(heading).toBeFocused()
    await expect(heading).toBeInViewport({ ratio: 1 })
    expect(await page.evaluate(() => scrollY)).toBe(0)
    await expect(page.getByText('Drop documents here, or choose them')).toBeHidden()

    await page.getByRole('button', { name: 'Verify another' }).click()
    await expect(page.getByText('Drop documents here, or choose them')).toBeVisible()
    await expect(zone).toBeFocused()
    await expect(page.getByText('Earlier in this visit')).toBeVisible()

    // a file that is dropped on a verdict is checked
    await chooseFiles(page, textFile('lease.txt', 'a lease'))
    await expect(heading).toBeFocused()
    await drag(page.locator('[data-verdict]'), 'dragover')
    await drag(page.locator('#drop-overlay [data-target=verify]'), 'drop')
    await expect(page.locator('[data-verdict]').getByText('other.txt')).toBeVisible()
  })
})

test('what comes late, is limited or was stopped is verified in the end', async ({ page }) => {
  await test.step('the verdict gets the focus where the code that shows it comes after the answer', async () => {
    const release = await delayRequests(page, /\/_astro\/VerificationResults\./)
    await open(page)
    const answered = page.waitForResponse(
      response => response.url().endsWith('/verify') && response.request().method() === 'POST'
    )
    await chooseFiles(page, textFile('lease.txt', 'a lease'))
    await (await answered).finished()
    await expect(page.locator('[data-verdict]')).toHaveCount(0)
    release()
    await expect(page.locator('[data-verdict]').getByRole('heading')).toBeFocused()
  })

  await test.step('a limit is said, counted down, and what waits goes on by itself', async () => {
    let refusals = 0
    await page.route(/\/verify$/, async (route, request) => {
      if (request.method() !== 'POST' || refusals > 0) return route.continue()
      refusals += 1
      const body = JSON.stringify({ status: 429, code: 'lookup_limited' })
      const headers = {
        'access-control-allow-origin': '*',
        'access-control-expose-headers': 'Retry-After',
        'retry-after': '5'
      }
      await route.fulfill({ status: 429, contentType: 'application/problem+json', headers, body })
    })
    await open(page)
    const files = Array.from({ length: 25 }, (_, nr) => textFile(`${nr}.txt`, `file ${nr}`))
    await chooseFiles(page, files)
    await expect(page.getByRole('timer')).toHaveText(/^Continues in \d:\d\d\.$/)
    await expect(page.getByRole('link', { name: 'Sign in' }).last()).toBeVisible()
    await expect(page.locator('li[data-step=done]')).toHaveCount(25)
    await expect(page.getByRole('timer')).toHaveCount(0)
  })

  await test.step('a long check is stopped, and goes on when it is asked to', async () => {
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>()
    await page.route(/\/verify$/, async (route, request) => {
      if (request.method() === 'POST') await held
      await route.continue()
    })
    await open(page)
    const files = Array.from({ length: 25 }, (_, nr) => textFile(`${nr}.txt`, `file ${nr}`))
    await chooseFiles(page, files)
    await page.getByRole('button', { name: 'Stop', exact: true }).first().click()
    await expect(page.getByText('Stopped before everything was verified.')).toBeVisible()
    letGo()
    await page.getByRole('button', { name: 'Continue' }).click()
    await expect(page.locator('li[data-step=done]')).toHaveCount(25)
  })
})

async function open(page: Page): Promise<void> {
  await page.goto('/en/verify')
  await expect(page.getByRole('button', { name: 'Verify', exact: true })).toBeEnabled()
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
