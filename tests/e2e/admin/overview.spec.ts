import { expect, type Page } from '@playwright/test'
import { fetchAt } from '../../helpers/client.ts'
import { inspectInBothSchemes } from '../../helpers/e2e/accessibility.ts'
import { askDatabase, makeAdmin } from '../../helpers/e2e/admins.ts'
import { test } from '../../helpers/e2e/journey.ts'
import { expectFocusSeen } from '../../helpers/e2e/keyboard.ts'
import { inspectAtWidths } from '../../helpers/e2e/looks.ts'
import { startSession } from '../../helpers/e2e/page.ts'

test('a limit that is used up is named, raised through its link, and is gone', async ({ page }) => {
  const { admin, name, company, group } = await makeLimitedGroup(page)
  await page.goto(admin)
  const list = attention(page)
  await expect(list).toContainText('Act now')
  await expect(list).toContainText(/limits? of (a group|groups)/)
  const link = list.getByRole('link', { name: `${name}: 100 of 100 (deposits and verifications)` })
  await expect(link).toBeVisible()
  await inspectInBothSchemes(page)
  await link.click()
  await expect(page.getByRole('heading', { level: 1, name })).toBeVisible()
  await page.goBack()
  await expect(link).toBeVisible()

  await ask(page, 'PUT', `/group/${group}`, { max_requests: 1000 })
  await page.evaluate(() => window.dispatchEvent(new Event('focus')))
  await expect(link).toHaveCount(0)
  await askDatabase('delete from usage where group_id = $1', [group])
  expect(company).toMatch(/^[0-9a-f-]{36}$/)
})

test('what cannot be refreshed stays and says from when it is', async ({ page }) => {
  const { admin } = await signUpAdmin(page)
  await page.goto(admin)
  await expect(attention(page)).toContainText(/Checked at/)
  await page.route('**/company/*/attention', route => route.abort())
  await page.evaluate(() => window.dispatchEvent(new Event('focus')))
  await expect(attention(page)).toContainText('This could not be refreshed.')
  await page.reload()
  await expect(attention(page).getByRole('alert')).toBeVisible()
  // the other parts are there
  await expect(page.getByRole('region', { name: 'Company' })).toBeVisible()
  await expect(page.getByRole('region', { name: 'Usage by day' })).toBeVisible()
  await page.unroute('**/company/*/attention')
  await attention(page).getByRole('button', { name: 'Check again' }).click()
  await expect(attention(page)).toContainText(/Checked at/)
})

test('the usage by day is read with the keyboard, and all figures stand in a table', async ({
  page
}) => {
  const { admin } = await signUpAdmin(page)
  await ask(page, 'POST', '/verify', {
    items: ['1', '2', '3'].map(digit => ({ sha256: digit.repeat(64) }))
  })
  await page.goto(admin)
  const usage = page.getByRole('region', { name: 'Usage by day' })
  const chart = usage.getByRole('slider')
  await expect(chart).toHaveAttribute('aria-valuetext', /[3-9]|\d{2,} verifications/)
  await chart.focus()
  await expectFocusSeen(page)
  const today = await chart.getAttribute('aria-valuetext')
  await page.keyboard.press('ArrowLeft')
  await expect(chart).not.toHaveAttribute('aria-valuetext', today ?? '')
  await page.keyboard.press('End')
  await expect(chart).toHaveAttribute('aria-valuetext', today ?? '')
  await usage.getByText('Figures as a table').click()
  await expect(usage.getByRole('row')).toHaveCount(31)
  await usage.getByRole('radio', { name: '90 days' }).check()
  await expect(usage.getByRole('row')).toHaveCount(91)
  await inspectInBothSchemes(page)
})

test('the overview in French, narrow, with sections that scroll', async ({ page }) => {
  const { admin } = await signUpAdmin(page, 'fr')
  await ask(page, 'POST', '/verify', { items: [{ sha256: '4'.repeat(64) }] })
  await page.goto(admin)
  await expect(attention(page, 'À traiter')).toContainText('Contrôle effectué à')
  await inspectAtWidths(page, 768, 1280)
  await page.setViewportSize({ width: 320, height: 800 })
  const sections = page.getByRole('navigation', { name: 'Rubriques de l’administration' })
  const last = sections.getByRole('link').last()
  await last.focus()
  await expect(last).toBeInViewport({ ratio: 0.99 })
  await page.goto(`${admin}/groups`)
  await expect(sections.locator('[aria-current]')).toBeInViewport({ ratio: 0.99 })
  await page.goto(admin)
  await expect(page.locator('footer')).toContainText(/Vidimus \d+\.\d+\.\d+/)
})

async function signUpAdmin(page: Page, locale = 'en') {
  const site = `${test.info().project.use.baseURL}/${locale}`
  const email = await startSession(page, site, { username: 'Anna Admin' })
  const company = await makeAdmin(email)
  return { company, admin: `${site}/admin/${company}` }
}

/** Makes a group that has used its 100 requests. */
async function makeLimitedGroup(page: Page) {
  const { company, admin } = await signUpAdmin(page)
  const name = `Limited ${crypto.randomUUID().slice(0, 8)}`
  const { id: group } = await ask(page, 'POST', '/group', { name, max_requests: 100 })
  await askDatabase(
    `insert into usage (company_id, group_id, kind, period_start, used)
     select company_id, id, 'requests', date_trunc('day', created_at at time zone 'utc') at time zone 'utc', 100
     from "group" where id = $1`,
    [group]
  )
  return { company, admin, name, group }
}

/** Makes a call of the API as the person who is signed in. */
async function ask(page: Page, method: string, path: string, body: object) {
  const { host, port, protocol } = new URL(test.info().project.use.baseURL ?? '')
  const cookies = await page.context().cookies()
  const token = cookies.find(({ name }) => name === '__Host-vidimus')?.value
  const answer = await fetchAt(Number(port))(`${protocol}//api.${host}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body)
  })
  const text = await answer.text()
  expect(answer.status, text).toBeLessThan(300)
  return JSON.parse(text)
}

function attention(page: Page, name = 'Needs attention') {
  return page.getByRole('region', { name })
}
