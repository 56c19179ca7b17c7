import { writeFile } from 'node:fs/promises'
import { expect, type Page } from '@playwright/test'
import {
  callApi,
  openCreateForm,
  queryServiceDatabase,
  section,
  signUpAdmin
} from '../../helpers/e2e/admins.ts'
import { makePdf, sha256Of } from '../../helpers/e2e/documents.ts'
import { test } from '../../helpers/e2e/journey.ts'
import { checkedLocales, inMatrix, inspectAtWidths } from '../../helpers/e2e/looks.ts'
import { homeAddress, startSession } from '../../helpers/e2e/page.ts'

/** Makes a group with the feature `deposit` and one member. Returns its name. */
async function makeGroup(company: string, member: string): Promise<string> {
  const name = `Agents ${Date.now()}`
  await queryServiceDatabase(
    `with made as (
       insert into "group" (company_id, id, name, features, is_default, created_at)
       values ($1, gen_random_uuid(), $2, '{deposit}', false, now()) returning company_id, id
     )
     insert into group_user (company_id, group_id, user_id)
     select made.company_id, made.id, u.id from made, "user" u where u.email = $3`,
    [company, name, member]
  )
  return name
}

/** Verifies a fingerprint on the page. Returns the element with the verdict. */
async function verdictOn(page: Page, fingerprint: string) {
  await page.goto(`${homeAddress()}/verify`)
  await expect(page.getByRole('button', { name: 'Verify', exact: true })).toBeEnabled()
  const field = page.locator('[name=fingerprint]')
  await field.fill(fingerprint)
  await field.press('Enter')
  return page.locator('[data-verdict]')
}

test('a category of fingerprints of PDFs is made, used, refused and verified', async ({
  page,
  browser
}) => {
  const member = await (await browser.newContext()).newPage()
  const email = await startSession(member, homeAddress(), { username: 'Mona Member' })
  const { company, admin } = await signUpAdmin(page)
  const group = await makeGroup(company, email)
  await member.goto(`${homeAddress()}/deposit`)
  await expect(member.locator('main input[type=file]').first()).toBeAttached()

  // by keyboard alone
  const name = `Leases ${Date.now()}`
  await openCreateForm(page, admin, 'category')
  const own = page.getByLabel('Name in English')
  await own.press('Enter')
  await expect(own).toBeFocused()
  await expect(page.getByText('Value is required')).toHaveCount(1)
  await page.keyboard.type(name)
  await page.getByRole('radio', { name: 'Everyone' }).focus()
  await page.keyboard.press('ArrowDown')
  const priv = page.getByRole('radio', { name: 'Members and administrators' })
  await expect(priv).toBeChecked()
  await expect(priv).toHaveAccessibleDescription(
    /For everyone else, verification answers “No record”\.$/
  )
  await page.keyboard.press('Tab')
  await page.keyboard.press('ArrowDown')
  await expect(page.getByRole('radio', { name: 'Only the fingerprint' })).toBeChecked()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Space')
  await expect(page.getByRole('checkbox', { name: 'PDF' })).toBeChecked()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { level: 1, name })).toBeVisible()
  const settings = section(page, 'Settings')
  await expect(settings).toContainText('Members and administrators')
  await expect(settings).toContainText('Only the fingerprint')
  await expect(settings).toContainText('PDF')
  await expect(settings).not.toContainText('Keep files for')
  const groups = section(page, 'Groups')
  await expect(groups).toContainText('Nobody can deposit here yet')
  const box = groups.getByRole('combobox', { name: 'Add a group' })
  await box.fill(group)
  await expect(page.getByRole('option', { name: group })).toBeVisible()
  await box.press('Enter')
  await expect(groups.getByText(`${group} was added.`)).toBeVisible()
  await expect(section(page, 'Latest changes')).toContainText('created the category')

  // the member's page, which is open, offers the category when it is seen again
  await member.evaluate(() => document.dispatchEvent(new Event('visibilitychange')))
  await member.getByRole('combobox', { name: 'Category' }).selectOption({ label: name })
  await expect(member.getByText(/records only the fingerprint/)).toBeVisible()
  const [pdf, picture] = [await makePdf(`${name}.pdf`, name), `.cache/${name}.png`]
  await writeFile(picture, Buffer.from('89504e470d0a1a0a', 'hex'))
  const input = member.locator('main input[type=file]').first()
  await input.setInputFiles(picture)
  await expect(member.getByText('This category does not accept this type of file.')).toBeVisible()
  await input.setInputFiles(pdf)
  await expect(member.getByText('Fingerprint recorded')).toBeVisible()

  const fingerprint = await sha256Of(pdf)
  const stranger = await (await browser.newContext()).newPage()
  await expect(await verdictOn(stranger, fingerprint)).toContainText(
    'has no record of this fingerprint'
  )
  await expect(await verdictOn(member, fingerprint)).toContainText(
    'recorded a file with this fingerprint'
  )

  await page.getByRole('button', { name: 'Delete category…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await expect(page.getByText('Still used by: 1 deposit, 1 group.')).toBeVisible()
})

