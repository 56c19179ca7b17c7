import { expect, type Page, test } from '@playwright/test'
import { addPeople, signUpAdmin } from '../helpers/e2e/admins.ts'
import { homeAddress, startSession, watchFaults } from '../helpers/e2e/page.ts'

const file = {
  name: 'document.txt',
  mimeType: 'text/plain',
  buffer: Buffer.from('an ordinary document')
}

/** Opens a page on the line of a slow telephone, and resolves at its first paint. */
async function openSlowly(page: Page, address: string): Promise<string[]> {
  const faults = watchFaults(page, /status of 40[14]/)
  const client = await page.context().newCDPSession(page)
  await client.send('Network.emulateNetworkConditions', {
    latency: 150,
    downloadThroughput: 200_000,
    uploadThroughput: 93_750,
    offline: false
  })
  await page.goto(address, { waitUntil: 'commit' })
  await page.waitForFunction(
    () => performance.getEntriesByName('first-contentful-paint').length > 0
  )
  return faults
}

test('home keeps a file that is chosen at the first paint', async ({ page }) => {
  const faults = await openSlowly(page, homeAddress())
  await page.locator('#home-files').setInputFiles(file)
  await expect(page).toHaveURL(/\/verify$/)
  await expect(page.locator('astro-island [data-state=ready]').first()).toBeVisible()
  expect(faults).toEqual([])
})

test('verify keeps a file that is chosen at the first paint', async ({ page }) => {
  const faults = await openSlowly(page, `${homeAddress()}/verify`)
  await page.locator('main input[type=file]').first().setInputFiles(file)
  await expect(page.locator('astro-island [data-state=ready]').first()).toBeVisible()
  expect(faults).toEqual([])
})

test('sign-in keeps what is typed and sent at the first paint', async ({ page }) => {
  const faults = await openSlowly(page, `${homeAddress()}/sign-in`)
  const email = page.getByLabel('Email')
  await email.fill('not an address')
  await page.getByLabel('Password', { exact: true }).fill('a long sentence')
  await page.getByRole('main').getByRole('button', { name: 'Sign in' }).click()
  await expect(email).toHaveAttribute('aria-invalid', 'true')
  await expect(email).toHaveValue('not an address')
  await expect(page.getByLabel('Password', { exact: true })).toHaveValue('a long sentence')
  expect(faults).toEqual([])
})

test('deposit keeps a file that is chosen at the first paint', async ({ page }) => {
  await startSession(page, homeAddress())
  const faults = await openSlowly(page, `${homeAddress()}/deposit`)
  await page.locator('main input[type=file]').first().setInputFiles(file)
  await expect(page.locator('section[tabindex="-1"] h2')).toHaveText('Sealed')
  expect(faults).toEqual([])
})

test('lists keep a search that is typed at the first paint', async ({ page }) => {
  const { admin, company } = await signUpAdmin(page)
  await addPeople(company, { word: 'Slowly', count: 2 })
  const faults = await openSlowly(page, `${admin}/users`)
  await page.getByRole('searchbox').fill('Slowly 001')
  await expect(page.locator('main tbody tr')).toHaveCount(1)
  await expect(page.getByRole('searchbox')).toHaveValue('Slowly 001')
  await openSlowly(page, `${homeAddress()}/history`)
  await page.getByRole('searchbox').fill('nothing like it')
  await expect(page).toHaveURL(/q=nothing/)
  expect(faults).toEqual([])
})

test('begins the first calls once, and takes their responses', async ({ page }) => {
  const { admin, company } = await signUpAdmin(page)
  const calls: string[] = []
  page.on('request', request => {
    const url = new URL(request.url())
    if (url.hostname.startsWith('api.') && request.method() === 'GET')
      calls.push(url.pathname + url.search)
  })
  await page.goto(`${homeAddress()}/history`)
  await expect(page.locator('main [data-state]').first()).toHaveAttribute('data-state', 'empty')
  expect(calls.toSorted()).toEqual(['/category', '/process/sse', '/process?limit=50', '/user'])
  calls.length = 0
  await page.goto(`${admin}/users`)
  await expect(page.locator('main tbody tr').first()).toBeVisible()
  expect(calls.filter(path => path.includes('users'))).toEqual([
    `/company/${company}/users?limit=50&sort=name`
  ])
})
