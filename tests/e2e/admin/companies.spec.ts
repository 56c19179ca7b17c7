import { expect, type Page } from '@playwright/test'
import { newEmail } from '../../helpers/client.ts'
import { inspectInBothSchemes } from '../../helpers/e2e/accessibility.ts'
import { askDatabase, confirmSession, makeAdmin, section } from '../../helpers/e2e/admins.ts'
import { test } from '../../helpers/e2e/journey.ts'
import { expectFocusSeen, tabTo, tabToTarget } from '../../helpers/e2e/keyboard.ts'
import { activateAccount, home, password, startSession } from '../../helpers/e2e/page.ts'
import { logoSvg, mainColor, svgFile } from '../../helpers/e2e/themes.ts'
import { type DnsServer, startDnsServer } from '../../helpers/servers/dns-server.ts'

/**
 * Signs up an operator. Returns the id of their own company. Without `chosen`, the password, the
 * session is confirmed as if the operator had just entered it.
 */
async function signUpOperator(page: Page, locale = 'en', chosen?: string) {
  const username = 'Olga Operator'
  const email = await startSession(page, home(locale), { username, ...(chosen && { chosen }) })
  const company = await makeAdmin(email, ['admin', 'operator'])
  if (chosen === undefined) await confirmSession(email)
  await page.goto(home(locale))
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

async function fillIn(page: Page, { name, host, email }: NewCompany) {
  await expect(page.locator('main form [type=submit]')).toBeEnabled()
  await page.locator('input[name=name]').fill(name)
  await page.locator('input[name=host]').fill(host)
  await page.locator('input[name=email]').fill(email)
}

async function createCompany(page: Page, own: string, company: NewCompany, locale = 'en') {
  await page.goto(`${home(locale)}/admin/${own}/create/company`)
  await fillIn(page, company)
  await page.locator('main form [type=submit]').click()
  await expect(page.getByRole('heading', { level: 1, name: company.name })).toBeVisible()
}

test('an operator creates a company, whose administrator proves and brands a host, until it is suspended, and then again', async ({
  page,
  browser
}) => {
  await using dns = await startDnsServer({ port: Number(new URL(home()).port) + 2 })
  const own = await signUpOperator(page, 'en', password)
  const company = { name: `Acme ${Date.now()}`, host: newHost(), email: newEmail() }
  await page.getByRole('button', { name: /menu/i }).first().click()
  await page.getByRole('link', { name: 'Administration' }).click()
  await expect(page).toHaveURL(`${home()}/admin`)
  await page.getByRole('link', { name: 'New company' }).click()
  await fillIn(page, { ...company, host: 'localhost', email: 'nobody' })
  await page.getByRole('button', { name: 'Create company' }).click()
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
  await inspectInBothSchemes(page)
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
  await expect(page.getByText(/host name cannot be used|uses this host name/)).toBeVisible()
  // once confirmed, the refused call is made again with its key
  expect(keys).toEqual([expect.any(String), expect.any(String), keys[1]])
  expect(keys[1]).not.toBe(keys[0])
  await expect(page.locator('input[name=host]')).toBeFocused()
  await expect(banner(page)).toBeHidden()
  await page.locator('input[name=host]').fill(company.host.toUpperCase())
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { level: 1, name: company.name })).toBeVisible()
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

  await page.reload()
  await expect(box).toHaveCount(0)
  const suspend = page.getByRole('region', { name: 'Suspend the company' })
  await tabTo(page, 'button', 'Suspend…')
  await page.keyboard.press('Enter')
  await expect(suspend.getByLabel('Reason')).toBeFocused()
  await expectFocusSeen(page)
  await suspend.getByRole('button', { name: 'Suspend' }).click()
  await expect(suspend.getByText('Value is required')).toBeVisible()
  await suspend.getByLabel('Reason').selectOption('payment')
  await theirs.goto(there.href)
  await expect(card).toContainText(company.name)
  const pressed = Date.now()
  await suspend.getByRole('button', { name: 'Suspend' }).click()
  const notice = page.getByRole('region', { name: `${company.name} is suspended` })
  await expect(notice).toContainText('A payment is missing')
  await expect(notice.getByRole('heading')).toBeFocused()
  await expect(theirs).toHaveURL(/\/en\/disabled\?disabled=/, { timeout: 35_000 })
  expect(Date.now() - pressed).toBeLessThan(35_000)
  await expect(theirs.getByText('Reason: a payment is missing.')).toBeVisible()
  // its pages stay online
  expect((await visitor.goto(new URL('/en/verify', there).href))?.status()).toBe(200)

  await page.goto(`${home()}/admin?q=${encodeURIComponent(company.name)}&state=suspended`)
  await expect(page.getByRole('row', { name: new RegExp(company.name) })).toContainText('Suspended')
  await page.getByRole('table').getByRole('link', { name: company.name }).click()
  await notice.getByRole('button', { name: 'Resume' }).click()
  await expect(notice).toHaveCount(0)
  await expect(page.getByRole('heading', { level: 1 })).toBeFocused()
  await theirs.getByRole('button', { name: 'Check again' }).click()
  await expect(theirs).toHaveURL(/\/en$/)
  await theirs.goto(there.href)
  await expect(card).toContainText(company.name)

  await banner(page).getByRole('link', { name: 'Leave' }).click()
  await expect(page).toHaveURL(`${home()}/admin`)
  await page.goto(`${home()}/admin/${own}/groups`)
  await expect(page.getByRole('table')).toBeVisible()
  const path = page.getByRole('navigation', { name: 'Breadcrumb' })
  await expect(path.getByRole('link', { name: 'Companies' })).toBeVisible()
  // the name of the company instead, because an operator sees several
  await expect(path.getByRole('link', { name: 'Administration' })).toHaveCount(0)
  await expect(banner(page)).toBeHidden()
})

