import { expect, test } from '@playwright/test'
import { makePdf } from '../helpers/documents.ts'
import { findFirefox, startFirefox } from '../helpers/firefox.ts'
import { password } from '../helpers/page.ts'

const path = findFirefox()
test.skip(!path, 'Firefox is not installed: scripts/setup.mjs says how to have it')

test('a person deposits, follows, changes the language and signs out, and anyone verifies, in Firefox', async ({
  baseURL
}) => {
  const site = baseURL ?? ''
  const email = `firefox-${Date.now()}@example.com`
  const lease = await makePdf('firefox-lease.pdf', `Lease ${Date.now()}`)
  const other = await makePdf('firefox-other.pdf', `Other ${Date.now()}`)
  await using firefox = await startFirefox(path ?? '')
  const page = await firefox.openTab()
  const stranger = await firefox.openTab()

  await test.step('signs up', async () => {
    await page.goto(`${site}/en/sign-up`)
    await page.type('Email', email)
    await page.type('Username', 'Camille')
    await page.type('Password', password)
    await page.type('Confirm password', password)
    // not loaded a second time while it is being filled
    const loads = "() => performance.getEntriesByType('navigation').map(each => each.type)"
    expect(await page.evaluate(loads)).toEqual(['navigate'])
    await page.click('button', 'Create account')
    await page.arrive(/\/en$/)
  })

  await test.step('deposits, which another window shows', async () => {
    const window = await firefox.openTab(page)
    await window.goto(`${site}/en/history`)
    await window.read(/Documents you deposit or check/)
    await page.click('link', 'Deposit')
    await page.see('heading', 'Deposit')
    await page.choose(lease)
    await page.read(/^Recorded$/m)
    await window.read(/firefox-lease\.pdf/)
    expect(window.faults).toEqual([])
  })

  await test.step('finds it in the history, with its fingerprint', async () => {
    await page.click('link', 'History')
    await page.type('Document name', 'lease')
    await page.read(/1 entry/)
    await page.click('link', 'firefox-lease.pdf')
    await page.see('dialog', 'firefox-lease.pdf')
    await page.read(/^Fingerprint\n[0-9a-f]{64}/m)
    await page.press(escapeKey)
  })

  await test.step('changes the language where it is', async () => {
    await page.click('link', 'Français')
    await page.arrive(/\/fr\/history\?q=lease$/)
    await page.see('heading', 'Historique')
    expect(await page.evaluate('() => document.documentElement.lang')).toBe('fr-FR')
  })

  await test.step('a stranger verifies, and only fingerprints leave the device', async () => {
    await stranger.goto(`${site}/en/verify`)
    await stranger.choose(lease)
    await stranger.read(/recorded this exact file on/)
    await stranger.choose(other)
    await stranger.read(/has no record of this exact file/)
    expect(stranger.sent).toHaveLength(2)
    for (const call of stranger.sent) expect(call).toMatch(/^POST \/verify, [1-9]\d\d? bytes$/)
    expect(stranger.faults).toEqual([])
    // the silence means something: what the policy refuses is told
    await stranger.evaluate("() => { new Image().src = 'https://elsewhere.invalid/' }")
    await expect.poll(() => stranger.faults).toEqual([expect.stringContaining('img-src')])
  })

  await test.step('signs out, and in again', async () => {
    await page.click('button', 'C Camille')
    await page.click('menuitem', 'Se déconnecter')
    await page.arrive(/\/fr$/)
    await page.see('link', 'Se connecter')
    await page.goto(`${site}/en/sign-in`)
    await page.type('Email', email)
    await page.type('Password', password)
    await page.click('button', 'Sign in')
    // their own language is French by now
    await page.arrive(/\/fr$/)
    await page.see('button', 'C Camille')
  })
  expect(page.faults).toEqual([])
})

/** As WebDriver writes the key. */
const escapeKey = '\uE00C'
