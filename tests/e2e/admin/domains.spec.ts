import { expect } from '@playwright/test'
import { createCompany } from '../../../src/contract/companies.ts'
import { type Colors, updateDomain } from '../../../src/contract/domains.ts'
import { themeCss } from '../../../src/core/theme/theme-colors.ts'
import { newEmail, signUpAt } from '../../helpers/client.ts'
import { inspectPage } from '../../helpers/e2e/accessibility.ts'
import {
  confirmSession,
  makeAdmin,
  queryServiceDatabase,
  section,
  signUpAdmin
} from '../../helpers/e2e/admins.ts'
import { test } from '../../helpers/e2e/journey.ts'
import { tabTo } from '../../helpers/e2e/keyboard.ts'
import { checkedLocales, inMatrix, inspectInTurn } from '../../helpers/e2e/looks.ts'
import { homeAddress, password, startSession } from '../../helpers/e2e/page.ts'
import { logoSvg, svgFile } from '../../helpers/e2e/themes.ts'
import { createRandom } from '../../helpers/random.ts'
import { runCount, seed, testTimeout } from '../../helpers/soak.ts'
import { translatorOfAllWords } from '../../helpers/words.ts'

/**
 * Adds a domain to a company, so that a test changes no pages of other tests. The id sorts last,
 * because the domain whose id sorts first is the company's main one.
 */
async function addDomain(company: string, { isVerified }: { isVerified: boolean }) {
  const name = `brand-${newEmail()
    .replace(/[^a-z0-9]/g, '')
    .slice(0, 24)}`
  const host = isVerified ? `${name}.localhost` : `${name}.example.com`
  const [domain] = await queryServiceDatabase<{ id: string }>(
    `insert into domain
       (company_id, id, host, name, title, public, locale, theme, verified_at, proof_token)
     select company_id, overlay(gen_random_uuid()::text placing 'f' from 1)::uuid, $2, name, title, true, 'en', theme,
            case when $3 then now() end, case when $3 then null else 'a-token-for-this-test' end
       from domain where company_id = $1 and host = 'localhost' returning id`,
    [company, host, isVerified]
  )
  const { port } = new URL(homeAddress())
  return { id: domain?.id ?? '', host, site: `http://${host}:${port}/en` }
}

