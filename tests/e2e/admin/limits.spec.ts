import { expect, type Page } from '@playwright/test'
import { test } from '../../helpers/e2e/journey.ts'
import { openLimitGallery } from '../../helpers/e2e/limit-gallery.ts'
import { homeAddress } from '../../helpers/e2e/page.ts'

function exampleOf(page: Page, name: 'shown' | 'changed' | 'failing') {
  return page.locator(`[data-example=${name}]`)
}

test('limits are changed in place, by hand or by keyboard', async ({ page }) => {
  await openLimitGallery(page, homeAddress())
  const shown = exampleOf(page, 'shown')
  await expect(shown).toContainText('1,000 documents per day')
  await expect(shown).toContainText('2.5 GB')
  await expect(shown.getByRole('button')).toHaveCount(0)

  const changed = exampleOf(page, 'changed')
  await changed.getByRole('button', { name: 'Change limits' }).press('Enter')
  const requests = changed.getByLabel('Documents', { exact: true })
  const storage = changed.getByLabel('Storage in gigabytes')
  await expect(requests).toBeFocused()
  await expect(changed.getByLabel('Period').locator('option')).toHaveText([
    'in total',
    'per day',
    'per month (30 days)',
    'per year'
  ])
  await requests.fill('-5')
  await page.keyboard.press('Tab')
  await expect(requests).toHaveValue('0')
  await changed.getByLabel('Period').selectOption('P1Y')
  await storage.fill('1.2')
  await storage.press('Enter')
  await expect(changed).toContainText('0 documents per year')
  await expect(changed).toContainText('1.2 GB')
  await expect(changed.getByRole('button', { name: 'Change limits' })).toBeFocused()

  await changed.getByRole('button', { name: 'Change limits' }).click()
  await requests.fill('many')
  await storage.fill('')
  await storage.press('Enter')
  await expect(requests).toBeFocused()
  await expect(requests).toHaveAccessibleDescription('“many” is not a number: no limit')
  await requests.press('Enter')
  await expect(changed.getByText('Unlimited')).toHaveCount(2)
})

test('limits are read with units and grouping, and nothing mistyped is saved unseen', async ({
  page
}) => {
  await openLimitGallery(page, homeAddress())
  const changed = exampleOf(page, 'changed')
  const requests = changed.getByLabel('Documents', { exact: true })
  const storage = changed.getByLabel('Storage in gigabytes')
  const save = changed.getByRole('button', { name: 'Save limits' })
  const change = changed.getByRole('button', { name: 'Change limits' })

  await change.click()
  await requests.fill('10k')
  await storage.fill('500 MB')
  await storage.press('Enter')
  await expect(changed).toContainText('10,000 documents per day')
  await expect(changed).toContainText('500.0 MB')

  await change.click()
  await requests.fill('1.5')
  await save.click()
  await expect(requests).toHaveAccessibleDescription(/Use whole numbers only\./)
  await requests.fill('1.000.000')
  await expect(requests).toHaveAccessibleDescription('Leave empty for no limit.')
  await storage.fill('ten')
  await save.click()
  await expect(storage).toBeFocused()
  await expect(storage).toHaveAccessibleDescription('“ten” is not a number: no limit')
  // another text is announced again
  await storage.fill('twenty')
  await save.click()
  await expect(storage).toHaveAccessibleDescription('“twenty” is not a number: no limit')
  await save.click()
  await expect(changed).toContainText('1,000,000 documents per day')
  await expect(changed.getByText('Unlimited')).toHaveCount(1)
})

test('a limit below what is used is said while it is typed', async ({ page }) => {
  await openLimitGallery(page, homeAddress())
  const changed = exampleOf(page, 'changed')
  await changed.getByRole('button', { name: 'Change limits' }).click()
  const requests = changed.getByLabel('Documents', { exact: true })
  await requests.fill('11')
  await expect(requests).toHaveAccessibleDescription(
    'The group has already used 12. It can go on after May 4, 2026 at 12:00 AM, or when you raise the limit.'
  )
  await changed.getByLabel('Storage in gigabytes').fill('1')
  await expect(changed).toContainText('The group already stores 2.0 GB.')
  // nobody knows how much was used in a year
  await changed.getByLabel('Period').selectOption('P1Y')
  await expect(requests).toHaveAccessibleDescription('Leave empty for no limit.')
})

test('cancelling brings the limits back as they were', async ({ page }) => {
  await openLimitGallery(page, homeAddress('fr'))
  const changed = exampleOf(page, 'changed')
  for (const leave of ['button', 'Escape']) {
    await changed.getByRole('button', { name: 'Modifier les limites' }).click()
    const storage = changed.getByLabel('Stockage en gigaoctets')
    await expect(storage).toHaveValue('2,5')
    await storage.fill('9')
    if (leave === 'Escape') await storage.press('Escape')
    else await changed.getByRole('button', { name: 'Annuler' }).click()
    await expect(changed).toContainText('1 000 documents par jour')
    await expect(changed).toContainText('2,5 Go')
  }
})

test.describe('where the change fails', () => {
  test.use({ provoked: /^This page changes nothing$/ })

  test('a save that fails is logged, leaves the form, and keeps what was typed', async ({
    page
  }) => {
    const logged: string[] = []
    page.on('pageerror', error => logged.push(error.message))
    await openLimitGallery(page, homeAddress())
    const failing = exampleOf(page, 'failing')
    const requests = failing.getByLabel('Documents', { exact: true })
    await failing.getByRole('button', { name: 'Change limits' }).click()
    await requests.fill('7')
    await failing.getByRole('button', { name: 'Save limits' }).click()
    const note = failing.getByRole('alert')
    await expect(note).toContainText(
      'Your limits are not saved. Documents: 7 documents per day. Storage: 2.5 GB.'
    )
    await expect(failing.getByRole('button', { name: 'Change limits' })).toBeEnabled()
    await expect(failing).toContainText('1,000 documents per day')
    expect(logged).toEqual(['This page changes nothing'])

    await note.getByRole('button', { name: 'Retry' }).click()
    await expect.poll(() => logged.length).toBe(2)
    await note.getByRole('button', { name: 'Edit again' }).click()
    await expect(requests).toBeFocused()
    await expect(requests).toHaveValue('7')
    await requests.press('Escape')
    await expect(note).toHaveCount(0)
    // what the server has
    await failing.getByRole('button', { name: 'Change limits' }).click()
    await expect(requests).toHaveValue('1,000')
  })
})
