import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Browser, expect, type Page } from '@playwright/test'
import {
  documentFolder,
  makeJpeg,
  makePdf,
  makeRandomFile,
  sha256Of
} from '../helpers/e2e/documents.ts'
import { test } from '../helpers/e2e/journey.ts'
import {
  chooseFiles,
  password,
  rowOf,
  sealedWord,
  siteAddress,
  watchFaults,
  watchSentRequests
} from '../helpers/e2e/page.ts'

// with motion, as most people see the pages
test.use({ contextOptions: { reducedMotion: 'no-preference' } })

test('a stranger deposits documents and anyone verifies them', async ({ browser }) => {
  test.setTimeout(300_000)
  const site = siteAddress()
  const api = site.replace('//', '//api.')
  const demo = site.replace('//', '//demo.')
  const context = await browser.newContext()
  const page = await context.newPage()
  const violations = watchFaults(page, /^Failed to load resource/)

  await test.step('signs up', async () => {
    await page.goto('/en')
    await page.getByRole('link', { name: 'Create an account' }).first().click()
    await page.getByLabel('Email').fill('Clerk@Example.com')
    await page.getByLabel('Username').fill('Camille Clerc')
    await page.getByLabel('Password', { exact: true }).fill(password)
    await page.getByLabel('Confirm password').fill(password)
    await page.getByRole('button', { name: 'Create account' }).click()
    await expect(page).toHaveURL(/\/en$/)
    await expect(page.getByText('Your account is ready, and you are signed in.')).toBeVisible()
    await page.getByRole('navigation').getByRole('link', { name: 'Deposit' }).click()
    await expect(page).toHaveURL(/\/en\/deposit$/)
  })

  const pdf = await makePdf('lease.pdf', 'Lease of 3 May 2026')
  const jpeg = await makeJpeg(page, 'facade.jpg')
  const large = await makeRandomFile('plans.bin', 200_000_000)
  expect((await stat(jpeg)).size).toBeGreaterThan(2_000_000)

  // a second window watches
  const window = await context.newPage()
  await window.goto('/en/history')
  await expect(window.getByRole('heading', { name: 'Documents you deposit' })).toBeVisible()

  await test.step('deposits a PDF and a large picture, seen elsewhere by the stream', async () => {
    for (const path of [pdf, jpeg]) {
      const name = path.split('/').at(-1) ?? ''
      await chooseFiles(page, path)
      if (path === jpeg) {
        await rowOf(page, name)
          .getByRole('button', { name: /Deposit the reduced copy/ })
          .click()
      }
      await expect(rowOf(page, name).getByText(sealedWord)).toBeVisible()
      // without the stream it would come after 30 s
      const shown = rowOf(window, name).getByText(sealedWord)
      await expect(shown).toBeVisible()
    }
  })

  await test.step('goes on after the connection was cut', async () => {
    await chooseFiles(page, large)
    const row = rowOf(page, 'plans.bin')
    await expect(row.getByText(/Uploading, [1-9]\d? ?%/)).toBeVisible({ timeout: 60_000 })
    await context.setOffline(true)
    await expect(row.getByText(/Connection lost/)).toBeVisible()
    await context.setOffline(false)
    await expect(row.getByText(sealedWord)).toBeVisible({ timeout: 120_000 })
    await expect(rowOf(window, 'plans.bin').getByText(sealedWord)).toBeVisible()
  })

  const copy = await test.step('gets the exact stored copy back', async () => {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      rowOf(page, 'facade.jpg')
        .getByRole('button', { name: /Download the reduced copy/ })
        .click()
    ])
    const path = join(documentFolder, 'facade-copy.jpg')
    await download.saveAs(path)
    expect((await stat(path)).size).toBeLessThan(1_000_000)
    return path
  })

  await test.step('is told what others need to check, and where the record is', async () => {
    await expect(page.getByText('Send them the file and this address.')).toBeVisible()
    await expect(page.getByText(`${site}/en/verify`, { exact: true })).toBeVisible()
    await expect(
      page.getByRole('navigation').getByText(/^[1-9][\d,]* of 100,000 documents used$/)
    ).toBeVisible()
    await rowOf(page, 'lease.pdf')
      .getByRole('link', { name: /View details/ })
      .click()
    const details = page.getByRole('dialog', { name: 'lease.pdf' })
    await expect(details.getByText(`${site}/en/verify`, { exact: true })).toBeVisible()
    await expect(details.getByText('Request', { exact: true })).toBeHidden()
    await details.getByText('For experts and support').click()
    await expect(details.getByText('Request', { exact: true })).toBeVisible()
    await page.goto('/en/deposit')
  })

  const changed = join(documentFolder, 'lease-changed.pdf')
  const bytes = await readFile(pdf)
  bytes.write('L', bytes.indexOf('Lease') + 4)
  await writeFile(changed, bytes)
  const unknown = await makeRandomFile('unknown.bin', 12_345)

  const outcomes = [
    [jpeg, 'Unchanged', /Vidimus recorded this exact file on/],
    [copy, 'Unchanged copy', /This is Vidimus’s reduced copy of a picture/],
    [changed, 'No record', /Vidimus has no record of this exact file/],
    [unknown, 'No record', /Vidimus has no record of this exact file/]
  ] as const
  await test.step('anyone verifies, signed out', async () => {
    await withStranger(browser, async stranger => {
      const sent = watchSentRequests(stranger)
      await stranger.goto('/en/verify')
      for (const [path, word, sentence] of outcomes) {
        await chooseFiles(stranger, path)
        const verdict = stranger.getByRole('heading', { name: sentence })
        await expect(verdict).toBeVisible()
        await expect(stranger.getByText(word, { exact: true }).first()).toBeVisible()
        await expect(stranger.getByText('Camille')).toHaveCount(0)
      }
      // fingerprints left the device, files did not
      expect(await sent()).toEqual(outcomes.map(() => 'POST /verify'))
      await stranger.locator('[name=fingerprint]').fill(await sha256Of(pdf))
      await stranger.locator('[name=fingerprint]').press('Enter')
      const pasted = stranger.getByRole('heading', {
        name: /recorded a file with this fingerprint/
      })
      await expect(pasted).toBeVisible()
    })
  })

  await test.step('the second company knows nothing of it', async () => {
    await withStranger(browser, async stranger => {
      await stranger.goto(`${demo}/en/verify`)
      await chooseFiles(stranger, pdf)
      await expect(
        stranger.getByRole('heading', { name: /Étude Marchand has no record/ })
      ).toBeVisible()
      const answer = await stranger.evaluate(
        async ([url, sha256]) => {
          const response = await fetch(`${url}/verify`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ items: [{ sha256 }] })
          })
          return response.json()
        },
        [demo.replace('//', '//api.'), await sha256Of(pdf)]
      )
      expect(answer.items[0]).toMatchObject({ verdict: 'not_found', findings: [] })
    })
  })

  await test.step('signing out ends it in both windows', async () => {
    const token = (await context.cookies(site)).find(each => each.name.startsWith('__Host-'))?.value
    await page.getByRole('button', { name: /Camille Clerc/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await expect(page.getByRole('link', { name: 'Sign in' }).first()).toBeVisible()
    await expect(window).toHaveURL(/\/en\/sign-in/)
    // the page may be on its way home
    await expect(async () => {
      const refused = await page.evaluate(
        async ([url, bearer]) =>
          (await fetch(`${url}/user`, { headers: { authorization: `Bearer ${bearer}` } })).status,
        [api, token ?? '']
      )
      expect(refused).toBe(401)
    }).toPass()
  })

  expect(violations).toEqual([])
  await context.close()
})

/** Runs `act` with a page of a new browser. Expects that the page logs no error. */
async function withStranger(browser: Browser, act: (page: Page) => Promise<void>): Promise<void> {
  const context = await browser.newContext()
  const page = await context.newPage()
  const violations = watchFaults(page, /^Failed to load resource/)
  await act(page)
  expect(violations).toEqual([])
  await context.close()
}