test(
  'of two administrators who change the same color, the second chooses',
  inMatrix,
  async ({ page, browser }) => {
    const [own] = await queryServiceDatabase<{ company_id: string }>(
      `select company_id from domain where host = 'localhost'`,
      []
    )
    const { id, site } = await addDomain(own?.company_id ?? '', { isVerified: true })
    // the service learns of a row that it has not written itself within a second
    await expect.poll(async () => (await page.goto(site))?.status()).toBe(200)
    const { admin } = await signUpAdmin(page, 'en', { site })
    const other = await (await browser.newContext()).newPage()
    await signUpAdmin(other, 'en', { site })
    for (const each of [page, other]) {
      await each.goto(`${admin}/domains/${id}`)
      await expect(section(each, 'Look').getByText('There is nothing to publish.')).toBeVisible()
    }
    await section(other, 'Look').getByLabel('Second color', { exact: true }).fill('#006644')
    await expect(section(other, 'Look').getByText('Draft saved')).toBeVisible()
    await section(page, 'Look').getByLabel('Second color', { exact: true }).fill('#663399')
    const conflict = page.getByRole('form', { name: 'Someone else has changed this' })
    await expect(conflict).toContainText('#663399')
    await expect(conflict).toContainText('#006644')
    await conflict.getByRole('button', { name: /theirs/i }).click()
    await expect(conflict).toHaveCount(0)
    await expect(section(page, 'Look').getByLabel('Second color', { exact: true })).toHaveValue(
      '#006644'
    )

    // what only one of them has changed is kept for both
    await section(other, 'Look').getByRole('switch').check()
    await expect(section(other, 'Look').getByText('Draft saved')).toBeVisible()
    await section(page, 'Look')
      .getByLabel('Logo', { exact: true })
      .setInputFiles(svgFile(logoSvg()))
    await expect(section(page, 'Look').getByText('Default mode: light')).toBeVisible()
    await expect(section(page, 'Look').getByText('Logo: new picture')).toBeVisible()

    // why a picture was refused stays while another one is chosen
    const look = section(page, 'Look')
    const styled = logoSvg('<style>@import url(a.css);</style>')
    await look.getByLabel('Logo in dark mode', { exact: true }).setInputFiles(svgFile(styled))
    await expect(look.getByText('presentation attributes')).toBeVisible()
    await look.getByLabel('Browser icon', { exact: true }).setInputFiles(svgFile(logoSvg()))
    await expect(look.getByText('Browser icon: new picture')).toBeVisible()
    await expect(look.getByText('Draft saved')).toBeVisible()
    await expect(look.getByText('presentation attributes')).toBeVisible()

    // the page itself shows what is published, and the editor what was restored
    const logo = page.locator('.bar-logo img').first()
    const secondary = () =>
      page.evaluate(() =>
        getComputedStyle(document.documentElement).getPropertyValue('--color-secondary')
      )
    const standard = await secondary()
    await look.getByRole('button', { name: /^Publish on/ }).click()
    await expect(logo).toHaveAttribute('src', /230a7/)
    expect(await secondary()).not.toBe(standard)
    await look.getByRole('button', { name: 'Restore version 1' }).click()
    await page.getByRole('button', { name: 'Publish version 1' }).click()
    await expect(look.getByText('Version 3 (version 1 again)')).toBeVisible()
    await expect.poll(secondary).toBe(standard)
    await expect(logo).not.toHaveAttribute('src', /230a7/)
    await expect(look.getByLabel('Second color', { exact: true })).toHaveValue('')
    await expect(look.getByText('There is nothing to publish.')).toBeVisible()
  }
)

test('a domain is set up, moved, and removed by those who may', async ({ page }) => {
  await test.step('nobody but operators moves a host, and never the main one', async () => {
    const { company, admin, email } = await signUpAdmin(page)
    const { id } = await addDomain(company, { isVerified: true })
    await page.goto(`${admin}/domains/${id}`)
    await expect(section(page, 'Main domain')).toBeVisible()
    await expect(section(page, 'Move to another company')).toHaveCount(0)
    await makeAdmin(email, ['admin', 'operator'])
    const [main] = await queryServiceDatabase<{ id: string }>(
      `select id from domain where host = 'localhost'`,
      []
    )
    await page.goto(`${admin}/domains/${main?.id}`)
    const move = section(page, 'Move to another company')
    await expect(move).toContainText('first make another domain the main one')
    await expect(move.getByRole('button')).toHaveCount(0)
  })

  await test.step('a host that waits for its proof needs attention, and its link leads to the records', async () => {
    const { id, domains } = await addCompany()
    const [waiting] = domains
    await queryServiceDatabase(
      `update domain set verified_at = null, proof_token = 'a-token-for-this-test',
       created_at = now() - interval '2 days' where company_id = $1`,
      [id]
    )
    const { email } = await signUpAdmin(page)
    await makeAdmin(email, ['admin', 'operator'])
    const host = waiting?.host ?? ''
    await page.goto(`${homeAddress()}/admin`)
    const all = page.locator('[data-attention=ready]')
    await expect(all).toBeVisible()
    const more = all.getByRole('button', { name: /^Show .* more/ })
    if (await more.isVisible()) await more.click()
    await expect(all.getByRole('link', { name: host, exact: true })).toBeVisible()
    await page.goto(`${homeAddress()}/admin/${id}`)
    const attention = section(page, 'Needs attention')
    await expect(attention).toContainText('1 domain is not verified yet')
    await expect(attention).toContainText('To do')
    await inspectInTurn(page)
    await attention.getByRole('link', { name: host, exact: true }).click()
    await expect(page.getByRole('heading', { name: 'Add these DNS records' })).toBeVisible()
  })

  await test.step('the settings of a host are edited in place, and its removal asks to type it', async () => {
    const { company, admin, email } = await signUpAdmin(page)
    await confirmSession(email)
    const { id, host } = await addDomain(company, { isVerified: true })
    await page.goto(`${admin}/domains/${id}`)
    const settings = section(page, 'Settings')
    await settings.getByRole('button', { name: 'Edit' }).click()
    await settings.getByLabel('Title').fill('Archive of Acme')
    await settings.getByLabel('Privacy policy').fill('acme.example/privacy')
    await settings.getByRole('button', { name: 'Save' }).click()
    await expect(settings.getByLabel('Privacy policy')).toBeFocused()
    await expect(settings.getByText('Enter a web address that begins with https://.')).toBeVisible()
    await settings.getByLabel('Privacy policy').fill('https://acme.example/privacy')
    await settings.getByLabel('By invitation').check()
    await settings.getByRole('button', { name: 'Save' }).click()
    await expect(settings.getByText('Archive of Acme')).toBeVisible()
    await expect(settings.getByText('Only people you invite get an account.')).toBeVisible()
    await expect(settings.getByRole('button', { name: 'Edit' })).toBeFocused()

    await page.getByRole('button', { name: 'Remove domain…' }).click()
    await page.getByLabel(`Type ${host} to confirm`).fill('another.host')
    await page.getByRole('button', { name: 'Remove for good' }).click()
    await expect(page.getByText(`must be equal to the ${host} value`)).toBeVisible()
    await page.getByLabel(`Type ${host} to confirm`).fill(host)
    await page.keyboard.press('Enter')
    await expect(page.getByText(`${host} was removed.`)).toBeVisible()
    await expect(page.getByRole('heading', { level: 1, name: 'Domains' })).toBeFocused()
  })
})

