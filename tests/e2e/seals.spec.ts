import { readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, type Page } from '@playwright/test'
import { toHex } from '../../src/core/bytes.ts'
import { leafHash } from '../../src/core/evidence/deposit-leaf.ts'
import { parseReceipt } from '../../src/core/evidence/receipt.ts'
import { logIdOf } from '../../src/server/domain/evidence/logs.ts'
import { makeAdmin, queryServiceDatabase } from '../helpers/e2e/admins.ts'
import { dataDir } from '../helpers/e2e/data-dir.ts'
import { test } from '../helpers/e2e/journey.ts'
import { expectFocusSeen, tabTo } from '../helpers/e2e/keyboard.ts'
import { inspectInTurn } from '../helpers/e2e/looks.ts'
import {
  chooseFiles,
  homeAddress,
  rowOf,
  siteAddress,
  startSession,
  textFile
} from '../helpers/e2e/page.ts'
import { retryFor } from '../helpers/retry-for.ts'

test('a deposit is recorded, then sealed without a reload, and its receipt is saved by the keyboard', async ({
  page,
  context
}) => {
  await startSession(page, homeAddress())
  const spoken = await listenToStatus(page)
  await page.goto('/en/history')
  const elsewhere = page
  const deposit = await context.newPage()
  await deposit.goto('/en/deposit')
  await chooseFiles(deposit, textFile('A lease.txt'))
  const stamp = deposit.locator('[data-stamp]')
  await expect(stamp.getByRole('heading', { name: 'Sealed' })).toBeVisible()
  await expect(stamp).toContainText(/Since \d+:\d\d:\d\d.[AP]M the receipt proves it\./)
  await expect(stamp.locator('[data-seal=sealed]')).toBeVisible()
  await inspectInTurn(deposit)
  // this tab has loaded before, and the other one holds the stream or gets it from this one
  await expect(rowOf(elsewhere, 'A lease.txt').getByText('Sealed', { exact: true })).toBeVisible()
  expect(await spoken()).toEqual([])

  const row = rowOf(deposit, 'A lease.txt')
  await tabTo(deposit, 'button', 'Download the receipt')
  await expectFocusSeen(deposit)
  const [fromStamp] = await Promise.all([
    deposit.waitForEvent('download'),
    deposit.keyboard.press('Enter')
  ])
  expect(fromStamp.suggestedFilename()).toBe('A lease.txt.vidimus.json')
  const receipt = parseReceipt(await readFile(await fromStamp.path()))
  await expect(row.getByRole('button', { name: 'Download the receipt: A lease.txt' })).toBeVisible()

  await row.getByRole('link', { name: 'View details: A lease.txt' }).click()
  const details = deposit.getByRole('dialog')
  await expect(details.getByText('Sealed', { exact: true }).first()).toBeVisible()
  await expect(details).toContainText(/Since .+ the receipt proves it\./)
  await details.getByText('For experts and support').click()
  await expect(details).toContainText('Place in the public log')
  await expect(details).toContainText(toHex(leafHash(receipt?.leaf ?? '')))
  await inspectInTurn(deposit)
  const [proof] = await Promise.all([
    deposit.waitForEvent('download'),
    details.getByRole('button', { name: 'Receipt as .tlog-proof' }).click()
  ])
  expect(await readFile(await proof.path(), 'utf8')).toMatch(/^c2sp\.org\/tlog-proof@v1\n/)

  await context.setOffline(true)
  await details.getByRole('button', { name: 'Download the receipt' }).click()
  await expect(details.getByRole('alert')).toContainText('could not be reached')
  await context.setOffline(false)
})

test('many records are sealed with one announcement', async ({ page }) => {
  await startSession(page, homeAddress())
  await page.goto('/en/deposit')
  const spoken = await listenToStatus(page)
  const names = Array.from({ length: 20 }, (_, nr) => `a${nr}.txt`)
  await chooseFiles(
    page,
    names.map(name => textFile(name))
  )
  await expect(page.locator('[data-stamp]').getByText('20 documents sealed')).toBeVisible()
  await expect(page.locator('main li[data-status=done] [data-seal=sealed]')).toHaveCount(20)
  // it is said a moment after it is shown
  const said = async () => (await spoken()).filter(text => text.includes('sealed'))
  await expect.poll(said).toEqual(['20 documents sealed'])
})

test('while the log is frozen, records wait, nothing is lost, and administrators are told', async ({
  page
}) => {
  const site = siteAddress().replace('//', '//demo.')
  const email = await startSession(page, `${site}/en`)
  const company = await makeAdmin(email)
  const checkpoint = await checkpointOf(company)
  await rename(checkpoint, `${checkpoint}.away`)
  try {
    await page.goto(`${site}/en/deposit`)
    await expect(page.getByText('In this demonstration, the sample documents')).toBeVisible()
    await chooseFiles(page, textFile('A deed.txt'))
    const row = rowOf(page, 'A deed.txt')
    await expect(row.getByText('Recorded; sealing is paused', { exact: true })).toBeVisible()
    await expect(page.locator('[data-stamp]')).toContainText('Nothing is lost')
    await expect(page.locator('[data-stamp] [data-seal=recorded]')).toBeVisible()
    await expect(row.getByRole('button', { name: /receipt/ })).toHaveCount(0)
    await inspectInTurn(page)
    await page.goto(`${site}/en/admin/${company}`)
    const banner = page.getByRole('region', { name: 'Sealing is paused' })
    await expect(banner).toContainText('Nothing is lost')
    await expect(banner).toContainText('Ask the operator')
    await expect(page.locator('[data-kind=log_frozen]')).toContainText('Act now')
    await inspectInTurn(page)
  } finally {
    await rename(`${checkpoint}.away`, checkpoint)
  }
})

/** The file that is served as the checkpoint of the company's log. */
async function checkpointOf(company: string): Promise<string> {
  const read = () =>
    queryServiceDatabase<{ origin: string; published_size: string }>(
      'select origin, published_size from log_state where company_id = $1',
      [company]
    )
  const log = await retryFor(0.5, async () => {
    const [row] = await read()
    if (!row || Number(row.published_size) === 0) throw new Error('nothing is published yet')
    return row
  })
  return join(dataDir, 'log', logIdOf(log.origin), 'checkpoint')
}

/** Returns a function that returns what polite live regions have said since. */
async function listenToStatus(page: Page): Promise<() => Promise<string[]>> {
  await page.addInitScript(watch)
  await page.evaluate(watch)
  return () => page.evaluate(() => Reflect.get(window, 'spoken') ?? [])

  function watch() {
    const spoken: string[] = []
    Reflect.set(window, 'spoken', spoken)
    new MutationObserver(changes => {
      for (const { target } of changes) {
        const element = target instanceof Element ? target : target.parentElement
        const text = element?.closest('[role=status]')?.textContent?.trim()
        if (text && text !== spoken.at(-1)) spoken.push(text)
      }
    }).observe(document, { subtree: true, childList: true, characterData: true })
  }
}
