import { expect, type Page } from '@playwright/test'
import { callApi, signUpAdmin } from '../../helpers/e2e/admins.ts'
import { test } from '../../helpers/e2e/journey.ts'
import { expectFocusSeen } from '../../helpers/e2e/keyboard.ts'
import { inMatrix, inspectAtWidths, inspectInTurn } from '../../helpers/e2e/looks.ts'
import {
  expectSignedInAt,
  fillSignIn,
  homeAddress,
  password,
  signUp,
  siteAddress
} from '../../helpers/e2e/page.ts'

const nobody = '01978a5e-0000-7000-8000-00000000dead'

test('an administrator finds and walks lists', async ({ page }) => {
  await test.step('an administrator finds their company from the drawer, and its groups', async () => {
    const { admin } = await signUpAdmin(page)
    const { word } = await addGroups(page, 1)
    await page.goto(homeAddress())
    const drawer = page.getByRole('navigation', { name: 'Main navigation' })
    await drawer.getByRole('link', { name: 'Administration' }).click()
    await expect(page).toHaveURL(admin)
    await expect(drawer.getByRole('link', { name: 'Administration' })).toHaveAttribute(
      'aria-current',
      'true'
    )
    await expect(page.locator('[data-state=ready]')).toContainText(/\d+ groups?|More than/)
    // the company's own name stands above
    await expect(page.getByRole('heading', { level: 1 })).not.toHaveText('Administration')
    await inspectInTurn(page)
    await page.getByRole('main').getByRole('link', { name: 'All groups' }).click()
    await expect(page).toHaveURL(`${admin}/groups`)
    const sections = page.getByRole('navigation', { name: 'Sections of the administration' })
    await expect(sections.getByRole('link', { name: 'Groups' })).toHaveAttribute(
      'aria-current',
      'page'
    )
    await page.getByLabel('Group name').fill(word)
    await expect(rows(page)).toHaveCount(1)
    await rowLink(page, 0).click()
    await expect(page).toHaveURL(/\/groups\/[0-9a-f-]{36}$/)
    await page.getByRole('link', { name: 'Groups' }).first().click()
    await expect(page).toHaveURL(`${admin}/groups`)
  })

  await test.step('search and order of a list are in the address, survive a reload, and say what they found', async () => {
    const { admin } = await signUpAdmin(page)
    const { word, names } = await addGroups(page, 3)
    await page.goto(`${admin}/groups`)
    await page.getByLabel('Group name').fill(word)
    await expect(page).toHaveURL(`${admin}/groups?q=${word}`)
    await expect(page.getByText('3 rows')).toBeVisible()
    await expect(rowNames(page)).toHaveText(names)
    await expect(page.getByRole('columnheader', { name: 'Name' })).toHaveAttribute(
      'aria-sort',
      'ascending'
    )
    await page.getByRole('button', { name: 'Name' }).click()
    await expect(rowNames(page)).toHaveText(names.toReversed())
    await expect(page).toHaveURL(`${admin}/groups?q=${word}&sort=-name`)
    await page.reload()
    await expect(rowNames(page)).toHaveText(names.toReversed())
    await expect(page.getByLabel('Group name')).toHaveValue(word)
    await expect(page.getByRole('columnheader', { name: 'Name' })).toHaveAttribute(
      'aria-sort',
      'descending'
    )
    await page.getByRole('button', { name: 'Created' }).click()
    await expect(rowNames(page)).toHaveText(names)

    await page.getByLabel('Group name').fill(`${word} nowhere`)
    await expect(
      page.getByRole('heading', { name: `Nothing matches “${word} nowhere”.` })
    ).toBeVisible()
    await inspectInTurn(page)
    await page.getByRole('button', { name: 'Clear search' }).click()
    await expect(page.getByLabel('Group name')).toHaveValue('')
    await expect(rows(page).nth(1)).toBeVisible()
  })

  await test.step('a list is walked with the keyboard, and its rows are links of their own', async () => {
    const { admin } = await signUpAdmin(page)
    const { word, names } = await addGroups(page, 3)
    await page.goto(`${admin}/groups?q=${word}`)
    await rowLink(page, 0).focus()
    await expectFocusSeen(page)
    await page.keyboard.press('ArrowDown')
    await expect(rowLink(page, 1)).toBeFocused()
    await expectFocusSeen(page)
    await page.keyboard.press('End')
    await expect(rowLink(page, 2)).toBeFocused()
    await page.keyboard.press('Home')
    await expect(rowLink(page, 0)).toBeFocused()
    // one stop for Tab: it leaves the table
    await page.keyboard.press('Tab')
    for (const nr of names.keys()) await expect(rowLink(page, nr)).not.toBeFocused()
    await rowLink(page, 0).focus()
    const href = await rowLink(page, 0).getAttribute('href')
    await page.keyboard.press('Enter')
    await expect(page).toHaveURL(`${siteAddress()}${href}`)
    await page.goBack()
    // the page of the item has rows, too, until the list replaces it
    await expect(rowLink(page, 0)).toHaveAttribute('href', href ?? '')
    await expect(page.getByText('3 rows')).toBeVisible()
    const [tab] = await Promise.all([
      page.context().waitForEvent('page'),
      // anywhere in the row
      rows(page)
        .nth(1)
        .click({ modifiers: ['ControlOrMeta'], position: { x: 400, y: 20 } })
    ])
    // `toHaveURL` waits for scripts of the tab, which do not run in the background of the headless shell
    await expect.poll(() => tab.url()).toMatch(/\/groups\/[0-9a-f-]{36}$/)
    // it would tell the next person's pages what it read before that person was an administrator
    await tab.close()
  })

  await test.step('a long list is loaded page by page', async () => {
    const { admin } = await signUpAdmin(page)
    const { word } = await addGroups(page, 55)
    await page.goto(`${admin}/groups?q=${word}`)
    await expect(rows(page)).toHaveCount(50)
    await expect(page.getByText('More than 50 rows')).toBeVisible()
    await page.getByRole('button', { name: 'Show more' }).click()
    await expect(rows(page)).toHaveCount(55)
    await expect(page.getByText('No more entries.')).toBeVisible()
    // what is there stays while the connection is lost, and says so
    await page.route('**/company/*/groups?*', route => route.abort())
    await page.getByRole('button', { name: 'Created' }).click()
    await expect(page.getByRole('alert')).toBeVisible()
    await page.unroute('**/company/*/groups?*')
    await page.getByRole('button', { name: 'Retry' }).click()
    await expect(rows(page)).toHaveCount(50)
  })
})