/** Returns the address of the home page of a host of the service under test. */
function siteOf(host: string): string {
  return `http://${host}:${new URL(home()).port}/en`
}

/**
 * Claims a host through the pages of the product, and proves it by a DNS record. Returns the host.
 */
async function proveHost(
  page: Page,
  { admin, dns, visitor }: { admin: string; dns: DnsServer; visitor: Page }
): Promise<string> {
  const host = `archive.c${crypto.randomUUID().slice(0, 8)}.fr`
  await page.goto(`${admin}/domains`)
  await expect(page.getByRole('table')).toBeVisible()
  await inspectInBothSchemes(page)
  await page.getByRole('link', { name: 'New domain' }).click()
  await expect(page.getByRole('heading', { level: 1, name: 'New domain' })).toBeVisible()
  await page.getByLabel('Host name').fill(host)
  await expect(
    page.getByText(`Pages will be at ${host}, and the API at api.${host}.`)
  ).toBeVisible()
  await page.getByRole('button', { name: 'Continue' }).click()
  await expect(page).toHaveURL(/\?step=records$/)
  const record = page.getByRole('listitem').filter({ hasText: 'Proves that the host is yours' })
  const name = `_domain-check.${host}`
  await expect(record.getByText('_domain-check.archive', { exact: true })).toBeVisible()
  await expect(record.getByText(name, { exact: true })).toBeVisible()
  const value = (await record.locator('.fingerprint').last().textContent()) ?? ''
  expect(value).toMatch(/^\w{40}$/)
  expect((await visitor.goto(siteOf(host)))?.status()).toBe(421)

  await page.getByRole('button', { name: 'I added them' }).click()
  await expect(page.getByText(`DNS does not know ${name} yet.`)).toBeVisible()
  dns.set(name, { txt: [['another value']] })
  await page.getByRole('button', { name: 'Check now' }).click()
  await expect(page.getByText('but with another value.')).toBeVisible()
  await expect(page.getByText('another value', { exact: true })).toBeVisible()
  dns.set(name, { txt: [['another value'], [value]] })
  // this page asks again by itself
  await inspectInBothSchemes(page)
  await expect(page.getByText(`${host} is yours. Its pages are live.`)).toBeVisible({
    timeout: 60_000
  })
  await expect.poll(() => mainColor(visitor, siteOf(host))).toBe('#d24011')
  await page.getByRole('button', { name: 'Continue to the look' }).click()
  return host
}

