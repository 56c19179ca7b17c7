import { expect, type Page } from '@playwright/test'
import { newEmail, signUpAt } from '../../helpers/client.ts'
import {
  createGroup,
  defaultGroupOf,
  openCreateForm,
  section,
  signUpAdmin
} from '../../helpers/e2e/admins.ts'
import { stubError } from '../../helpers/e2e/api-stubs.ts'
import { test } from '../../helpers/e2e/journey.ts'
import { checkedLocales, inMatrix, inspectAtWidths } from '../../helpers/e2e/looks.ts'
import {
  chooseFiles,
  fillSignIn,
  homeAddress,
  password,
  sealedWord,
  startSession,
  textFile
} from '../../helpers/e2e/page.ts'

test('a group limits its members, and two administrators change it', async ({ browser, page }) => {
  await test.step('an administrator makes a group, limits it and adds a member, who is stopped at the limit', async () => {
    const { company, admin } = await signUpAdmin(page)
    const name = `Tenants ${Date.now()}`
    await openCreateForm(page, admin, 'group')
    await page.getByRole('button', { name: 'Create group' }).click()
    await expect(page.getByLabel('Name', { exact: true })).toBeFocused()
    await expect(page.getByText('Value is required')).toBeVisible()
    await page.getByLabel('Name', { exact: true }).fill(name)
    await expect(page.getByText('Value is required')).toHaveCount(0)
    await page.getByLabel('Documents', { exact: true }).fill('1')
    await page.getByLabel('Period').selectOption('P1D')
    await page.getByRole('button', { name: 'Create group' }).click()
    await expect(page.getByRole('heading', { level: 1, name })).toBeVisible()
    await expect(section(page, 'Limits')).toContainText('1 document per day')
    const address = page.url()

    const member = await (await browser.newContext()).newPage()
    const email = await startSession(member, homeAddress(), { username: 'Mona Member' })
    const box = page.getByRole('combobox', { name: 'Add a member' })
    await box.fill(email.slice(0, 20))
    await expect(page.getByRole('option', { name: 'Mona Member' })).toBeVisible()
    await box.press('ArrowDown')
    await box.press('Enter')
    const members = section(page, 'Members')
    await expect(members.getByText('Mona Member is now a member.')).toBeVisible()
    await expect(members.getByText('1 member', { exact: true })).toBeVisible()
    await expect(members.getByRole('listitem')).toContainText(email)

    await section(page, 'Categories').getByRole('combobox').press('ArrowDown')
    await page.getByRole('option').first().click()
    await expect(section(page, 'Categories').getByText(/was added/)).toBeVisible()

    // in no other group, which would pay for what goes beyond
    await page.goto(`${admin}/groups/${await defaultGroupOf(company)}`)
    await expect(page.getByRole('heading', { level: 2, name: 'Members' })).toBeVisible()
    await removeMember(page, 'Mona Member', email)

    await member.goto(`${homeAddress()}/deposit`)
    await chooseFiles(member, textFile('one.txt'))
    await expect(member.locator('li').getByText(sealedWord)).toBeVisible({ timeout: 60_000 })
    await chooseFiles(member, textFile('two.txt'))
    await expect(member.getByText(/1 of 1|limit/i).first()).toBeVisible({ timeout: 30_000 })
    await expect(member.getByText(/Your administrator can raise the limit/).first()).toBeVisible()

    await page.goto(address)
    await expect(section(page, 'Usage')).toContainText('1 of 1')
    await page.getByRole('button', { name: 'Delete group…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    // an upload is counted as a deposit as long as its row is there
    await expect(
      page.getByText(/^Still used by: 1 member, (1 deposit, )?1 counted deposit or verification\.$/)
    ).toBeVisible()
  })

  await test.step('two administrators edit a group at once, and the second chooses what to keep', async () => {
    const { admin } = await signUpAdmin(page)
    await createGroup(page, admin, `Both ${Date.now()}`)
    const second = await (await browser.newContext()).newPage()
    await signUpAdmin(second)
    await second.goto(page.url())
    const settings = section(second, 'Name and features')
    await settings.getByRole('button', { name: 'Edit' }).click()
    await settings.getByLabel('Name', { exact: true }).fill('Second name')
    await settings.getByLabel('Deposit documents').uncheck()

    await section(page, 'Name and features').getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Name', { exact: true }).fill('First name')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await expect(page.getByRole('heading', { level: 1, name: 'First name' })).toBeVisible()

    await settings.getByRole('button', { name: 'Save', exact: true }).click()
    await expect(
      second.getByRole('heading', { name: 'Someone else has changed this' })
    ).toBeFocused()
    const conflict = second.locator('[data-state=changed]')
    await expect(conflict.getByRole('group', { name: 'Name' })).toContainText('Second name')
    await expect(conflict.getByRole('group', { name: 'Name' })).toContainText('First name')
    await inspectAtWidths(second, 1280)
    // theirs for the name, by keyboard; the own choice for the features stays
    await conflict.getByLabel(/Yours Second name/).focus()
    await second.keyboard.press('ArrowDown')
    await conflict.getByRole('button', { name: 'Save this choice' }).press('Enter')
    await expect(conflict).toHaveCount(0)
    await expect(second.getByRole('heading', { name: 'Name and features' })).toBeFocused()
    await expect(settings).toContainText('First name')
    await expect(settings).toContainText('Verify documents only')

    // changes of different fields do not get in each other's way
    await section(page, 'Limits').getByRole('button', { name: 'Change limits' }).click()
    await page.getByLabel('Documents', { exact: true }).fill('7')
    await page.getByRole('button', { name: 'Save limits' }).click()
    await expect(section(page, 'Limits')).toContainText('7 documents in total')
    await expect(page.locator('[data-state=changed]')).toHaveCount(0)
    await expect(section(page, 'Name and features')).toContainText('Verify documents only')
  })
})

/** Removes a member. Loads the list page by page, because the default group has many members. */
async function removeMember(page: Page, name: string, email: string) {
  await expect(page.locator('[aria-labelledby=group-members][data-state=ready]')).toBeVisible()
  const row = page.getByRole('listitem').filter({ hasText: email })
  const more = page.getByRole('button', { name: 'Show more' })
  for (let tries = 0; tries < 20 && (await row.count()) === 0; tries++) {
    // the button goes away with the last page
    await more.click({ timeout: 5_000 }).catch(() => undefined)
  }
  await row.getByRole('button', { name: `Remove ${name} from the group` }).click()
  await expect(page.getByText(`${name} is no longer a member.`)).toBeVisible()
}

test('an administrator adds people by email, loses no changes, and chooses the default group', {
  tag: '@matrix'
}, async ({ page }) => {
  await test.step('people are added by their emails, and a refused one does not stop the others', async () => {
    const { admin } = await signUpAdmin(page)
    const { hostname, port } = new URL(homeAddress())
    const people = ['Ines', 'Omar'].map(username => ({ username, email: newEmail() }))
    for (const person of people) await signUpAt(Number(port), hostname, person)
    await createGroup(page, admin, `Many ${Date.now()}`)
    await page.getByText('Add several by email').click()
    const field = page.getByLabel('Emails')
    await field.fill('not an email')
    await field.press('Enter')
    await page.getByRole('button', { name: 'Add all' }).click()
    await expect(field).toBeFocused()
    await expect(page.getByText('Value is not a valid email address')).toBeVisible()
    await page.getByRole('button', { name: 'Remove not an email' }).press('Enter')
    await expect(field).toBeFocused()

    const stranger = 'nobody@example.com'
    await field.fill(people[0]?.email ?? '')
    await field.press(',')
    await field.fill(stranger)
    await field.press('Enter')
    // what is typed and not added counts, too
    await field.fill(people[1]?.email ?? '')
    // leaving the page while people are being added asks, even where the form is closed
    const proceed = Promise.withResolvers<void>()
    await page.route('**/user', async route => {
      await proceed.promise
      await route.continue()
    })
    await page.getByRole('button', { name: 'Add all' }).click()
    await page.getByText('Add several by email').click()
    await page.getByRole('link', { name: 'Verify', exact: true }).first().click()
    await page.getByRole('dialog').getByRole('button', { name: 'Stay here' }).click()
    await page.getByText('Add several by email').click()
    proceed.resolve()
    const members = section(page, 'Members')
    await expect(members.getByText('2 people were added.')).toBeVisible()
    await expect(members.getByText(`${stranger} – Nobody in the company`)).toBeVisible()
    await expect(members.getByText('2 members', { exact: true })).toBeVisible()

    await members.getByRole('button', { name: 'Remove Ines from the group' }).click()
    await expect(members.getByText('Ines is no longer a member.')).toBeVisible()
    await members.getByRole('button', { name: 'Undo' }).click()
    await expect(members.getByText('Ines is now a member.')).toBeVisible()
    await expect(members.getByText('2 members', { exact: true })).toBeVisible()
  })

  await test.step('a group becomes the default group, which new people join', async () => {
    // the tests of the other company sign people up, who need its default group
    const site = homeAddress().replace('//localhost', '//demo.localhost')
    const { admin, company } = await signUpAdmin(page, 'en', { site })
    const before = await defaultGroupOf(company)
    const name = `Newcomers ${Date.now()}`
    await createGroup(page, admin, name)
    const settings = section(page, 'Name and features')
    const button = settings.getByRole('button', { name: 'Make this the default group' })
    await expect(button).toHaveAccessibleDescription(/^New people then join this group instead/)
    await button.click()
    await expect(page.getByText(`New people now join ${name}.`)).toBeVisible()
    await expect(settings).toContainText('New people join this group.')
    await expect(settings.getByRole('heading')).toBeFocused()
    expect(await defaultGroupOf(company)).not.toBe(before)

    await page.goto(`${admin}/groups/${before}`)
    await button.press('Enter')
    await expect(settings).toContainText('New people join this group.')
    expect(await defaultGroupOf(company)).toBe(before)
  })

  await test.step('unsaved changes are not lost by accident, and come back after a new sign-in', async () => {
    const { admin, email } = await signUpAdmin(page, 'en', { chosen: password })
    await openCreateForm(page, admin, 'group')
    await page.getByLabel('Name', { exact: true }).fill('Half a name')
    await page.getByRole('link', { name: 'Verify', exact: true }).first().click()
    const question = page.getByRole('dialog')
    await expect(question).toContainText('Your changes are not saved.')
    await question.getByRole('button', { name: 'Stay here' }).click()
    await expect(page).toHaveURL(/create\/group$/)
    await expect(page.getByLabel('Name', { exact: true })).toHaveValue('Half a name')
    await page.getByRole('link', { name: 'Verify', exact: true }).first().click()
    await question.getByRole('button', { name: 'Leave without saving' }).click()
    await expect(page).toHaveURL(/\/verify$/)

    // where the session ends, nothing asks
    await openCreateForm(page, admin, 'group')
    await page.getByLabel('Name', { exact: true }).fill('Half a name')
    await page.getByLabel('Documents', { exact: true }).fill('12')
    await stubError(page, ['POST', '/group'], 'unauthenticated')
    await page.getByRole('button', { name: 'Create group' }).click()
    await expect(page).toHaveURL(/\/sign-in\?/)
    await fillSignIn(page, email, password)
    await expect(page).toHaveURL(/create\/group$/)
    await expect(page.getByLabel('Name', { exact: true })).toHaveValue('Half a name')
    await expect(page.getByLabel('Documents', { exact: true })).toHaveValue('12')
  })
})

test(
  'a form compares with the version that it showed when it was opened',
  inMatrix,
  async ({ page, browser }) => {
    const { admin } = await signUpAdmin(page)
    await createGroup(page, admin, `Base ${Date.now()}`)
    const settings = section(page, 'Name and features')
    await settings.getByRole('button', { name: 'Edit' }).click()
    await settings.getByLabel('Name', { exact: true }).fill('Own name')

    const second = await (await browser.newContext()).newPage()
    await signUpAdmin(second)
    await second.goto(page.url())
    await section(second, 'Name and features').getByRole('button', { name: 'Edit' }).click()
    await second.getByLabel('Name', { exact: true }).fill('Other name')
    await second.getByRole('button', { name: 'Save', exact: true }).click()
    await expect(second.getByRole('heading', { level: 1, name: 'Other name' })).toBeVisible()

    // which loads the group again
    const members = section(page, 'Members')
    await members.getByRole('combobox', { name: 'Add a member' }).press('ArrowDown')
    await page.getByRole('option').first().click()
    await expect(members.getByText('1 member', { exact: true })).toBeVisible()
    await expect(page.getByRole('heading', { level: 1, name: 'Other name' })).toBeVisible()

    await settings.getByRole('button', { name: 'Save', exact: true }).click()
    const conflict = page.locator('[data-state=changed]')
    await expect(conflict.getByRole('group', { name: 'Name' })).toContainText('Other name')
    // the choice is not lost by leaving the page
    await page.getByRole('link', { name: 'Verify', exact: true }).first().click()
    await page.getByRole('dialog').getByRole('button', { name: 'Stay here' }).click()
    await conflict.getByRole('button', { name: 'Keep all of mine' }).click()
    await expect(page.getByRole('heading', { level: 1, name: 'Own name' })).toBeVisible()
    await expect(conflict).toHaveCount(0)
  }
)

for (const locale of checkedLocales) {
  test(`the screens of groups hold in ${locale}, small, large and dark`, {
    tag: '@matrix'
  }, async ({ page }) => {
    const { admin } = await signUpAdmin(page, locale)
    await openCreateForm(page, admin, 'group')
    const name = page.locator('input[name=name]')
    await expect(name).toBeVisible()
    await page.locator('main form [type=submit]').click()
    await expect(name).toHaveAttribute('aria-invalid', 'true')
    await inspectAtWidths(page, 1280)
    await name.fill(`Agence ${locale} ${Date.now()}`)
    await page.locator('main form [type=submit]').click()
    await expect(page.locator('main [data-state=ready]').first()).toBeVisible()
    await page.locator('summary').click()
    await inspectAtWidths(page, 1280)
    await page.locator('[aria-labelledby=group-limits]').getByRole('button').click()
    await expect(page.locator('input[name=max_requests]')).toBeFocused()
    await inspectAtWidths(page, 1280)
  })
}
