import { createHash } from 'node:crypto'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, type Page } from '@playwright/test'
import { fetchLocally, stubError } from '../../helpers/e2e/api-stubs.ts'
import { documentFolder, makePdf, makeRandomFile } from '../../helpers/e2e/documents.ts'
import { centerOf, type Point, startDrag } from '../../helpers/e2e/drags.ts'
import { test } from '../../helpers/e2e/journey.ts'
import { tabToTarget } from '../../helpers/e2e/keyboard.ts'
import {
  chooseFiles,
  homeAddress,
  rowOf,
  sealedWord,
  startSession,
  textFile
} from '../../helpers/e2e/page.ts'

test('goes on after a reload where the upload stopped', async ({ page }) => {
  const size = 20_000_000
  const path = await makeRandomFile('plans.bin', size)
  const other = await makeRandomFile('plans-other.bin', size)
  page.on('dialog', dialog => void dialog.accept())
  await page.addInitScript(countSentBytes)
  await openDesk(page)
  await throttleUploads(page, 3_000_000)
  await chooseFiles(page, path)
  const row = rowOf(page, 'plans.bin')
  await expect(row.getByText(/Uploading, [3-5]\d%/)).toBeVisible({ timeout: 60_000 })
  await page.reload()
  // a busy machine sends more before it reloads
  await expect(row.getByText(/Choose plans\.bin again to continue at [2-9]\d%/)).toBeVisible()

  await row.locator('input[type=file]').setInputFiles(other)
  await expect(row.getByText('This is a different file.')).toBeVisible()
  await throttleUploads(page, -1)
  await row.locator('input[type=file]').setInputFiles(path)
  await expect(row.getByText(sealedWord)).toBeVisible({ timeout: 60_000 })
  const sent = await page.evaluate(() => Number(localStorage.getItem('sent-bytes')))
  console.log(`${((100 * sent) / size).toFixed(1)} % of the file's bytes were sent`)
  // the last bytes before the reload are told to nobody
  expect(sent).toBeGreaterThan(0.9 * size)
  expect(sent).toBeLessThanOrEqual(1.05 * size)

  await page.reload()
  await expect(page.getByText('Drop documents here')).toBeVisible()
  await expect(page.getByText(/again to continue/)).toHaveCount(0)
})

test('goes on with an upload on another device, and cancels one there', async ({
  page,
  browser
}) => {
  const size = 20_000_000
  const path = await makeRandomFile('moving.bin', size)
  const dropped = await makeRandomFile('dropped.bin', size)
  await openDesk(page)
  await throttleUploads(page, 3_000_000)
  await chooseFiles(page, [path, dropped])
  for (const name of ['moving.bin', 'dropped.bin']) {
    // past the first piece, which the service then holds
    await expect(rowOf(page, name).getByText(/Uploading, [5-9]\d%/)).toBeVisible({
      timeout: 60_000
    })
  }
  const cookies = await page.context().cookies()
  await page.close({ runBeforeUnload: false })

  const other = await browser.newContext()
  await other.addCookies(cookies)
  const device = await other.newPage()
  await device.addInitScript(countSentBytes)
  await device.goto('/en/history')
  await device.getByRole('link', { name: 'dropped.bin', exact: true }).click()
  await device.getByRole('button', { name: 'Cancel upload' }).click()
  const asked = device.getByRole('dialog', { name: /Cancel the upload of dropped\.bin\?/ })
  await asked.getByRole('button', { name: 'Cancel upload' }).click()
  const details = device.getByRole('dialog', { name: 'dropped.bin' })
  await expect(details.getByText('Canceled', { exact: true }).first()).toBeVisible()
  await details.getByRole('button', { name: 'Close' }).click()

  await device.getByRole('link', { name: 'Continue: moving.bin' }).click()
  const row = rowOf(device, 'moving.bin')
  await expect(row.getByText(/Choose moving\.bin again to continue at [4-9]\d%/)).toBeVisible()
  await row.locator('input[type=file]').setInputFiles(dropped)
  await expect(row.getByText('This is a different file.')).toBeVisible()
  await row.locator('input[type=file]').setInputFiles(path)
  await expect(row.getByText(sealedWord)).toBeVisible({ timeout: 60_000 })
  const sent = await device.evaluate(() => Number(localStorage.getItem('sent-bytes')))
  expect(sent).toBeLessThan(0.65 * size)
  await other.close()
})