/** Changes the look of a host, publishes the look, and restores the previous one. */
async function brandHost(page: Page, { host, visitor }: { host: string; visitor: Page }) {
  const look = section(page, 'Look')
  const colour = () => mainColor(visitor, siteOf(host))
  await look.getByLabel('Main color', { exact: true }).fill('#FF7A00')
  await expect(
    look.getByText('#ff7a00 becomes #bd5900 in light mode, where white text sits on it.')
  ).toBeVisible()
  const preview = look.locator('[data-theme-sample=light] .btn-primary').first()
  await expect(preview).toHaveCSS('background-color', 'rgb(189, 89, 0)')
  const logo = look.getByLabel('Logo', { exact: true })
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
  await look.getByRole('button', { name: `Publish on ${host}` }).click()
  await expect(page.getByText(`${host} has its new look.`)).toBeVisible()
  await expect(look.getByText('There is nothing to publish.')).toBeVisible()
  await expect(look.getByText(/^Ada Admin, /)).toBeVisible()
  await expect.poll(colour).toBe('#bd5900')
  const expectLogo = async (picture: string) => {
    const shown = visitor.locator('.bar-logo img').filter({ visible: true })
    const source = `data:image/svg+xml;base64,${Buffer.from(picture).toString('base64')}`
    await expect(shown).toHaveAttribute('src', source)
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

  await look.getByRole('button', { name: 'Restore version 1' }).click()
  await expect(page.getByText('Version 1 is published again.')).toBeVisible()
  await expect(look.getByText('(version 1 again)')).toBeVisible()
  await expect.poll(colour).toBe('#d24011')
  await page.getByRole('button', { name: 'Undo' }).click()
  await expect(look.getByText('(version 2 again)')).toBeVisible()
  await expect.poll(colour).toBe('#bd5900')

  await page.getByRole('button', { name: 'Continue' }).click()
  await expect(page.getByText(`${host} is live.`)).toBeVisible()
  await page.getByRole('button', { name: 'Settings of this domain' }).click()
  await expect(section(page, 'Settings')).toBeVisible()
  await inspectInBothSchemes(page)
  await page.getByRole('button', { name: 'Make it the main domain' }).click()
  await expect(page.getByText('Main domain: emails of your company lead here.')).toBeVisible()
  await expect(page.getByRole('heading', { level: 1 })).toBeFocused()
  await expect(page.getByText('Ada Admin made', { exact: false })).toBeVisible()
}

test('an administrator renames the company beside an operator, who chooses what to keep', async ({
  page,
  browser
}) => {
  const own = await signUpOperator(page)
  const company = { name: `Beta ${Date.now()}`, host: newHost(), email: newEmail() }
  await createCompany(page, own, company)
  const second = await (await browser.newContext()).newPage()
  await signUpOperator(second)
  await second.goto(page.url())
  const rename = async (actor: Page, name: string) => {
    const card = actor.getByRole('region', { name: 'Company' })
    await card.getByRole('button', { name: 'Rename' }).click()
    await expect(card.getByLabel('Name')).toBeFocused()
    await card.getByLabel('Name').fill(name)
  }
  await rename(second, 'Second name')
  await rename(page, `First ${company.name}`)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { level: 1, name: `First ${company.name}` })).toBeVisible()
  await expect(banner(page)).toContainText(`You are acting in First ${company.name} as operator.`)
  await second.getByRole('button', { name: 'Save' }).click()
  const conflict = second.locator('[data-state=changed]')
  await conflict.getByLabel(/Theirs/).check()
  await conflict.getByRole('button', { name: 'Save this choice' }).click()
  await expect(conflict).toHaveCount(0)
  await expect(second.getByRole('heading', { level: 1 })).toHaveText(`First ${company.name}`)
})

