import { expect, type Page } from '@playwright/test'
import { addPeople, confirmSession, selectPeople, signUpAdmin } from '../../helpers/e2e/admins.ts'
import { test } from '../../helpers/e2e/journey.ts'
import { inMatrix, inspectAtWidths } from '../../helpers/e2e/looks.ts'
import { downloadBy } from '../../helpers/e2e/page.ts'

/**
 * Signs up an administrator and adds people. Their names begin with a word that no other test uses,
 * because all tests share a company.
 */
async function makePeople(page: Page, count: number, locale = 'en') {
  const { email, company, admin } = await signUpAdmin(page, locale)
  const word = `P${Date.now().toString(36)}${Math.floor(Math.random() * 1000)}`
  await addPeople(company, { word, count })
  return { company, email, word, list: `${admin}/users` }
}

function row(page: Page, name: string) {
  return page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) })
}

function bar(page: Page) {
  return page.getByRole('region', { name: 'Selection' })
}

test('people are found, selected and exported', async ({ page }) => {
  await test.step('people are searched, filtered and sorted, and the address keeps it', async () => {
    const { company, word, list } = await makePeople(page, 3)
    await addPeople(company, { word: `${word}x`, count: 2, isInvited: true })
    await page.goto(list)
    await page.getByLabel('Name, email or ID').fill(word)
    await expect(page.getByText('5 people', { exact: true })).toBeVisible()
    await page.getByLabel('State').selectOption('Invited')
    await expect(page.getByText('2 people', { exact: true })).toBeVisible()
    await page.getByRole('button', { name: 'Name', exact: true }).click()
    await expect(page.locator('tbody tr').first()).toContainText(`${word}x 002`)
    await expect(page).toHaveURL(new RegExp(`\\?q=${word}&state=invited&sort=-name$`))

    // Back returns to what was found, not through each letter
    await page.getByRole('link', { name: `${word}x 002` }).click()
    await expect(page).toHaveURL(/\/users\/[0-9a-f-]{36}$/)
    const person = page.url().split('/').at(-1) ?? ''
    await page.goBack()
    await expect(page.getByText('2 people', { exact: true })).toBeVisible()
    await expect(page.getByLabel('State')).toHaveValue('invited')
    await page.reload()
    await expect(page.locator('tbody tr').first()).toContainText(`${word}x 002`)

    await page.getByRole('button', { name: 'Clear filters' }).click()
    await expect(page.getByText('5 people', { exact: true })).toBeVisible()
    // an id copied from a log
    await page.getByLabel('Name, email or ID').fill(person)
    await expect(page.getByText('1 person', { exact: true })).toBeVisible()
    await expect(page.getByRole('link', { name: `${word}x 002` })).toBeVisible()

    await page.getByLabel('Permission').selectOption('Operator')
    await page.getByRole('button', { name: 'Clear search and filters' }).click()
    await expect(page).toHaveURL(/users\?sort=-name$/)
  })

  await test.step('people are selected with the keyboard alone', async () => {
    const { word, list } = await makePeople(page, 5)
    await page.goto(`${list}?q=${word}`)
    await row(page, `${word} 001`).getByRole('link').focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Space')
    await expect(bar(page)).toContainText('1 person selected')
    await page.keyboard.press('Shift+ArrowDown')
    await page.keyboard.press('Shift+ArrowDown')
    await expect(bar(page)).toContainText('3 people selected')
    await expect(row(page, `${word} 004`).getByRole('link')).toBeFocused()
    await page.keyboard.press('Shift+ArrowUp')
    await expect(bar(page)).toContainText('2 people selected')
    await page.keyboard.press('ControlOrMeta+a')
    await expect(bar(page)).toContainText('5 people selected')
    // heard by screen readers, which the bar itself is not
    await expect(page.getByRole('status').filter({ hasText: '5 people selected' })).toHaveCount(1)
    await page.keyboard.press('Escape')
    await expect(bar(page)).toHaveCount(0)
    await page.keyboard.press('Enter')
    await expect(page).toHaveURL(/\/users\/[0-9a-f-]{36}$/)
  })

  await test.step('what is filtered is exported, and the groups too', async () => {
    const { company, word, list } = await makePeople(page, 2)
    await addPeople(company, { word: `${word}x`, count: 1, isInvited: true })
    await page.goto(`${list}?q=${word}&state=active`)
    await expect(page.getByText('2 people', { exact: true })).toBeVisible()
    const exportList = () => page.getByRole('button', { name: 'Export CSV' }).click()
    const file = await downloadBy(page, exportList)
    expect(file.name).toMatch(/^people-\d{4}-\d{2}-\d{2}\.csv$/)
    const lines = String(file.bytes).split('\r\n')
    // a heading, two people, and what follows the last line end
    expect(lines).toHaveLength(4)
    expect(lines[0]).toMatch(/^\uFEFF.*email/)
    expect(lines.slice(1, 3).every(line => line.includes(word))).toBe(true)

    await page.goto(list.replace('/users', '/groups?q=everyone'))
    await expect(page.getByRole('link', { name: 'Everyone' })).toBeVisible()
    const text = String((await downloadBy(page, exportList)).bytes)
    expect(text).toMatch(/^\uFEFFid,name,is_default/)
    expect(text).toContain(',Everyone,true,')
  })
})