test('forgets unfinished uploads when the person signs out', async ({ page }) => {
  const path = await makeRandomFile('secret.bin', 5_000_000)
  page.on('dialog', dialog => void dialog.accept())
  await openDesk(page)
  await throttleUploads(page, 500_000)
  await chooseFiles(page, path)
  await expect(rowOf(page, 'secret.bin').getByText(/Uploading, [1-9]\d?%/)).toBeVisible()
  expect(await remembered(page)).toBe(1)
  await page.reload()
  await expect(rowOf(page, 'secret.bin').getByText(/again to continue/)).toBeVisible()
  await throttleUploads(page, -1)
  // in full, so that no queue is there to clear
  await page.goto('/en/me')
  await page.getByRole('button', { name: /Dana/ }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await expect(page.getByRole('link', { name: 'Sign in' }).first()).toBeVisible()
  await expect(page).toHaveURL(/\/en$/)
  await expect.poll(() => remembered(page).catch(() => -1)).toBe(0)
})

test('records each file once, unless it is asked to do it again', async ({ page }) => {
  await test.step('tells of a file that was deposited before, and deposits it again', async () => {
    const path = await makePdf('twice.pdf', 'Deposited twice')
    await openDesk(page)
    const row = rowOf(page, 'twice.pdf')
    await chooseFiles(page, path)
    await expect(row.getByText(sealedWord)).toBeVisible()
    await page.getByRole('button', { name: 'Dismiss' }).click()
    await chooseFiles(page, path)
    await expect(row.getByText(/You already deposited this exact file on .+ at .+\./)).toBeVisible()
    await expect(row.getByRole('link', { name: /View details/ })).toHaveAttribute(
      'href',
      /^\/en\/history\?request=[\da-f-]{36}$/
    )
    // by the keyboard alone
    const again = row.getByRole('button', { name: /^Deposit again/ })
    await tabToTarget(page, again, 'the button “Deposit again”')
    await page.keyboard.press('Enter')
    await expect(row.getByText(sealedWord)).toBeVisible()
    await page.goto('/en/history')
    await expect(page.getByRole('listitem').filter({ hasText: 'twice.pdf' })).toHaveCount(2)
  })

  await test.step('records a file once that stands twice in one choice', async () => {
    await openDesk(page)
    const text = `one and the same ${Math.random()}`
    const files = ['one.txt', 'same.txt'].map(name => textFile(name, text))
    await chooseFiles(page, files)
    // whichever was read first
    await expect(
      page.getByRole('heading', { name: '1 document sealed, 1 deposited before' })
    ).toBeVisible()
    await expect(page.locator('li').getByText(sealedWord)).toHaveCount(1)
    await expect(page.getByText(/You already deposited this exact file/)).toHaveCount(1)
  })

  await test.step('takes a folder by a button, with the paths in it and without system files', async () => {
    const chosen = join(documentFolder, 'chosen')
    await rm(chosen, { recursive: true, force: true })
    await mkdir(join(chosen, 'march', '__MACOSX'), { recursive: true })
    const paths = [
      'cover.txt',
      'march/bill.txt',
      '.DS_Store',
      'march/Thumbs.db',
      'march/__MACOSX/x'
    ]
    for (const path of paths) await writeFile(join(chosen, path), `${path} ${Math.random()}`)
    await openDesk(page)
    await page.getByLabel('Choose a folder').setInputFiles(chosen)
    await expect(page.locator('[data-stamp]').getByText('2 documents sealed')).toBeVisible()
    await expect(page.getByText('3 system files were skipped.')).toBeVisible()
    await expect(page.getByText('march/bill.txt', { exact: true })).toBeVisible()
    await page.goto('/en/history')
    await expect(page.getByRole('link', { name: 'march/bill.txt' })).toBeVisible()
  })

  await test.step('claims no reduced copy of a picture that was kept as it is', async () => {
    const path = await makeRandomFile('broken.jpg', 1_500_000)
    await openDesk(page)
    const row = rowOf(page, 'broken.jpg')
    await chooseFiles(page, path)
    await expect(row.getByText(sealedWord)).toBeVisible()
    await expect(row.getByRole('button', { name: /^Download: / })).toBeVisible()
    await expect(row.getByText(/We keep a .+ copy/)).toHaveCount(0)
  })

  await test.step('asks before it cancels all, and gives the focus back', async () => {
    const paths = await Promise.all(['one', 'two'].map(name => makeRandomFile(`${name}.bin`, 9e6)))
    await openDesk(page)
    await throttleUploads(page, 500_000)
    await chooseFiles(page, paths)
    const button = page.getByRole('button', { name: 'Cancel all' })
    await button.click()
    const dialog = page.getByRole('dialog', { name: 'Cancel 2 uploads?' })
    await expect(dialog.getByRole('button', { name: 'Keep uploading' })).toBeFocused()
    await page.keyboard.press('Escape')
    await expect(dialog).toHaveCount(0)
    await expect(button).toBeFocused()
    await button.click()
    await dialog.getByRole('button', { name: 'Cancel uploads' }).click()
    await expect(page.getByRole('heading', { name: '2 canceled' })).toBeVisible()
    await expect.poll(() => page.evaluate(() => document.activeElement?.tagName)).not.toBe('BODY')
  })
})

test('records a file once that two tabs deposit at the same time', { tag: '@matrix' }, async ({
  page,
  context
}) => {
  const path = await makeRandomFile('shared.bin', 4_000_000)
  await openDesk(page)
  await throttleUploads(page, 500_000)
  await chooseFiles(page, path)
  await expect(rowOf(page, 'shared.bin').getByText(/Uploading, [1-9]\d?%/)).toBeVisible()
  const tab = await context.newPage()
  await tab.goto('/en/deposit')
  await expect(tab.locator('astro-island[ssr]')).toHaveCount(0)
  await chooseFiles(tab, path)
  await expect(rowOf(tab, 'shared.bin').getByText('Waiting', { exact: true })).toBeVisible()
  await throttleUploads(page, -1)
  await expect(rowOf(page, 'shared.bin').getByText(sealedWord)).toBeVisible()
  await expect(
    rowOf(tab, 'shared.bin').getByText(/You already deposited this exact file/)
  ).toBeVisible()
})

test('asks before it sends a picture that would be reduced, of any kind the browser reads', async ({
  page
}) => {
  const pictures = ['stairs.bmp', 'roof.bmp', 'door.bmp'].map(name => ({
    name,
    mimeType: 'image/bmp',
    buffer: makeBmp(700, 600)
  }))
  await openDesk(page)
  let sent = 0
  page.on('request', request => {
    const isSent = request.method() === 'POST' && request.url().endsWith('/deposit/batch')
    if (isSent) sent += 1
  })
  await chooseFiles(page, [...pictures, textFile('note.txt')])
  const words = /This 1\.3 MB picture \(700 × 600 pixels\) would be kept as a .+ reduced copy/
  await expect(page.getByText(words)).toHaveCount(3)
  await expect(rowOf(page, 'note.txt').getByText(sealedWord)).toBeVisible()
  expect(sent).toBe(1)

  const fingerprints = rowOf(page, 'stairs.bmp').locator('dl .fingerprint')
  const original = createHash('sha256')
    .update(pictures[0]?.buffer ?? '')
    .digest('hex')
  await expect(fingerprints).toHaveText([original, /^[0-9a-f]{64}$/])
  await expect(fingerprints.last()).not.toHaveText(original)
  await rowOf(page, 'stairs.bmp')
    .getByRole('button', { name: /Deposit the original/ })
    .click()
  await expect(rowOf(page, 'stairs.bmp').getByText(sealedWord)).toBeVisible()
  await expect(rowOf(page, 'stairs.bmp').getByRole('button', { name: /^Download: / })).toBeVisible()
  await page.getByRole('button', { name: 'Deposit all reduced copies (2)' }).click()
  await expect(page.locator('[data-stamp]').getByText('4 documents sealed')).toBeVisible()
  await expect(page.getByRole('button', { name: /Download the reduced copy/ })).toHaveCount(2)
})

test('says after a reload which picture waited for its choice', { tag: '@matrix' }, async ({
  page
}) => {
  await openDesk(page)
  const picture = { name: 'gate.bmp', mimeType: 'image/bmp', buffer: makeBmp(700, 600) }
  await chooseFiles(page, picture)
  const row = rowOf(page, 'gate.bmp')
  await expect(row.getByText('Waiting for your choice')).toBeVisible()
  await expect.poll(() => remembered(page)).toBe(1)
  page.on('dialog', dialog => void dialog.accept())
  await page.reload()
  await expect(row.getByText('Choose gate.bmp again to continue')).toBeVisible()
  await row.getByLabel('Choose again: gate.bmp').setInputFiles(picture)
  await row.getByRole('button', { name: /Deposit the reduced copy/ }).click()
  await expect(row.getByText(sealedWord)).toBeVisible()
  const downloading = page.waitForEvent('download')
  await row.getByRole('button', { name: /Download the reduced copy/ }).click()
  expect((await downloading).suggestedFilename()).toBe('gate (reduced).jpg')
})

test('says what the category and the limits of a person mean for them', async ({ page }) => {
  await test.step('after a deposit in a category for members, sends nobody to verify without an account', async () => {
    const path = await makePdf('payslip.pdf', 'Payslip')
    await page.route(/\/category$/, async route => {
      const { response, body } = await fetchLocally(route)
      const categories: object[] = JSON.parse(body.toString())
      const json = categories.map(each => ({ ...each, visibility: 'private' }))
      await route.fulfill({ response, json })
    })
    await openDesk(page)
    await chooseFiles(page, path)
    await expect(
      page.getByText('Only administrators and members of the category’s groups can verify it.')
    ).toBeVisible()
    await expect(page.getByText('without an account')).toHaveCount(0)
  })

  await test.step('says at a limit what happens, when it starts again, and who can raise it', async () => {
    const path = await makePdf('one-too-many.pdf', 'One too many')
    await openDesk(page)
    const figures = { used: 10, limit: 10, resets_at: '2027-01-01T12:00:00.000Z' }
    await stubError(page, ['POST', '/deposit/batch'], 'request_limit_reached', figures)
    await chooseFiles(page, path)
    const note = page.getByRole('alert').filter({ hasText: 'The document limit has been reached' })
    await expect(note).toContainText('10 of 10. It resets on January 1, 2027')
    await expect(note).toContainText('Your administrator can raise the limit.')
  })
})

test('takes folders dropped and files pasted anywhere', { tag: '@matrix' }, async ({
  page,
  browser
}) => {
  const dropped = join(documentFolder, 'dropped')
  await rm(dropped, { recursive: true, force: true })
  await mkdir(join(dropped, 'deeper'), { recursive: true })
  for (let index = 0; index < 130; index++) {
    await writeFile(join(dropped, 'deeper', `page-${index}.txt`), `page ${index} ${Date.now()}`)
  }
  await writeFile(join(dropped, 'cover.txt'), `cover ${Date.now()}`)
  await openDesk(page)
  await page.goto('/en/history')
  await expect(page.locator('h1')).toBeVisible()

  await test.step('a drop beside the targets does nothing', async () => {
    await drag(page, [dropped], { x: 4, y: 4 })
    await expect(page.locator('#drop-overlay')).toHaveCount(0)
    await expect(page).toHaveURL(/\/en\/history$/)
  })

  await test.step('a folder is walked, also past a hundred files', async () => {
    await drag(page, [dropped], async () => {
      await expect(page.locator('#drop-overlay [data-target]')).toHaveCount(2)
      return centerOf(page.locator('[data-target=deposit]'))
    })
    await expect(page).toHaveURL(/\/en\/deposit$/)
    await expect(page.locator('[data-stamp]').getByText('131 documents sealed')).toBeVisible({
      timeout: 120_000
    })
  })

  await test.step('a paste on the deposit page deposits', async () => {
    await paste(page, 'pasted.txt')
    await expect(
      rowOf(page, 'pasted.txt').or(page.getByText('132 documents sealed')).first()
    ).toBeVisible()
  })

  await test.step('who is signed out can verify only', async () => {
    const context = await browser.newContext()
    const stranger = await context.newPage()
    // a page without a zone of its own
    await stranger.goto('/fr/docs')
    await drag(stranger, [join(dropped, 'cover.txt')], async () => {
      await expect(stranger.locator('#drop-overlay [data-target]')).toHaveCount(1)
      return centerOf(stranger.locator('[data-target=verify]'))
    })
    await expect(stranger).toHaveURL(/\/fr\/verify$/)
    await expect(
      stranger.getByRole('heading', { name: /a enregistré exactement ce fichier/ })
    ).toBeVisible()
    await paste(stranger, 'unknown.txt')
    await expect(stranger.getByRole('heading', { name: /aucune trace/ })).toBeVisible()
    await context.close()
  })
})

/** Signs a person up and opens the deposit page. Waits until its scripts run. */
async function openDesk(page: Page): Promise<void> {
  await startSession(page, homeAddress(), { username: 'Dana' })
  await page.goto('/en/deposit')
  await expect(page.getByText('Drop documents here')).toBeVisible()
  await expect(page.locator('astro-island[ssr]')).toHaveCount(0)
}

/** Returns an uncompressed picture of three bytes per pixel, different each time. */
function makeBmp(width: number, height: number): Buffer {
  const head = Buffer.alloc(54)
  head.write('BM')
  head.writeUInt32LE(54, 10)
  head.writeUInt32LE(40, 14)
  head.writeInt32LE(width, 18)
  head.writeInt32LE(height, 22)
  head.writeUInt16LE(1, 26)
  head.writeUInt16LE(24, 28)
  const pixels = Buffer.alloc(3 * width * height, Math.floor(Math.random() * 256))
  pixels.writeUInt32LE(Math.floor(Math.random() * 2 ** 32), 0)
  return Buffer.concat([head, pixels])
}

/** Limits how many bytes per second a page uploads. -1: no limit. */
async function throttleUploads(page: Page, uploadThroughput: number): Promise<void> {
  const client = await page.context().newCDPSession(page)
  await client.send('Network.enable')
  await client.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 0,
    downloadThroughput: -1,
    uploadThroughput
  })
}