test('companies in French, narrow and dark, with a domain that waits for its proof', async ({
  page
}) => {
  const own = await signUpOperator(page, 'fr')
  await page.setViewportSize({ width: 320, height: 800 })
  const name = `Société ${Date.now()}`
  await page.goto(`${home('fr')}/admin/${own}/create/company`)
  await expect(page.locator('main form [type=submit]')).toBeEnabled()
  await inspectInBothSchemes(page)
  const host = `docs-${crypto.randomUUID().slice(0, 8)}.fr`
  await createCompany(page, own, { name, host, email: newEmail() }, 'fr')
  await expect(page.getByText(`${host} n’est pas encore validé`)).toBeVisible()
  const proof = page.getByRole('link', { name: 'Valider le domaine' })
  await expect(proof).toHaveAttribute('href', /\/fr\/admin\/[0-9a-f-]+\/domains\/[0-9a-f-]+$/)
  await expect(page.getByText(`_domain-check.${host}`)).toBeVisible()
  await expect(banner(page)).toContainText(`Vous agissez dans ${name} en tant qu’opérateur.`)
  await inspectInBothSchemes(page)
  await page.getByRole('button', { name: 'Suspendre…' }).click()
  await page.getByLabel('Motif').selectOption('requested')
  await page.getByRole('button', { name: 'Suspendre', exact: true }).click()
  await expect(page.getByText('À sa demande')).toBeVisible()
  await inspectInBothSchemes(page)
  // an invitation for which there is neither a link nor a mail to come
  await askDatabase('update domain set verified_at = now() where host = $1', [host])
  await page.goto(`${home('fr')}/admin`)
  await expect(page.getByRole('table')).toBeVisible()
  const attention = page.locator('[data-attention=ready]')
  await expect(attention).toBeVisible()
  const more = attention.getByRole('button', { name: /^Afficher/ })
  if (await more.isVisible()) await more.click()
  await expect(attention.getByRole('link', { name, exact: true })).toBeVisible()
  await expect(
    attention.getByRole('link', { name: 'Voir les personnes invitées' }).first()
  ).toBeVisible()
  await inspectInBothSchemes(page)
})