test('a name is judged while it is typed, and each step reads well in French, on a phone, in the dark', {
  tag: '@matrix'
}, async ({ page }) => {
  await page.setViewportSize({ width: 320, height: 700 })
  const { company, admin } = await signUpAdmin(page, 'fr')
  // until then, the service alone judges the end of a name
  const topLevels = page.waitForResponse(/\/_astro\/top-level-domains\./)
  await page.goto(`${admin}/create/domain`)
  await (await topLevels).finished()
  await expect(page.locator('main form [type=submit]')).toBeEnabled()
  const field = page.getByLabel('Domaine')
  // hidden until the page knows that the person is an administrator
  await expect(field).toBeVisible()
  await field.focus()
  await page.keyboard.type('api.a')
  await expect(page.getByText('appartiennent à l’API d’un autre domaine')).toBeVisible()
  await field.fill('')
  await page.keyboard.type('docs.acme.nonsense')
  await page.keyboard.press('Enter')
  await expect(field).toBeFocused()
  await expect(
    page.getByText('Il n’existe pas de domaine de premier niveau .nonsense.')
  ).toBeVisible()
  await field.fill('*.acme.fr')
  await expect(
    page.getByText('Tous les noms formés d’un mot devant acme.fr mèneront ici')
  ).toBeVisible()
  await inspectInTurn(page)

  const { id, host } = await addDomain(company, { isVerified: false })
  await page.goto(`${admin}/domains/${id}`)
  await expect(page.getByText(`_domain-check.${host}`, { exact: true })).toBeVisible()
  await expect(page.getByText(`api.${host}`, { exact: true })).toBeVisible()
  await inspectInTurn(page)
  // from here on the keyboard alone
  await page.getByRole('button', { name: 'C’est fait' }).focus()
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\?step=check$/)
  await expect(page.getByRole('heading', { name: 'Vérifier le DNS' })).toBeFocused()
  await page.reload()
  await expect(page.getByRole('heading', { name: 'Vérifier le DNS' })).toBeVisible()
  await page.getByRole('link', { name: '4. Apparence' }).focus()
  await page.keyboard.press('Enter')
  await expect(page.getByText('Il n’y a rien à publier')).toBeVisible()
  await inspectInTurn(page)
})

