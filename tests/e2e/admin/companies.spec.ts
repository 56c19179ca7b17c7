import { expect, type Page } from '@playwright/test'
import { svgDataUrl } from '../../../src/core/theme/svg-data-url.ts'
import { newEmail } from '../../helpers/client.ts'
import {
  confirmSession,
  makeAdmin,
  queryServiceDatabase,
  section
} from '../../helpers/e2e/admins.ts'
import { test } from '../../helpers/e2e/journey.ts'
import { expectFocusSeen, tabTo, tabToTarget } from '../../helpers/e2e/keyboard.ts'
import { inMatrix, inspectInTurn } from '../../helpers/e2e/looks.ts'
import { activateAccount, homeAddress, password, startSession } from '../../helpers/e2e/page.ts'
import { logoSvg, mainColor, svgFile } from '../../helpers/e2e/themes.ts'
import { type DnsServer, startDnsServer } from '../../helpers/servers/dns-server.ts'

/**
 * Signs up an operator. Returns the id of their own company. Without `chosen`, the password, the
 * session is confirmed as if the operator had just entered it.
 */
async function signUpOperator(page: Page, locale = 'en', chosen?: string) {
  const username = 'Olga Operator'
  const email = await startSession(page, homeAddress(locale), {
    username,
    ...(chosen && { chosen })
  })
  const company = await makeAdmin(email, ['admin', 'operator'])
  if (chosen === undefined) await confirmSession(email)
  await page.goto(homeAddress(locale))
  await expect(page.locator('html')).toHaveAttribute('data-can', /operator/)
  return company
}

function newHost(): string {
  return `c${crypto.randomUUID().slice(0, 8)}.localhost`
}

function banner(page: Page) {
  return page.locator('[data-acting]')
}

interface NewCompany {
  name: string
  host: string
  email: string
}

async function createCompany(page: Page, own: string, company: NewCompany, locale = 'en') {
  await page.goto(`${homeAddress(locale)}/admin/${own}/create/company`)
  await expect(page.locator('main form [type=submit]')).toBeEnabled()
  await page.locator('input[name=name]').fill(company.name)
  await page.locator('input[name=host]').fill(company.host)
  await page.locator('input[name=email]').fill(company.email)
  await page.locator('main form [type=submit]').click()
  await expect(page.getByRole('heading', { level: 1, name: company.name })).toBeVisible()
}