/**
 * Runs in the page. Adds up the bytes that uploads send, and keeps the sum when the page reloads.
 */
function countSentBytes(): void {
  const send = XMLHttpRequest.prototype.send
  XMLHttpRequest.prototype.send = function (body) {
    let counted = 0
    this.upload.addEventListener('progress', ({ loaded }) => {
      const sum = Number(localStorage.getItem('sent-bytes')) + loaded - counted
      localStorage.setItem('sent-bytes', String(sum))
      counted = loaded
    })
    send.call(this, body)
  }
}

/** Returns the number of unfinished uploads that the browser has stored. */
function remembered(page: Page): Promise<number> {
  return page.evaluate(
    () =>
      new Promise<number>((done, fail) => {
        const opening = indexedDB.open('vidimus-uploads')
        opening.onerror = () => fail(opening.error)
        opening.onsuccess = () => {
          const counting = opening.result.transaction('upload').objectStore('upload').count()
          counting.onsuccess = () => done(counting.result)
        }
      })
  )
}

async function drag(page: Page, paths: string[], to: Point | (() => Promise<Point>)) {
  const start = { x: 4, y: 4 }
  const { over, drop } = await startDrag(page, paths, start)
  // browsers repeat dragover while the pointer rests
  await expect(async () => {
    await over(start)
    await expect(page.locator('#drop-overlay')).toBeVisible({ timeout: 1000 })
  }).toPass({ timeout: 30_000 })
  await drop(typeof to === 'function' ? await to() : to)
}

async function paste(page: Page, name: string): Promise<void> {
  await page.evaluate(given => {
    const clipboardData = new DataTransfer()
    clipboardData.items.add(new File([`pasted ${Date.now()} ${Math.random()}`], given))
    document.body.dispatchEvent(
      new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true })
    )
  }, name)
}
