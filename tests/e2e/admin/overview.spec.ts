import { expect, type Page } from '@playwright/test'
import { callApi, queryServiceDatabase, signUpAdmin } from '../../helpers/e2e/admins.ts'
import { fetchLocally } from '../../helpers/e2e/api-stubs.ts'
import { test } from '../../helpers/e2e/journey.ts'
import { expectFocusSeen } from '../../helpers/e2e/keyboard.ts'
import { inMatrix, inspectAtWidths, inspectInTurn } from '../../helpers/e2e/looks.ts'

test('the overview names what needs attention, and shows the usage by day', {
  tag: '@matrix'
}, async ({ page }) => {
  await test.step('a limit that is used up is named, raised through its link, and is gone', async () => {
    const { admin, name, group } = await makeLimitedGroup(page)
    await page.goto(admin)
    const list = attention(page)
    await expect(list).toContainText('Act now')
    await expect(list).toContainText(/limits? of (a group|groups)/)
    const link = list.getByRole('link', {
      name: `${name}: 100 of 100 (deposits and verifications)`
    })
    await expect(link).toBeVisible()
    await inspectInTurn(page)
    await link.click()
    await expect(page.getByRole('heading', { level: 1, name })).toBeVisible()
    await page.goBack()
    await expect(link).toBeVisible()

    await callApi(page, 'PUT', `/group/${group}`, { max_requests: 1000 })
    await page.evaluate(() => window.dispatchEvent(new Event('focus')))
    await expect(link).toHaveCount(0)
    await queryServiceDatabase('delete from usage where group_id = $1', [group])
  })

  await test.step('the usage by day is read with the keyboard, and all figures stand in a table', async () => {
    const { admin } = await signUpAdmin(page)
    await callApi(page, 'POST', '/verify', {
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
    await usage.getByText('Show the table').click()
    await expect(usage.getByRole('row')).toHaveCount(31)
    await usage.getByRole('radio', { name: '90 days' }).check()
    await expect(usage.getByRole('row')).toHaveCount(91)
    await inspectInTurn(page)
  })
})

test('where nothing needs attention, that is said, with the time', inMatrix, async ({ page }) => {
  const { admin } = await signUpAdmin(page)
  await page.route('**/company/*/attention', async route => {
    const { response, body } = await fetchLocally(route)
    const answer: object = JSON.parse(body.toString())
    const json = { ...answer, checked: new Date(2026, 10, 27, 13, 39).toISOString(), items: [] }
    await route.fulfill({ response, json })
  })
  await page.goto(admin)
  await expect(attention(page)).toContainText('Everything is in order.')
  await expect(attention(page)).toContainText(/Checked at 1:39\sPM\./)
})

test('what cannot be refreshed stays and says from when it is', inMatrix, async ({ page }) => {
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

test('the overview in French, narrow, with sections that scroll', async ({ page }) => {
  const { admin } = await signUpAdmin(page, 'fr')
  await callApi(page, 'POST', '/verify', { items: [{ sha256: '4'.repeat(64) }] })
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

/** Signs up an administrator, and makes a group that has used its 100 requests. */
async function makeLimitedGroup(page: Page) {
  const { admin } = await signUpAdmin(page)
  const name = `Limited ${crypto.randomUUID().slice(0, 8)}`
  const { id: group } = await callApi(page, 'POST', '/group', { name, max_requests: 100 })
  await queryServiceDatabase(
    `insert into usage (company_id, group_id, kind, period_start, used)
     select company_id, id, 'requests', date_trunc('day', created_at at time zone 'utc') at time zone 'utc', 100
     from "group" where id = $1`,
    [group]
  )
  return { admin, name, group }
}

function attention(page: Page, name = 'Needs attention') {
  return page.getByRole('region', { name })
}
