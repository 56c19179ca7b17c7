import { expect, type Page, type Route, test } from '@playwright/test'
import { fetchLocally } from '../../helpers/e2e/api-stubs.ts'
import { chooseFiles, homeAddress, startSession, textFile } from '../../helpers/e2e/page.ts'

const batch = /\/deposit\/batch$/

test('deposits many small files in few calls, also where the network or an answer is lost', async ({
  context,
  page
}) => {
  await test.step('deposits many small files in a few calls to one address, each with a row of its own', async () => {
    const calls = watchCalls(page)
    await openDeposit(page)
    await chooseFiles(page, files(60))
    await expect(page.locator('[data-stamp]').getByText('60 documents sealed')).toBeVisible()
    // the list shows the next rows as it is scrolled to them
    const rows = page.locator('li[data-status=done]')
    await expect(async () => {
      await page.mouse.wheel(0, 10_000)
      await expect(rows).toHaveCount(60, { timeout: 500 })
    }).toPass()
    const posts = calls.filter(call => call.startsWith('POST'))
    expect(posts.every(call => call === 'POST /deposit/batch')).toBe(true)
    expect(posts.length).toBeLessThan(30)
    // one address, so the browser asks once whether it may
    expect(calls.filter(call => call.startsWith('OPTIONS')).length).toBeLessThanOrEqual(1)
  })

  await test.step('goes on when the network comes back', async () => {
    await openDeposit(page)
    await chooseFiles(page, files(1))
    await expect(page.getByRole('heading', { name: 'Sealed' })).toBeVisible()
    await context.setOffline(true)
    await chooseFiles(page, files(5))
    await expect(page.getByText(/Connection lost/).first()).toBeVisible()
    await context.setOffline(false)
    await expect(page.locator('[data-stamp]').getByText('6 documents sealed')).toBeVisible({
      timeout: 60_000
    })
  })

  await test.step('records nothing twice where an answer is lost', async () => {
    await openDeposit(page)
    let lost = 0
    await page.route(batch, async (route, request) => {
      if (request.method() !== 'POST' || lost > 0) return route.continue()
      lost += 1
      // the server records them, and the browser never hears of it
      expect((await fetchLocally(route)).response.ok()).toBe(true)
      await route.abort('connectionreset')
    })
    await chooseFiles(page, files(12))
    await expect(page.locator('[data-stamp]').getByText('12 documents sealed')).toBeVisible({
      timeout: 60_000
    })
    expect(lost).toBe(1)
    await page.goto('/en/history')
    await expect(page.locator('main li[data-request]')).toHaveCount(12)
  })
})

test('pauses, cancels and drops single files of a call', async ({ page }) => {
  await test.step('pauses and cancels one file while the others of its call go on', async () => {
    await openDeposit(page)
    const letGo = await holdBatches(page)
    const [first, ...others] = files(3)
    await chooseFiles(page, first ? [first] : [])
    await expectRows(page, ['document 0.txt uploading'])
    await chooseFiles(page, others)
    await expectRows(page, [
      'document 0.txt uploading',
      'document 1.txt waiting',
      'document 2.txt waiting'
    ])
    await page.getByRole('button', { name: 'Pause: document 0.txt' }).click()
    await expectRows(page, [
      'document 1.txt uploading',
      'document 2.txt uploading',
      'document 0.txt paused'
    ])
    await page.getByRole('button', { name: 'Cancel: document 1.txt' }).click()
    await expectRows(page, [
      'document 2.txt uploading',
      'document 0.txt paused',
      'document 1.txt cancelled'
    ])
    await letGo()
    await expectRows(page, [
      'document 0.txt paused',
      'document 2.txt done',
      'document 1.txt cancelled'
    ])
    await page.getByRole('button', { name: 'Resume: document 0.txt' }).click()
    await expectRows(page, [
      'document 0.txt done',
      'document 2.txt done',
      'document 1.txt cancelled'
    ])
  })

  await test.step('drops what is on its way when the person signs out', async () => {
    await openDeposit(page)
    await page.route(batch, () => undefined)
    await chooseFiles(page, files(4))
    await expect(page.locator('li[data-status=uploading]').first()).toBeVisible()
    await page.locator('#user').click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('dialog').getByRole('button').last().click()
    await expect(page).toHaveURL(/\/en(\/sign-in.*)?$/)
    await expect(page.locator('html')).toHaveAttribute('data-session', 'out')
    await expect(page.locator('#upload-progress')).toBeHidden()
  })
})

test('asks for the files again after a reload, and records them once', async ({ page }) => {
  await openDeposit(page)
  const recorded = Promise.withResolvers<boolean>()
  let calls = 0
  await page.route(batch, async (route, request) => {
    if (request.method() === 'POST') calls += 1
    if (request.method() !== 'POST' || calls > 1) await route.continue()
    // recorded, and the page is gone before it hears of it
    else recorded.resolve((await fetchLocally(route)).response.ok())
  })
  const chosen = files(1)
  await chooseFiles(page, chosen)
  expect(await recorded.promise).toBe(true)
  page.on('dialog', dialog => dialog.accept())
  await page.reload()
  await expect(page.locator('li[data-status=missing]')).toHaveCount(1)
  await chooseFiles(page, chosen)
  await expect(page.locator('li[data-status=done]')).toHaveCount(1)
  await page.goto('/en/history')
  await expect(page.locator('main li[data-request]')).toHaveCount(1)
})

async function openDeposit(page: Page): Promise<void> {
  await startSession(page, homeAddress())
  await page.goto('/en/deposit')
}

/**
 * Holds the batches of a page until the returned function is called. `unrouteAll` could lose one:
 * Chromium never sends a request that begins just when interception ends.
 */
async function holdBatches(page: Page): Promise<() => Promise<void>> {
  const held: Route[] = []
  let isHeld = true
  await page.route(batch, async route => {
    if (isHeld) held.push(route)
    else await route.continue()
  })
  return async () => {
    isHeld = false
    await Promise.all(held.map(route => route.continue()))
  }
}

/**
 * Waits until the list has these rows in this order, each given as its name and status. Rows change
 * places a moment after their status, and a click on one that moves could miss it.
 */
async function expectRows(page: Page, expected: string[]): Promise<void> {
  const rows = page.locator('main li[data-status]')
  const read = () =>
    rows.evaluateAll((all: HTMLElement[]) =>
      all.map(row => `${/document \d\.txt/.exec(row.innerText)?.[0]} ${row.dataset.status}`)
    )
  await expect.poll(read, { timeout: 30_000 }).toEqual(expected)
}

function nameOf(at: number): string {
  return `document ${at}.txt`
}

function files(count: number) {
  return Array.from({ length: count }, (_, at) => textFile(nameOf(at)))
}

/** Collects the calls of a page that deposit files, such as `POST /deposit/batch`. */
function watchCalls(page: Page): string[] {
  const calls: string[] = []
  page.on('request', request => {
    const { pathname } = new URL(request.url())
    if (/^\/(deposit|uploads)(\/|$)/.test(pathname)) calls.push(`${request.method()} ${pathname}`)
  })
  return calls
}
