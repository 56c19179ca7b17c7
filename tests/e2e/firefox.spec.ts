import { expect, test } from '@playwright/test'
import { leaveDefaultGroup, makeAdmin } from '../helpers/e2e/admins.ts'
import { makePdf } from '../helpers/e2e/documents.ts'
import { findFirefox, startFirefox } from '../helpers/e2e/firefox.ts'
import { password } from '../helpers/e2e/page.ts'

const path = findFirefox()
test.skip(!path, 'Firefox is not installed: scripts/setup.mjs says how to have it')

// one person, because starting Firefox and signing up takes longer than most of what follows
test('a person makes a group, deposits to its limit, follows, changes the language and signs out, and anyone verifies, in Firefox', async ({
  baseURL
}) => {
  // Firefox shares two cores with the other tests
  test.setTimeout(600_000)
  const site = baseURL ?? ''
  const email = `firefox-${Date.now()}@example.com`
  const group = `Fox ${Date.now()}`
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

  await test.step('makes a group with a limit', async () => {
    const company = await makeAdmin(email)
    await page.goto(`${site}/en/admin/${company}/create/group`)
    await page.type('Name', group)
    await page.type('Documents', '1')
    await page.click('button', 'Create group')
    await page.arrive(/\/groups\/[0-9a-f-]{36}$/)
    await page.see('heading', group)
    await page.read(/1 document in total/)
  })

  await test.step('adds a member by the keyboard', async () => {
    await page.type('Add a member', email.slice(0, 24))
    await page.see('option', `Camille ${email}`)
    await page.press(enterKey)
    await page.read(/Camille is now a member\./)
    await page.read(/^1 member$/m)
    await page.type('Add a category', 'Doc')
    await page.see('option', 'Documents')
    await page.press(enterKey)
    await page.read(/ was added/)
  })

  await test.step('two windows change the name', async () => {
    const second = await firefox.openTab(page)
    await second.goto(String(await page.evaluate('() => location.href')))
    await second.click('button', 'Edit')
    await second.type('Name', ' of two')
    await page.click('button', 'Edit')
    await page.type('Name', ' of one')
    await page.click('button', 'Save')
    await page.see('heading', `${group} of one`)
    await second.click('button', 'Save')
    await second.see('heading', 'Someone else has changed this')
    await second.click('button', 'Keep all of mine')
    const heading = () => second.evaluate("() => document.querySelector('h1').textContent")
    await expect.poll(heading, { timeout: 30_000 }).toBe(`${group} of two`)
    expect(second.faults).toEqual([])
  })

  await test.step('deposits, which another window shows', async () => {
    const window = await firefox.openTab(page)
    await window.goto(`${site}/en/history`)
    await window.read(/Documents you deposit or verify/)
    // the default group would pay for what goes beyond the limit
    await leaveDefaultGroup(email)
    await page.goto(`${site}/en`)
    await page.click('link', 'Deposit')
    await page.see('heading', 'Deposit')
    await page.choose(lease)
    await page.read(/^Sealed$/m)
    expect(page.sent.filter(call => call.startsWith('POST /deposit/batch'))).toHaveLength(1)
    expect(page.sent.filter(call => /\/uploads\/|POST \/deposit,/.test(call))).toEqual([])
    await window.read(/firefox-lease\.pdf/)
    expect(window.faults).toEqual([])
  })

  await test.step('is stopped at the limit of the group', async () => {
    await page.choose(other)
    await page.read(/Your administrator can raise the limit/)
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

  await test.step('leaves a page whose code still loads, without an error', async () => {
    const hasty = await firefox.openTab()
    const held = await hasty.hold('/_astro/drop-overlay.')
    await hasty.goto(`${site}/en`)
    await expect.poll(() => held.length, { timeout: 30_000 }).toBeGreaterThan(0)
    await hasty.goto(`${site}/en/verify`)
    await hasty.see('heading', 'Verify')
    expect(hasty.faults).toEqual([])
  })

  await test.step('signs out, and in again', async () => {
    await page.click('button', 'C Camille')
    await page.click('menuitem', 'Se déconnecter')
    // the file beyond the limit still waits
    await page.click('button', 'Se déconnecter et arrêter les envois')
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

// the characters that stand for these keys in WebDriver
const enterKey = '\uE007'
const escapeKey = '\uE00C'