/** Creates a company with a host of its own, as a new operator. Returns the company. */
async function addCompany() {
  const { hostname, port } = new URL(homeAddress())
  const operator = await signUpAt(Number(port), hostname, { email: newEmail() })
  await makeAdmin(operator.email, ['admin', 'operator'])
  await confirmSession(operator.email)
  const name = `Other ${newEmail().slice(7, 15)}`
  const host = `${newEmail().slice(7, 15)}.localhost`
  return operator.call(createCompany, { name, host, email: newEmail() })
}

for (const locale of checkedLocales) {
  test(`the page of a host that was lost keeps what it had, and a claim of it is named (${locale})`, {
    tag: '@matrix'
  }, async ({ page }) => {
    const t = translatorOfAllWords(locale)
    const { company, admin } = await signUpAdmin(page, locale)
    const { id, host } = await addDomain(company, { isVerified: false })
    const winner = await addCompany()
    await page.goto(`${admin}/domains/${id}`)
    await expect(page.getByRole('heading', { name: t('domains.records.title') })).toBeVisible()
    await queryServiceDatabase(
      'update domain set host = $2, verified_at = now() where company_id = $1',
      [winner.id, host]
    )
    // the words that follow the date
    const lost = t('domains.taken.lost', { host, since: '' }).split('. ')[1] ?? ''
    const text = t('domains.taken.text', { host, name: `_domain-check.${host}` })
    await page.reload()
    await expect(page.getByText(text)).toBeVisible()
    await expect(section(page, t('domains.settings.heading'))).toHaveCount(0)

    await queryServiceDatabase(
      `update domain set quarantined_at = '2026-10-01T12:00:00Z' where id = $1`,
      [id]
    )
    await page.reload()
    await expect(page.getByText(lost)).toBeVisible()
    await expect(page.getByText(`_domain-check.${host}`, { exact: true })).toBeVisible()
    const settings = section(page, t('domains.settings.heading'))
    await settings.getByRole('button', { name: t('domains.settings.edit') }).click()
    await settings.getByLabel(t('labels.title')).fill('Kept for later')
    await settings.getByRole('button', { name: t('domains.settings.save') }).click()
    await expect(settings.getByText('Kept for later')).toBeVisible()
    const look = section(page, t('domains.look.title'))
    await expect(look.getByText(t('domains.look.publish.none'))).toBeVisible()
    await expect(section(page, t('changes.recent.title'))).toBeVisible()
    await expect(page.getByText(t('domains.delete.unserved'))).toBeVisible()
    await inspectInTurn(page)

    // whoever claims it again is led to it
    await page.goto(`${admin}/create/domain`)
    await expect(page.locator('main form [type=submit]')).toBeEnabled()
    await page.getByLabel(t('domains.create.host')).fill(host)
    await page.keyboard.press('Enter')
    await expect(page.getByText(t('domains.create.claimed'))).toBeVisible()
    await inspectInTurn(page)
    const [taken] = await queryServiceDatabase<{ host: string }>(
      'select host from domain where company_id <> $1 and verified_at is not null limit 1',
      [company]
    )
    await page.getByLabel(t('domains.create.host')).fill(taken?.host ?? '')
    await page.keyboard.press('Enter')
    await expect(page.getByText(t('domains.create.taken'))).toBeVisible()
    await page.getByLabel(t('domains.create.host')).fill(host)
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: t('domains.create.open', { host }) }).click()
    await expect(page.getByText(lost)).toBeVisible()
  })

  test(`an operator moves a host to another company by the keyboard alone (${locale})`, {
    tag: '@matrix'
  }, async ({ page }) => {
    const t = translatorOfAllWords(locale)
    const chosen = password
    const email = await startSession(page, homeAddress(locale), { username: 'Olga', chosen })
    const company = await makeAdmin(email, ['admin', 'operator'])
    const { id, host } = await addDomain(company, { isVerified: true })
    const target = await addCompany()
    await page.goto(`${homeAddress(locale)}/admin/${company}/domains/${id}`)
    await expect(section(page, t('moveDomain.title'))).toContainText(t('moveDomain.note', { host }))
    await tabTo(page, 'button', t('moveDomain.open'))
    await page.keyboard.press('Enter')
    const field = page.getByRole('combobox', { name: t('moveDomain.search') })
    await expect(field).toBeFocused()
    await tabTo(page, 'button', t('moveDomain.submit'))
    await page.keyboard.press('Enter')
    await expect(page.getByText(t('moveDomain.none'))).toBeVisible()
    await expect(field).toBeFocused()
    await page.keyboard.type(target.name)
    await expect(page.getByRole('option')).toHaveText(target.name)
    await inspectInTurn(page)
    await page.keyboard.press('Enter')
    await expect(section(page, t('moveDomain.title'))).toContainText(target.name)
    await tabTo(page, 'button', t('moveDomain.submit'))
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: t('forms.password.title') })
    await expect(dialog.getByLabel(t('account.password'), { exact: true })).toBeFocused()
    await page.keyboard.type(password)
    await page.keyboard.press('Enter')
    await expect(page).toHaveURL(new RegExp(`/${locale}/admin/${target.id}/domains/[0-9a-f-]+$`))
    await expect(page.getByText(t('moveDomain.done', { host, company: target.name }))).toBeVisible()
    await expect(page.getByRole('heading', { level: 1, name: host })).toBeFocused()
    await expect(section(page, t('domains.settings.heading'))).toContainText(target.name)
  })
}

