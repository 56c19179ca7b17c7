import { randomBytes } from 'node:crypto'
import { expect, type Page } from '@playwright/test'
import { fetchAt } from '../../helpers/client.ts'
import { confirmSession, queryServiceDatabase, signUpAdmin } from '../../helpers/e2e/admins.ts'
import { test } from '../../helpers/e2e/journey.ts'
import { expectFocusSeen } from '../../helpers/e2e/keyboard.ts'
import { inspectInTurn } from '../../helpers/e2e/looks.ts'
import { homeAddress, password } from '../../helpers/e2e/page.ts'

test('a program deposits with a key of a person, or of the company, until it is revoked', async ({
  page,
  context
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  const who = { username: 'Ada Admin', chosen: password }
  const { email, company, admin } = await signUpAdmin(page, 'en', who)
  const keys = page.getByRole('region', { name: 'API keys' })
  const name = keys.getByLabel('Name')

  await page.goto(`${homeAddress()}/me`)
  await expect(keys.getByText('No API keys.')).toBeVisible()
  // the keyboard alone
  await keys.getByRole('button', { name: 'Create key' }).focus()
  await page.keyboard.press('Enter')
  await expect(name).toBeFocused()
  await page.keyboard.press('Tab')
  await expect(keys.getByLabel('Deposit documents')).toBeFocused()
  await expect(keys.getByRole('checkbox', { checked: true })).toHaveCount(3)
  await page.keyboard.press('Space')
  await page.keyboard.press('Enter')
  await expect(keys.getByText('Value is required').first()).toBeVisible()
  await expect(name).toBeFocused()
  await page.keyboard.type('Scanner')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Space')
  await page.keyboard.press('Enter')
  const question = page.getByRole('dialog')
  await expect(question.getByLabel('Password', { exact: true })).toBeFocused()
  await page.keyboard.type(password)
  await page.keyboard.press('Enter')
  const shown = page.getByRole('region', { name: 'Your new key “Scanner”' })
  await expect(shown).toBeFocused({ timeout: 60_000 })
  await page.keyboard.press('Tab')
  await expectFocusSeen(page)
  await page.keyboard.press('Enter')
  await expect(shown.getByText('Copied')).toBeVisible()
  const key = await page.evaluate(() => navigator.clipboard.readText())
  await expect(shown.getByText(key, { exact: true })).toBeVisible()
  const row = keys.getByRole('listitem')
  await expect(row).toContainText('Scanner')
  await expect(row).toContainText('May deposit, verify, read the history')
  await expect(row).toContainText('Never used')
  await inspectInTurn(page)
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await expect(shown).toHaveCount(0)
  await expect(keys.getByRole('heading', { level: 2 })).toBeFocused()

  expect(await deposit(key)).toBe(201)
  await page.reload()
  await expect(row).toContainText(/Last used (?:now|\d+ minutes? ago)/)
  expect(await keys.textContent()).not.toContain(key)
  await revoke(page, 'Scanner')
  await expect(row).toHaveCount(0)
  // not “yet”, because there was one
  await expect(keys.getByText('No API keys.')).toBeVisible()
  expect(await deposit(key)).toBe(401)

  await test.step('a key of the company', async () => {
    const own = `Archive ${Date.now()}`
    const ownRow = row.filter({ hasText: own })
    const other = `Scanners ${Date.now()}`
    await queryServiceDatabase(
      `insert into "group" (company_id, id, name, is_default, features, created_at)
       values ($1, gen_random_uuid(), $2, false, '{}', now())`,
      [company, other]
    )
    await page.setViewportSize({ width: 320, height: 800 })
    await page.goto(admin)
    const defaultGroup = /\/company\/[^/]+\/groups\?.*sort=created/
    await page.route(defaultGroup, route => route.abort())
    await keys.getByRole('button', { name: 'Create key' }).click()
    await expect(name).toBeFocused()
    await name.fill(own)
    await keys.getByLabel('Verify documents').uncheck()
    const group = await groupOf(email)
    const field = keys.getByRole('combobox', { name: 'Find another group' })
    const retry = keys.getByRole('button', { name: 'Retry' })
    await expect(retry).toBeVisible()
    await keys.getByRole('button', { name: 'Create key' }).click()
    await expect(field).toBeFocused()
    await expect(field).toHaveAccessibleDescription(/Value is required/)
    await inspectInTurn(page)
    await page.unroute(defaultGroup)
    await retry.click()
    const chosen = keys.getByRole('group', { name: 'Group' }).locator('p').first()
    await expect(chosen).toHaveText(group)
    await expect(field).toBeFocused()
    await expect(keys.getByText('Value is required')).toHaveCount(0)
    for (const next of [other, group]) {
      await field.fill(next)
      await expect(keys.getByRole('option', { name: next })).toBeVisible()
      await page.keyboard.press('Enter')
      await expect(chosen).toHaveText(next)
    }
    await keys.getByLabel('Expires').selectOption({ label: 'in 30 days' })
    // the password was asked for a moment ago, which this page learns from the server
    await confirmSession(email)
    await keys.getByRole('button', { name: 'Create key' }).click()
    const secret = (await keys.getByText(/^vdm_[\w-]{48}$/).textContent()) ?? ''
    await expect(ownRow).toContainText(`May deposit, read the history · group ${group}`)
    await expect(ownRow).toContainText('by Ada Admin')
    const inDays = await ownRow.getByText(/^Expires /).textContent()
    expect(Date.parse((inDays ?? '').replace(/^Expires | at/g, '')) - Date.now()).toBeCloseTo(
      30 * 86_400_000,
      -8
    )
    expect(await deposit(secret)).toBe(201)
    await revoke(page, own)
    await expect(ownRow).toHaveCount(0)
    expect(await deposit(secret)).toBe(401)
  })
})

/** Deposits a file in one call, as `curl -T` does. Returns the status of the answer. */
async function deposit(key: string): Promise<number> {
  const { host, port } = new URL(homeAddress())
  const answer = await fetchAt(Number(port))(`http://api.${host}/deposit?name=a.pdf`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${key}` },
    body: randomBytes(100)
  })
  return answer.status
}

/** Revokes a key. Expects that the heading of the list then has the focus. */
async function revoke(page: Page, name: string) {
  const keys = page.getByRole('region', { name: 'API keys' })
  await keys.getByRole('button', { name: `Revoke the key ${name}` }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await expect(keys.getByText(`The key “${name}” is revoked.`)).toBeVisible()
  await expect(keys.getByRole('heading', { level: 2 })).toBeFocused()
}

async function groupOf(email: string): Promise<string> {
  const [group] = await queryServiceDatabase<{ name: string }>(
    `select g.name from "user" u join group_user m on m.user_id = u.id
       join "group" g on g.id = m.group_id where u.email = $1`,
    [email]
  )
  return group?.name ?? ''
}