test('an operator creates a company, whose administrator proves and brands a host, until it is suspended, and then again', async ({
  page,
  browser
}) => {
  await using dns = await startDnsServer({ port: Number(new URL(homeAddress()).port) + 2 })
  const own = await signUpOperator(page, 'en', password)
  const company = { name: `Acme ${Date.now()}`, host: newHost(), email: newEmail() }
  await page.getByRole('button', { name: /menu/i }).first().click()
  await page.getByRole('link', { name: 'Administration' }).click()
  await expect(page).toHaveURL(`${homeAddress()}/admin/${own}`)
  await page.getByRole('link', { name: 'Companies' }).click()
  await expect(page).toHaveURL(`${homeAddress()}/admin`)
  await expect(page.getByRole('table')).toBeVisible()
  await follow(page, 'link', 'New company')
  await expect(title(page, 'New company')).toBeFocused()
  await type(page, 'Name', company.name)
  await type(page, 'First domain', 'localhost')
  await type(page, 'Email of the first administrator', 'nobody')
  await page.keyboard.press('Enter')
  await expect(page.getByText('Value is not a valid email address')).toBeVisible()
  await page.locator('input[name=email]').fill(company.email)
  /** The idempotency keys of the calls that create the company. */
  const keys: (string | undefined)[] = []
  page.on('request', request => {
    const isCreation = request.method() === 'POST' && /\/company$/.test(request.url())
    if (isCreation) keys.push(request.headers()['idempotency-key'])
  })
  await page.keyboard.press('Enter')
  // what makes somebody an administrator needs the password again
  const dialog = page.getByRole('dialog', { name: 'Confirm with your password' })
  const field = dialog.getByLabel('Password', { exact: true })
  await expect(field).toBeFocused()
  await inspectInTurn(page)
  await page.keyboard.press('Escape')
  await expect(dialog).toHaveCount(0)
  await expect(page.getByText('Enter your password again to do this.')).toBeVisible()
  await expect(page.locator('input[name=host]')).toBeFocused()
  await expect(page.locator('input[name=host]')).toHaveValue('localhost')
  await page.keyboard.press('Enter')
  await field.fill('not the password')
  await field.press('Enter')
  await expect(dialog.getByText('That is not your current password.')).toBeVisible()
  await expect(field).toBeFocused()
  await field.fill(password)
  await field.press('Enter')
  await expect(dialog).toHaveCount(0)
  await expect(page.getByText(/domain cannot be used|uses this domain/)).toBeVisible()
  // nothing was sent before the password
  expect(keys).toEqual([expect.any(String)])
  await expect(page.locator('input[name=host]')).toBeFocused()
  await expect(banner(page)).toBeHidden()
  await page.locator('input[name=host]').fill(company.host.toUpperCase())
  await page.keyboard.press('Enter')
  await expect(title(page, company.name)).toBeFocused()
  await expect(banner(page)).toContainText(`You are acting in ${company.name} as operator.`)
  const acme = page.url()
  const box = page.getByRole('region', { name: 'Invitation link' })
  const link = (await box.getByText(/activate-account#t=/).textContent()) ?? ''
  expect(new URL(link).hostname).toBe(company.host)

  const theirs = await (await browser.newContext()).newPage()
  await activateAccount(theirs, link, 'Ada Admin')
  await expect(theirs.locator('html')).toHaveAttribute('data-can', /admin/)
  const there = new URL(acme)
  there.hostname = company.host
  await theirs.goto(there.href)
  const card = theirs.getByRole('region', { name: 'Company' })
  await expect(card).toContainText(company.name)
  await expect(banner(theirs)).toBeHidden()
  await expect(theirs.getByRole('link', { name: 'Companies' })).toHaveCount(0)
  await expect(theirs.getByText('Suspend the company')).toHaveCount(0)
  // the page for operators alone is not for them
  await theirs.goto(`${there.href}/create/company`)
  await expect(theirs.locator('main form')).toBeHidden()

  const visitor = await (await browser.newContext({ colorScheme: 'light' })).newPage()
  const host = await proveHost(theirs, { admin: there.href, dns, visitor })
  await brandHost(theirs, { host, visitor })
  await checkProofAgain(theirs, { host, dns })
  await makeMain(theirs)

  await page.reload()
  await expect(box).toHaveCount(0)
  const suspend = page.getByRole('region', { name: 'Suspend the company' })
  await follow(page, 'button', 'Suspend…')
  await expect(suspend.getByLabel('Reason')).toBeFocused()
  await expectFocusSeen(page)
  await suspend.getByRole('button', { name: 'Suspend' }).click()
  await expect(suspend.getByText('Value is required')).toBeVisible()
  await expect(suspend.getByLabel('Reason')).toBeFocused()
  await page.keyboard.type('A payment')
  await expect(suspend.getByLabel('Reason')).toHaveValue('payment')
  await queryServiceDatabase('update domain set contact = $2 where host = $1', [
    company.host,
    'help@acme.example'
  ])
  await theirs.goto(there.href)
  await expect(card).toContainText(company.name)
  const pressed = Date.now()
  await follow(page, 'button', 'Suspend')
  const notice = page.getByRole('region', { name: `${company.name} is suspended` })
  await expect(notice).toContainText('A payment is missing')
  await expect(notice.getByRole('heading')).toBeFocused()
  await expect(theirs).toHaveURL(/\/en\/disabled\?disabled=/, { timeout: 35_000 })
  expect(Date.now() - pressed).toBeLessThan(35_000)
  await expect(theirs.getByText('Reason: a payment is missing.')).toBeVisible()
  await expect(theirs.locator('main')).not.toContainText('This service is paused.')
  await expect(theirs.getByText(/ask the operator of the service/)).toBeVisible()
  // their own address would lead them to themselves
  await expect(theirs.locator('[data-disabled-contact]')).toContainText('help@acme.example')
  await expect(theirs.locator('[data-disabled-contact]')).toBeHidden()
  // its pages stay online
  expect((await visitor.goto(new URL('/en/verify', there).href))?.status()).toBe(200)

  await page.goto(`${homeAddress()}/admin?q=${encodeURIComponent(company.name)}&state=suspended`)
  await expect(page.getByRole('row', { name: new RegExp(company.name) })).toContainText('Suspended')
  await page.getByRole('table').getByRole('link', { name: company.name }).click()
  await follow(page, 'button', 'Resume')
  await expect(notice).toHaveCount(0)
  await expect(title(page, company.name)).toBeFocused()
  await theirs.getByRole('button', { name: 'Check again' }).click()
  await expect(theirs).toHaveURL(/\/en$/)
  await theirs.goto(there.href)
  await expect(card).toContainText(company.name)

  await banner(page).getByRole('link', { name: 'Leave' }).click()
  await expect(page).toHaveURL(`${homeAddress()}/admin`)
  await page.goto(`${homeAddress()}/admin/${own}/groups`)
  await expect(page.getByRole('table')).toBeVisible()
  const path = page.getByRole('navigation', { name: 'Breadcrumb' })
  await expect(path.getByRole('link', { name: 'Companies' })).toBeVisible()
  // the name of the company instead, because an operator sees several
  await expect(path.getByRole('link', { name: 'Administration' })).toHaveCount(0)
  await expect(banner(page)).toBeHidden()
})

/** Returns the address of the home page of a host of the service under test. */
function siteOf(host: string): string {
  return `http://${host}:${new URL(homeAddress()).port}/en`
}

function title(page: Page, name: string) {
  return page.getByRole('heading', { level: 1, name, exact: true })
}

/** Presses a link or a button by the keyboard. */
async function follow(page: Page, role: 'link' | 'button', name: string) {
  await tabTo(page, role, name)
  await page.keyboard.press('Enter')
}

async function type(page: Page, name: string, text: string) {
  await tabTo(page, 'textbox', name)
  await page.keyboard.type(text)
}

/** Claims a host by the keyboard, and proves it by a DNS record. Returns the host. */
async function proveHost(
  page: Page,
  { admin, dns, visitor }: { admin: string; dns: DnsServer; visitor: Page }
): Promise<string> {
  const host = `archive.c${crypto.randomUUID().slice(0, 8)}.fr`
  await page.goto(`${admin}/domains`)
  await expect(page.getByRole('table')).toBeVisible()
  await inspectInTurn(page)
  await follow(page, 'link', 'New domain')
  await expect(title(page, 'New domain')).toBeFocused()
  await type(page, 'Domain', host)
  await expect(
    page.getByText(`Pages will be at ${host}, and the API at api.${host}.`)
  ).toBeVisible()
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\?step=records$/)
  await expect(title(page, host)).toBeFocused()
  const record = page.getByRole('listitem').filter({ hasText: 'Verifies that the domain is yours' })
  const name = `_domain-check.${host}`
  await expect(record.getByText('_domain-check.archive', { exact: true })).toBeVisible()
  await expect(record.getByText(name, { exact: true })).toBeVisible()
  const value = (await record.locator('.fingerprint').last().textContent()) ?? ''
  expect(value).toMatch(/^\w{40}$/)
  expect((await visitor.goto(siteOf(host)))?.status()).toBe(421)

  await follow(page, 'button', 'Copy value')
  await follow(page, 'button', 'I added them')
  await expect(page.getByRole('heading', { name: 'Check DNS' })).toBeFocused()
  await expect(page.getByText(`DNS does not know ${name} yet.`)).toBeVisible()
  dns.set(name, { txt: [['another value']] })
  await follow(page, 'button', 'Check now')
  await expect(page.getByText('but with another value.')).toBeVisible()
  await expect(page.getByText('another value', { exact: true })).toBeVisible()
  dns.set(name, { txt: [['another value'], [value]] })
  // this page asks again by itself
  await inspectInTurn(page)
  await expect(page.getByText(`${host} is yours.`)).toBeVisible({
    timeout: 60_000
  })
  await expect.poll(() => mainColor(visitor, siteOf(host))).toBe('#d24011')
  await expect(page.getByText(`No address record yet: ${host} and api.${host}.`)).toBeVisible()
  await expect(page.getByRole('button', { name: 'Check now' })).toBeFocused()
  for (const each of [host, `api.${host}`]) dns.set(each, { a: ['127.0.0.1'] })
  await page.keyboard.press('Enter')
  await expect(page.getByText('DNS leads to 127.0.0.1.')).toBeVisible()
  // where the button was that is gone
  await expect(page.getByRole('button', { name: 'Continue to the look' })).toBeFocused()
  await expectFocusSeen(page)
  await page.keyboard.press('Enter')
  // the step itself, because its heading has yet to be loaded
  await expect(page.locator('main div:focus')).toContainText('Main color')
  return host
}

/** Changes the look of a host by the keyboard, publishes it, and restores the previous one. */
async function brandHost(page: Page, { host, visitor }: { host: string; visitor: Page }) {
  const look = section(page, 'Look')
  const colour = () => mainColor(visitor, siteOf(host))
  await type(page, 'Main color', '#FF7A00')
  await expect(
    look.getByText('#ff7a00 becomes #bd5900 in light mode, where white text sits on it.')
  ).toBeVisible()
  const preview = look.locator('[data-theme-sample=light] .btn-primary').first()
  await expect(preview).toHaveCSS('background-color', 'rgb(189, 89, 0)')
  const dark = look.getByRole('switch')
  await tabToTarget(page, dark, 'the switch of the dark mode')
  await page.keyboard.press('Space')
  await expect(dark).toBeChecked()
  await page.keyboard.press('Space')
  await tabToTarget(page, look.getByText('More colors'), 'the further colors')
  await page.keyboard.press('Enter')
  await tabTo(page, 'textbox', 'Background')
  const logo = look.getByLabel('Logo', { exact: true })
  await tabToTarget(page, logo, 'the logo')
  // the system's own dialog is the one thing that a test cannot type into
  await logo.setInputFiles(svgFile(logoSvg('<script>alert(1)</script>')))
  await expect(look.getByText('something that is not allowed: <script>.')).toBeVisible()
  await logo.setInputFiles(svgFile(logoSvg()))
  await expect(look.getByText('Logo: new picture')).toBeVisible()
  await expect(look.getByText('something that is not allowed')).toHaveCount(0)
  const night = logoSvg('<circle r="9"/>')
  await look.getByLabel('Logo in dark mode', { exact: true }).setInputFiles(svgFile(night))
  await expect(look.getByText('Logo in dark mode: new picture')).toBeVisible()
  await expect(look.getByText('Main color: standard → #ff7a00')).toBeVisible()
  await expect(look.getByText('Draft saved')).toBeVisible()
  expect(await colour()).toBe('#d24011')

  // the draft is kept
  await page.reload()
  await expect(look.getByText('Main color: standard → #ff7a00')).toBeVisible()
  await follow(page, 'button', `Publish on ${host}`)
  await expect(page.getByText(`${host} has its new look.`)).toBeVisible()
  await expect(look.getByText('There is nothing to publish.')).toBeVisible()
  await expect(look.getByRole('heading', { name: 'Publish', exact: true })).toBeFocused()
  await expect(look.getByText(/^Ada Admin, /)).toBeVisible()
  await expect.poll(colour).toBe('#bd5900')
  const expectLogo = async (picture: string) => {
    const shown = visitor.locator('.bar-logo img').filter({ visible: true })
    await expect(shown).toHaveAttribute('src', svgDataUrl(picture))
  }
  await expectLogo(logoSvg())
  await visitor.emulateMedia({ colorScheme: 'dark' })
  await expectLogo(night)
  // what the visitor chose counts more than what the system prefers
  const choose = (theme: string) =>
    visitor.evaluate(value => {
      document.documentElement.dataset['theme'] = value
    }, theme)
  await choose('vidimus')
  await expectLogo(logoSvg())
  await visitor.emulateMedia({ colorScheme: 'light' })
  await choose('vidimus-dark')
  await expectLogo(night)

  await follow(page, 'button', 'Restore version 1')
  // nothing changes before the question is answered
  await expect(page.getByRole('dialog')).toContainText(host)
  await page.keyboard.press('Escape')
  await expect(look.getByText('(version 1 again)')).toHaveCount(0)
  expect(await colour()).toBe('#bd5900')
  await follow(page, 'button', 'Restore version 1')
  await follow(page, 'button', 'Publish version 1')
  await expect(page.getByText('Version 1 is published again.')).toBeVisible()
  await expect(look.getByText('(version 1 again)')).toBeVisible()
  await expect(look.getByRole('heading', { name: 'Published looks' })).toBeFocused()
  await expect.poll(colour).toBe('#d24011')
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect(look.getByText('(version 2 again)')).toBeVisible()
  await expect.poll(colour).toBe('#bd5900')

  await follow(page, 'button', 'Continue')
  await expect(page.getByText(`${host} is verified.`)).toBeVisible()
  await expect(page.getByRole('heading', { name: 'Go live' })).toBeFocused()
  await tabTo(page, 'link', `Open ${host}`)
  await follow(page, 'button', 'Settings of this domain')
  await expect(page.getByRole('heading', { name: 'Settings', exact: true })).toBeFocused()
  await inspectInTurn(page)
}

/** Loses the DNS record of a host, brings it back, and checks the proof by the keyboard. */
async function checkProofAgain(page: Page, { host, dns }: { host: string; dns: DnsServer }) {
  const [proof] = await queryServiceDatabase<{ proof_token: string }>(
    `update domain set failing_since = now() - interval '1 day' where host = $1
     returning proof_token`,
    [host]
  )
  dns.delete(`_domain-check.${host}`)
  await page.reload()
  await expect(page.getByText(/^DNS does not know /)).toBeVisible()
  await tabTo(page, 'button', 'Check now')
  dns.set(`_domain-check.${host}`, { txt: [[proof?.proof_token ?? '']] })
  await page.keyboard.press('Enter')
  // the check goes once the record is back, and with it the button that was pressed
  await expect(page.getByRole('button', { name: 'Check now' })).toHaveCount(0)
  await expect(page.locator('main div:focus')).toContainText('Live')
}

/** Changes the title of a host by the keyboard, and makes the host the main one. */
async function makeMain(page: Page) {
  await follow(page, 'button', 'Edit')
  await expect(page.getByLabel('Name', { exact: true })).toBeFocused()
  await tabTo(page, 'textbox', 'Title')
  await page.keyboard.press('ControlOrMeta+A')
  await page.keyboard.type('By keys alone')
  await page.keyboard.press('Enter')
  await expect(page.getByText('By keys alone', { exact: true })).toBeVisible()
  await expect(page.getByRole('button', { name: 'Edit' })).toBeFocused()
  await page.getByRole('button', { name: 'Make it the main domain' }).click()
  await expect(page.getByText('Main domain: emails of your company lead here.')).toBeVisible()
  await expect(page.getByRole('heading', { level: 1 })).toBeFocused()
  await expect(page.getByText('Ada Admin made', { exact: false })).toBeVisible()
}

test(
  'an administrator renames the company beside an operator, who chooses what to keep',
  inMatrix,
  async ({ page }) => {
    const own = await signUpOperator(page)
    const company = { name: `Beta ${Date.now()}`, host: newHost(), email: newEmail() }
    await createCompany(page, own, company)
    const card = page.getByRole('region', { name: 'Company' })
    await card.getByRole('button', { name: 'Rename' }).click()
    await expect(card.getByLabel('Name')).toBeFocused()
    await card.getByLabel('Name').fill('Second name')
    // meanwhile its administrator renames it
    const first = `First ${company.name}`
    const id = new URL(page.url()).pathname.split('/').at(-1)
    await queryServiceDatabase(
      'update company set name = $2, version = version + 1 where id = $1',
      [id, first]
    )
    await page.keyboard.press('Enter')
    const conflict = page.locator('[data-state=changed]')
    await conflict.getByLabel(/Theirs/).check()
    await conflict.getByRole('button', { name: 'Save this choice' }).click()
    await expect(conflict).toHaveCount(0)
    await expect(title(page, first)).toBeVisible()
    await expect(banner(page)).toContainText(`You are acting in ${first} as operator.`)
    await card.getByRole('button', { name: 'Rename' }).click()
    await card.getByLabel('Name').fill(`Last ${company.name}`)
    await page.keyboard.press('Enter')
    await expect(title(page, `Last ${company.name}`)).toBeVisible()
  }
)

test('companies in French, narrow and dark, with a domain that waits for its proof', {
  tag: '@matrix'
}, async ({ page }) => {
  const own = await signUpOperator(page, 'fr')
  await page.setViewportSize({ width: 320, height: 800 })
  const name = `Société ${Date.now()}`
  await page.goto(`${homeAddress('fr')}/admin/${own}/create/company`)
  await expect(page.locator('main form [type=submit]')).toBeEnabled()
  await inspectInTurn(page)
  const host = `docs-${crypto.randomUUID().slice(0, 8)}.fr`
  await createCompany(page, own, { name, host, email: newEmail() }, 'fr')
  await expect(page.getByText('1 domaine n’est pas encore validé')).toBeVisible()
  // never beside “Everything is in order”
  await expect(page.getByText('Tout est en ordre.')).toHaveCount(0)
  const unverified = page
    .locator('[data-kind=domains_unverified]')
    .getByRole('link', { name: host })
  await expect(unverified).toHaveAttribute('href', /\/fr\/admin\/[0-9a-f-]+\/domains\/[0-9a-f-]+$/)
  await expect(banner(page)).toContainText(`Vous agissez dans ${name} en tant qu’opérateur.`)
  await inspectInTurn(page)
  await page.getByRole('button', { name: 'Suspendre…' }).click()
  await page.getByLabel('Motif').selectOption('requested')
  await page.getByRole('button', { name: 'Suspendre', exact: true }).click()
  await expect(page.getByText('À sa demande')).toBeVisible()
  await inspectInTurn(page)
  // an invitation for which there is neither a link nor a mail to come
  await queryServiceDatabase('update domain set verified_at = now() where host = $1', [host])
  await page.goto(`${homeAddress('fr')}/admin`)
  await expect(page.getByRole('table')).toBeVisible()
  const attention = page.locator('[data-attention=ready]')
  await expect(attention).toBeVisible()
  const more = attention.getByRole('button', { name: /^Afficher/ })
  if (await more.isVisible()) await more.click()
  await expect(attention.getByRole('link', { name, exact: true })).toBeVisible()
  await expect(
    attention.getByRole('link', { name: 'Voir les personnes invitées' }).first()
  ).toBeVisible()
  await inspectInTurn(page)
})