// each pair of colors of 1,000 themes is measured in tests/unit/core/theme/theme-colors.test.ts
const themes = runCount(2, 50)

test('random themes can be read in both modes', inMatrix, async ({ browser }) => {
  test.setTimeout(testTimeout(300_000))
  const random = createRandom(seed)
  const { hostname, port } = new URL(homeAddress())
  const anna = await signUpAt(Number(port), hostname, { email: newEmail() })
  const company = await makeAdmin(anna.email)
  const { id, site } = await addDomain(company, { isVerified: true })
  const colour = () => `#${random.bytes(3).toString('hex')}`
  const stranger = await (await browser.newContext()).newPage()
  await expect.poll(async () => (await stranger.goto(site))?.status()).toBe(200)
  const admin = await (await browser.newContext()).newPage()
  await makeAdmin(await startSession(admin, site))
  const looks = [
    { page: stranger, path: '/verify' },
    { page: admin, path: `/admin/${company}/domains/${id}` },
    { page: stranger, path: '' },
    { page: admin, path: `/admin/${company}` },
    { page: stranger, path: '/sign-up' },
    { page: admin, path: '/me' },
    { page: stranger, path: '/docs' },
    { page: admin, path: `/admin/${company}/groups` },
    { page: admin, path: '/deposit' }
  ]
  for (let at = 0; at < themes; at++) {
    const colors: Colors = { dark: random.chance(0.5), primary: colour(), secondary: colour() }
    for (const role of ['background', 'surface', 'success', 'warning', 'error', 'info'] as const)
      if (random.chance(0.5)) colors[role] = colour()
    await anna.call(updateDomain, { id, theme: { colors } })
    await test.step(JSON.stringify(colors), async () => {
      const { page, path } = random.pick(looks)
      await expect
        .poll(async () => {
          await page.goto(`${site}${path}`)
          return page.locator('style').first().textContent()
        })
        .toBe(themeCss(colors))
      await expect(page.locator('main [data-state=loading]')).toHaveCount(0)
      for (const mode of ['vidimus', 'vidimus-dark']) {
        await page.evaluate(theme => {
          document.documentElement.dataset['theme'] = theme
        }, mode)
        await inspectPage(page, 'colors')
      }
    })
  }
})