test('companies and domains are administered by the keyboard alone', async ({ page, browser }) => {
  await using dns = await startDnsServer({ port: Number(new URL(home()).port) + 2 })
  const own = await signUpOperator(page, 'en', password)
  const company = { name: `Keys ${Date.now()}`, host: newHost(), email: newEmail() }
  const press = async (...keys: string[]) => {
    for (const key of keys) await page.keyboard.press(key)
  }
  const follow = async (role: 'link' | 'button', name: string | RegExp) => {
    await tabTo(page, role, name)
    await press('Enter')
  }
  const title = (name: string) => page.getByRole('heading', { level: 1, name, exact: true })
  const type = async (name: string, text: string) => {
    await tabTo(page, 'textbox', name)
    await page.keyboard.type(text)
  }

  await test.step('creates a company, suspends it and resumes it', async () => {
    await page.goto(`${home()}/admin`)
    await expect(page.getByRole('table')).toBeVisible()
    await follow('link', 'New company')
    await expect(title('New company')).toBeFocused()
    await type('Name', company.name)
    await type('First domain', company.host)
    await type('Email of the first administrator', company.email)
    await press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Confirm with your password' })
    await expect(dialog.getByLabel('Password', { exact: true })).toBeFocused()
    await page.keyboard.type(password)
    await press('Enter')
    await expect(title(company.name)).toBeFocused()
    await follow('button', 'Suspend…')
    await expect(page.getByLabel('Reason')).toBeFocused()
    await page.keyboard.type('A payment')
    await expect(page.getByLabel('Reason')).toHaveValue('payment')
    await follow('button', 'Suspend')
    const notice = page.getByRole('region', { name: `${company.name} is suspended` })
    await expect(notice.getByRole('heading')).toBeFocused()
    await follow('button', 'Resume')
    await expect(notice).toHaveCount(0)
    await expect(title(company.name)).toBeFocused()
  })

  const host = `keys.c${crypto.randomUUID().slice(0, 8)}.fr`
  await test.step('claims a host and proves it', async () => {
    await follow('link', 'Domains')
    await expect(title('Domains')).toBeFocused()
    await expect(page.getByRole('table')).toBeVisible()
    await follow('link', 'New domain')
    await expect(title('New domain')).toBeFocused()
    await type('Host name', host)
    await press('Enter')
    await expect(page).toHaveURL(/\?step=records$/)
    await expect(title(host)).toBeFocused()
    const record = page.getByRole('listitem').filter({ hasText: 'Proves that the host is yours' })
    const value = (await record.locator('.fingerprint').last().textContent()) ?? ''
    await follow('button', 'Copy value')
    await follow('button', 'I added them')
    await expect(page.getByRole('heading', { name: 'Check the proof' })).toBeFocused()
    await expect(page.getByText(/^DNS does not know /)).toBeVisible()
    await tabTo(page, 'button', 'Check now')
    dns.set(`_domain-check.${host}`, { txt: [[value]] })
    await press('Enter')
    await expect(page.getByText(`${host} is yours. Its pages are live.`)).toBeVisible()
    // where the button was that is gone
    await expect(page.getByRole('button', { name: 'Continue to the look' })).toBeFocused()
    await expectFocusSeen(page)
    await press('Enter')
    // the step itself, because its heading has yet to be loaded
    await expect(page.locator('main div:focus')).toContainText('Main color')
  })

  await test.step('gives it a look, publishes it and restores the first one', async () => {
    const look = section(page, 'Look')
    const visitor = await (await browser.newContext({ colorScheme: 'light' })).newPage()
    const before = await mainColor(visitor, siteOf(host))
    await type('Main color', '#006644')
    const dark = look.getByRole('switch')
    await tabToTarget(page, dark, 'the switch of the dark mode')
    await press('Space')
    await expect(dark).toBeChecked()
    await press('Space')
    const more = look.getByText('More colors')
    await tabToTarget(page, more, 'the further colors')
    await press('Enter')
    await type('Background', '#fafafa')
    const logo = look.getByLabel('Logo', { exact: true })
    await tabToTarget(page, logo, 'the logo')
    // the system's own dialog is the one thing that a test cannot type into
    await logo.setInputFiles(svgFile(logoSvg()))
    await expect(look.getByText('Logo: new picture')).toBeVisible()
    await expect(look.getByText('Draft saved')).toBeVisible()
    await follow('button', `Publish on ${host}`)
    await expect(look.getByRole('heading', { name: 'Publish', exact: true })).toBeFocused()
    await expect.poll(() => mainColor(visitor, siteOf(host))).toBe('#006644')
    await follow('button', 'Restore version 1')
    await expect(look.getByText('(version 1 again)')).toBeVisible()
    await expect(look.getByRole('heading', { name: 'Published looks' })).toBeFocused()
    await expect.poll(() => mainColor(visitor, siteOf(host))).toBe(before)
  })

  await test.step('goes live, and moves the host to the own company', async () => {
    await follow('button', 'Continue')
    await expect(page.getByRole('heading', { name: 'Go live' })).toBeFocused()
    await tabTo(page, 'link', `Open ${host}`)
    await follow('button', 'Settings of this domain')
    await expect(page.getByRole('heading', { name: 'Settings', exact: true })).toBeFocused()
    await follow('button', 'Edit')
    await expect(page.getByLabel('Name', { exact: true })).toBeFocused()
    await tabTo(page, 'textbox', 'Title')
    await press('ControlOrMeta+A')
    await page.keyboard.type('By keys alone')
    await press('Enter')
    await expect(page.getByText('By keys alone', { exact: true })).toBeVisible()
    await expect(page.getByRole('button', { name: 'Edit' })).toBeFocused()
    // the check goes once the record is back, and with it the button that was pressed
    const [proof] = await askDatabase<{ proof_token: string }>(
      `update domain set failing_since = now() - interval '1 day' where host = $1
       returning proof_token`,
      [host]
    )
    dns.delete(`_domain-check.${host}`)
    await page.reload()
    await expect(page.getByText(/^DNS does not know /)).toBeVisible()
    await tabTo(page, 'button', 'Check now')
    dns.set(`_domain-check.${host}`, { txt: [[proof?.proof_token ?? '']] })
    await press('Enter')
    await expect(page.getByRole('button', { name: 'Check now' })).toHaveCount(0)
    await expect(page.locator('main div:focus')).toContainText('Live')
    await follow('button', 'Move…')
    const [mine] = await askDatabase<{ name: string }>('select name from company where id = $1', [
      own
    ])
    await page.keyboard.type(mine?.name ?? '')
    await expect(page.getByRole('option', { name: mine?.name ?? '', exact: true })).toBeVisible()
    await press('Enter')
    await follow('button', 'Move the domain')
    await expect(page).toHaveURL(new RegExp(`/en/admin/${own}/domains/[0-9a-f-]+$`))
    await expect(title(host)).toBeFocused()
    await follow('button', 'Remove domain…')
    await page.keyboard.type(host)
    await press('Enter')
    await expect(page.getByText(`${host} was removed.`)).toBeVisible()
    await expect(title('Domains')).toBeFocused()
  })
})
