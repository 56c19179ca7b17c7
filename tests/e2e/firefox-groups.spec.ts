import { expect, test } from '@playwright/test'
import { makeAdmin } from '../helpers/admins.ts'
import { findFirefox, startFirefox } from '../helpers/firefox.ts'
import { password } from '../helpers/page.ts'

const path = findFirefox()
test.skip(!path, 'Firefox is not installed: scripts/setup.mjs says how to have it')

test('an administrator makes a group and adds a member, and two edit it at once, in Firefox', async ({
  baseURL
}) => {
  const site = baseURL ?? ''
  const email = `firefox-admin-${Date.now()}@example.com`
  const name = `Fox ${Date.now()}`
  await using firefox = await startFirefox(path ?? '')
  const page = await firefox.openTab()
  await page.goto(`${site}/en/sign-up`)
  await page.type('Email', email)
  await page.type('Username', 'Felix')
  await page.type('Password', password)
  await page.type('Confirm password', password)
  await page.click('button', 'Create account')
  await page.arrive(/\/en$/)
  const company = await makeAdmin(email)

  await test.step('makes a group with a limit', async () => {
    await page.goto(`${site}/en/admin/${company}/create/group`)
    await page.type('Name', name)
    await page.type('Documents', '3')
    await page.click('button', 'Create group')
    await page.arrive(/\/groups\/[0-9a-f-]{36}$/)
    await page.see('heading', name)
    await page.read(/3 documents in total/)
  })

  await test.step('adds a member by the keyboard', async () => {
    await page.type('Add a member', email.slice(0, 24))
    await page.see('option', `Felix ${email}`)
    await page.press(enterKey)
    await page.read(/Felix is now a member\./)
    await page.read(/^1 member$/m)
  })

  await test.step('two windows change the name', async () => {
    const other = await firefox.openTab(page)
    await other.goto(String(await page.evaluate('() => location.href')))
    await other.click('button', 'Edit')
    await other.type('Name', ' of two')
    await page.click('button', 'Edit')
    await page.type('Name', ' of one')
    await page.click('button', 'Save')
    await page.read(/of one/)
    await other.click('button', 'Save')
    await other.see('heading', 'Someone else has changed this')
    await other.click('button', 'Keep all of mine')
    const heading = () => other.evaluate("() => document.querySelector('h1').textContent")
    await expect.poll(heading, { timeout: 30_000 }).toContain('of two')
    expect(other.faults).toEqual([])
  })
  expect(page.faults).toEqual([])
})

/** As WebDriver writes the key. */
const enterKey = '\uE007'