test('the list of groups, the audit log and data sources in French, narrow and in the dark', {
  tag: '@matrix'
}, async ({ page }) => {
  const { admin } = await signUpAdmin(page, 'fr')
  const { word, names } = await addGroups(page, 2, {
    max_requests: 100,
    max_storage: 2_500_000_000
  })
  await page.goto(`${admin}/groups?q=${word}`)
  await expect(page.getByRole('heading', { level: 1, name: 'Groupes' })).toBeVisible()
  await expect(page.getByText('0 sur 100').first()).toBeVisible()
  await inspectAtWidths(page, 768, 1280)
  await page.setViewportSize({ width: 320, height: 800 })
  // the order can be changed there too
  await page.getByRole('button', { name: 'Nom' }).click()
  await expect(rowNames(page)).toHaveText(names.toReversed())
  for (const path of ['audit', 'data_sources', 'create/data_source']) {
    await page.goto(`${admin}/${path}`)
    await expect(page.locator('main :is([data-state=ready], [data-state=empty])')).toBeVisible()
    await inspectInTurn(page)
  }
})

test('a deep link leads through sign-in and back, with its query and hash', {
  tag: '@matrix'
}, async ({ page, browser }) => {
  const { admin, email } = await signUpAdmin(page, 'en', { chosen: password })
  const link = `${admin}/groups/${nobody}?a=1#b`
  const other = await (await browser.newContext()).newPage()
  await other.goto(link)
  await expect(other).toHaveURL(/\/en\/sign-in\?redirect=/)
  await fillSignIn(other, email, password)
  await expectSignedInAt(other, link)
})

test('an address that names nothing says so within the page', inMatrix, async ({ page }) => {
  await signUpAdmin(page)
  for (const path of [`/${nobody}`, '/x', '/%25zz/groups', `/${nobody}/groups`, '/a%00b/groups']) {
    const answer = await page.goto(`${homeAddress()}/admin${path}`)
    expect(answer?.status(), path).toBe(200)
    await expect(page.getByText('There is nothing here that you administer.')).toBeVisible()
  }
  await inspectInTurn(page)
  await page.getByRole('link', { name: 'Open your company' }).click()
  await expect(page).toHaveURL(/\/en\/admin\/[0-9a-f-]{36}$/)
  await expect(page.locator('[data-state=ready]')).toBeVisible()
})

test('an address of an item that is not there says so', inMatrix, async ({ page }) => {
  const { admin } = await signUpAdmin(page)
  for (const [items, words] of [
    ['groups', 'There is no such group.'],
    ['categories', 'There is no such category.'],
    ['users', 'There is no such person.']
  ] as const) {
    for (const id of [nobody, 'nothing']) {
      await page.goto(`${admin}/${items}/${id}`)
      await expect(page.getByText(words)).toBeVisible()
    }
  }
  // all three are one component
  await inspectInTurn(page)
})

test('a person without the permission is led home', inMatrix, async ({ page }) => {
  await signUp(page, homeAddress())
  await page.goto(`${homeAddress()}/admin`)
  await expect(page).toHaveURL(homeAddress())
  await expect(page.getByText('Your account does not have access to that page.')).toBeVisible()
})

/**
 * Creates groups through the API. Returns their names in order, and the first word of all names.
 */
async function addGroups(page: Page, count: number, limits: object = {}) {
  const word = `list${crypto.randomUUID().slice(0, 8)}`
  const names = Array.from(
    { length: count },
    (_, nr) => `${word} ${String(nr + 1).padStart(2, '0')}`
  )
  for (const name of names) await callApi(page, 'POST', '/group', { name, ...limits })
  return { word, names }
}

function rows(page: Page) {
  return page.locator('.data-table tbody tr')
}

function rowNames(page: Page) {
  return page.locator('.data-table tbody th')
}

function rowLink(page: Page, nr: number) {
  return rows(page).nth(nr).getByRole('link')
}