test('the columns and the density are chosen and remembered', inMatrix, async ({ page }) => {
  const { word, list } = await makePeople(page, 2)
  await page.goto(`${list}?q=${word}`)
  await expect(row(page, `${word} 001`)).toBeVisible()
  const heading = (name: string) => page.getByRole('columnheader', { name })
  await expect(heading('Created')).toBeVisible()
  const high = (await row(page, `${word} 001`).boundingBox())?.height ?? 0
  await page.getByRole('button', { name: 'View' }).click()
  await page.getByLabel('Created').uncheck()
  await expect(heading('Created')).toHaveCount(0)
  await page.getByLabel('Compact').check()
  await page.keyboard.press('Escape')
  await expect(page.getByRole('button', { name: 'View' })).toBeFocused()
  await page.reload()
  await expect(row(page, `${word} 001`)).toBeVisible()
  await expect(heading('Created')).toHaveCount(0)
  const low = (await row(page, `${word} 001`).boundingBox())?.height ?? 0
  expect(low).toBeLessThan(high)
  // other lists keep their own look
  await page.goto(list.replace('/users', '/groups'))
  await expect(page.getByRole('columnheader', { name: 'Created' })).toBeVisible()
})

test('many people are changed at once', { tag: '@matrix' }, async ({ page }) => {
  await test.step('all that match are selected by their number, leave a group, and come back', async () => {
    const { word, list } = await makePeople(page, 55)
    await page.goto(`${list}?q=${word}`)
    await page.getByLabel('Select all 50 rows shown').check()
    await expect(bar(page)).toContainText('50 people selected')
    await bar(page).getByRole('button', { name: 'Select all that match' }).click()
    await expect(bar(page)).toContainText('55 people selected')
    await bar(page).getByRole('button', { name: 'Remove from a group' }).click()
    const dialog = page.getByRole('dialog', { name: 'Remove 55 people from a group' })
    await dialog.getByRole('button', { name: 'Remove 55 people' }).click()
    await expect(dialog).toContainText('Choose a group.')
    await dialog.getByRole('combobox').fill('Everyone')
    await dialog.getByRole('option', { name: 'Everyone' }).click()
    await dialog.getByRole('button', { name: 'Remove 55 people' }).click()
    const result = page.getByRole('region', { name: /Remove from the group “Everyone”/ })
    await expect(result).toContainText('55 people were removed.')
    await expect(result.getByRole('heading')).toBeFocused()
    await expect(row(page, `${word} 001`)).not.toContainText('Everyone')

    await result.getByRole('button', { name: 'Undo' }).click()
    const undone = page.getByRole('region', { name: /Add to the group “Everyone”/ })
    await expect(undone).toContainText('55 people were added.')
    await expect(row(page, `${word} 001`)).toContainText('Everyone')
    await undone.getByRole('button', { name: 'Close' }).click()
    await expect(undone).toHaveCount(0)
  })

  await test.step('one refusal does not stop the others, and says its reason', async () => {
    const { company, email, word, list } = await makePeople(page, 2)
    await addPeople(company, { word: `${word}x`, count: 2, isInvited: true })
    await page.goto(`${list}?q=${word}`)
    await page.getByLabel('Select all 4 rows shown').check()
    await page.getByLabel('Name, email or ID').fill(email)
    await page.getByRole('row').filter({ hasText: 'Anna Admin' }).getByRole('checkbox').check()
    await bar(page).getByRole('button', { name: 'Disable' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Disable 5 people' }).click()
    const result = page.getByRole('region', { name: 'Disable people' })
    await expect(result).toContainText('4 people were disabled.')
    await expect(result.getByRole('listitem').filter({ hasText: 'Anna Admin' })).toContainText(
      'You cannot do this to your own account.'
    )
    const saved = await downloadBy(page, () =>
      result.getByRole('button', { name: 'Save list of refusals' }).click()
    )
    expect(
      String(saved.bytes)
        .split('\r\n')
        .filter(line => line.includes('not_oneself'))
    ).toHaveLength(1)
    await result.getByRole('button', { name: 'Undo' }).click()
    const undone = page.getByRole('region', { name: 'Enable people' })
    await expect(undone).toContainText('4 people were enabled.')
    // enabling is undone too, and disabling again keeps the reason
    await undone.getByRole('button', { name: 'Undo' }).click()
    await expect(result).toContainText('4 people were disabled.')
    expect(
      await selectPeople(company, `username like '${word}%' and disabled->>'reason' = 'left'`)
    ).toHaveLength(4)
    await result.getByRole('button', { name: 'Undo' }).click()
    await expect(undone).toContainText('4 people were enabled.')
    await undone.getByRole('button', { name: 'Close' }).click()

    // this service sends no mail, so the administrator gets the links of those who are invited
    await page.getByLabel('Name, email or ID').fill(word)
    await page.getByLabel('Select all 4 rows shown').check()
    await bar(page).getByRole('button', { name: 'More' }).click()
    await page.getByRole('button', { name: 'Invitation links' }).click()
    const links = page.getByRole('region', { name: 'Invitation links to pass on' })
    await expect(links.getByRole('heading')).toBeFocused()
    await links.getByRole('button', { name: 'Download the links' }).click()
    const password = page.getByRole('dialog', { name: 'Confirm with your password' })
    await password.getByRole('button', { name: 'Cancel' }).click()
    await expect(links).toContainText('Enter your password')
    await confirmSession(email)
    const { bytes } = await downloadBy(page, () =>
      links.getByRole('button', { name: 'Download the links' }).click()
    )
    await expect(links).toContainText('2 links have been downloaded.')
    const lines = String(bytes).split('\r\n')
    expect(lines[0]).toBe('\uFEFFusername,email,link,valid_until')
    expect(lines.slice(1, -1)).toHaveLength(2)
    for (const line of lines.slice(1, -1)) {
      expect(line).toMatch(/^P\w+x 00[12],p\w+@people\.example,https?:\S+activate-account#t=/)
    }
  })

  await test.step('a list that changes while all that match are selected keeps what was meant', async () => {
    const { word, list } = await makePeople(page, 52)
    await page.goto(`${list}?q=${word}`)
    await row(page, `${word} 001`).getByRole('checkbox').check()
    await row(page, `${word} 003`)
      .getByRole('checkbox')
      .click({ modifiers: ['Shift'] })
    await expect(bar(page)).toContainText('3 people selected')
    // selected one by one, people stay selected while others are searched
    await page.getByLabel('Name, email or ID').fill(`${word} 002`)
    await expect(bar(page)).toContainText('3 people selected (2 not shown here)')
    // and while a person of the list is looked at
    await row(page, `${word} 002`).getByRole('link').click()
    await expect(page).toHaveURL(/\/users\/[0-9a-f-]{36}$/)
    await page.goBack()
    await expect(bar(page)).toContainText('3 people selected (2 not shown here)')
    await page.getByLabel('Name, email or ID').fill(word)
    await expect(bar(page)).toContainText('3 people selected')
    await expect(page.getByText('More than 50 people')).toBeVisible()
    await bar(page).getByRole('button', { name: 'Select all that match' }).click()
    await expect(bar(page)).toContainText('52 people selected')
    await page.getByLabel('State').selectOption('Active')
    await expect(bar(page)).toHaveCount(0)
  })

  await test.step('deleting many needs their number, and then they are gone', async () => {
    const { word, list, email } = await makePeople(page, 2)
    await confirmSession(email)
    await page.goto(`${list}?q=${word}`)
    await page.getByLabel('Select all 2 rows shown').check()
    await bar(page).getByRole('button', { name: 'More' }).click()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Delete 2 people' })
    await dialog.getByRole('button', { name: 'Delete 2 people' }).click()
    await expect(dialog).toContainText('Type the number 2.')
    await dialog.getByLabel('Type 2 to confirm').fill('2')
    await dialog.getByRole('button', { name: 'Delete 2 people' }).click()
    await expect(page.getByRole('region', { name: 'Delete people' })).toContainText(
      '2 people were deleted.'
    )
    await expect(page.getByText(`Nothing matches “${word}”.`).first()).toBeVisible()
  })
})

test(
  'links to pass on that stop half-way are saved, and the button goes on with the rest',
  inMatrix,
  async ({ page }) => {
    const { email, company, admin } = await signUpAdmin(page)
    const word = `P${Date.now().toString(36)}`
    // more than one call can treat
    await addPeople(company, { word, count: 203, isInvited: true })
    await page.goto(`${admin}/users?q=${word}`)
    await page.getByLabel('Select all 50 rows shown').check()
    await bar(page).getByRole('button', { name: 'Select all that match' }).click()
    await bar(page).getByRole('button', { name: 'More' }).click()
    await page.getByRole('button', { name: 'Invitation links' }).click()
    const links = page.getByRole('region', { name: 'Invitation links to pass on' })
    const save = links.getByRole('button', { name: 'Download the links' })
    const emailsOf = async (start: () => Promise<void>) => {
      const { bytes } = await downloadBy(page, start)
      return String(bytes).match(/[^,]+@people\.example/g) ?? []
    }

    await confirmSession(email)
    let calls = 0
    await page.route('**/user/links', async route => {
      calls += 1
      // the five minutes after the password are over
      if (calls === 2) await confirmSession(email, 0)
      await route.continue()
    })
    const first = await emailsOf(async () => {
      await save.click()
      const password = page.getByRole('dialog', { name: 'Confirm with your password' })
      await password.getByRole('button', { name: 'Cancel' }).click()
    })
    await expect(links).toContainText('200 links have been downloaded.')
    await expect(links).toContainText(
      'Links are still missing. Press the button again for the rest.'
    )
    await expect(links).toContainText('Enter your password')
    await inspectAtWidths(page, 1280)
    await confirmSession(email)
    const rest = await emailsOf(() => save.click())
    await expect(links).toContainText('3 links have been downloaded.')
    await expect(links).not.toContainText('Links are still missing')
    await expect(links.getByRole('alert')).toHaveCount(0)
    expect([first.length, rest.length]).toEqual([200, 3])
    expect(new Set([...first, ...rest]).size).toBe(203)
  }
)

test('the list of people in French, narrow and in the dark', async ({ page }) => {
  const { company, word, list } = await makePeople(page, 2, 'fr')
  await addPeople(company, { word: `${word}x`, count: 1, isInvited: true })
  await page.setViewportSize({ width: 320, height: 900 })
  await page.goto(`${list}?q=${word}`)
  await expect(page.getByText('3 personnes', { exact: true })).toBeVisible()
  await page.getByRole('checkbox', { name: `Sélectionner ${word} 001` }).check()
  await expect(page.getByRole('region', { name: 'Sélection' })).toContainText(
    '1 personne sélectionnée'
  )
  await inspectAtWidths(page, 1280)
})