test(
  'two administrators edit a category at once, and the second chooses what to keep',
  inMatrix,
  async ({ page }) => {
    const { admin } = await signUpAdmin(page)
    await openCreateForm(page, admin, 'category')
    await page.getByLabel('Name in English').fill(`Both ${Date.now()}`)
    await page.getByRole('button', { name: 'Create category' }).click()
    await expect(section(page, 'Settings')).toBeVisible()
    const settings = section(page, 'Settings')
    await settings.getByRole('button', { name: 'Edit' }).click()
    await expect(settings.getByLabel('Name in English')).toBeFocused()
    // what means nothing for fingerprints, or without pictures, is not asked
    await settings.getByLabel('Only the fingerprint').check()
    await expect(settings.getByLabel('Always the original')).toBeHidden()
    await expect(settings.getByLabel('How long')).toBeHidden()
    await settings.getByLabel('The file', { exact: true }).check()
    await settings.getByLabel('How long').fill('1000')
    await settings.getByRole('button', { name: 'Save' }).click()
    await expect(settings.getByLabel('How long')).toBeFocused()
    await settings.getByLabel('How long').fill('18')
    await settings.getByLabel('Unit').selectOption('M')
    await settings.getByRole('button', { name: 'Save' }).click()
    await expect(settings).toContainText('18 months')
    await expect(settings.getByRole('button', { name: 'Edit' })).toBeFocused()

    await page.keyboard.press('Enter')
    await settings.getByLabel('PDF').check()
    await expect(settings.getByLabel('Always the original')).toBeHidden()
    await settings.getByRole('checkbox', { name: 'Pictures' }).check()
    await settings.getByLabel('Always the original').check()
    await settings.getByLabel('How long').fill('10')
    await settings.getByLabel('Unit').selectOption('Y')
    const category = page.url().split('/').at(-1)
    await callApi(page, 'PUT', `/category/${category}`, { retention: 'P2Y' })
    await settings.getByRole('button', { name: 'Save' }).click()
    await expect(page.getByRole('heading', { name: 'Someone else has changed this' })).toBeFocused()
    const conflict = page.locator('[data-state=changed]')
    await expect(conflict.getByRole('group', { name: 'Keep files for' })).toContainText('10 years')
    await expect(conflict.getByRole('group', { name: 'Keep files for' })).toContainText('2 years')
    await conflict.getByLabel(/Yours 10 years/).focus()
    await page.keyboard.press('ArrowDown')
    await conflict.getByRole('button', { name: 'Save this choice' }).press('Enter')
    await expect(conflict).toHaveCount(0)
    await expect(settings.getByRole('heading')).toBeFocused()
    await expect(settings).toContainText('2 years')
    await expect(settings).toContainText('Always the original')
    await expect(settings).toContainText('PDF')
  }
)

for (const locale of checkedLocales) {
  test(`the screens of categories hold in ${locale}, small, large and dark`, {
    tag: '@matrix'
  }, async ({ page }) => {
    const { admin } = await signUpAdmin(page, locale)
    await openCreateForm(page, admin, 'category')
    const name = page.locator(`input[name="names.${locale}"]`)
    await page.locator('main form [type=submit]').click()
    await expect(name).toHaveAttribute('aria-invalid', 'true')
    await expect(page.locator('main [aria-invalid=true]')).toHaveCount(1)
    await inspectAtWidths(page, 1280)
    await name.fill(`Baux d’habitation ${locale} ${Date.now()}`)
    await page.locator('main form [type=submit]').click()
    await expect(page.locator('[aria-labelledby=recent-changes][data-state=ready]')).toBeVisible()
    await inspectAtWidths(page, 1280)
    await page.locator('[aria-labelledby=category-settings] button').click()
    await inspectAtWidths(page, 1280)
    await page.goto(`${admin}/categories`)
    await expect(page.locator('main tbody tr').first()).toBeVisible()
    await inspectAtWidths(page, 1280)
  })
}
