import { truncate, writeFile } from 'node:fs/promises'
import { expect, type Page } from '@playwright/test'
import { encodeText } from '../../../src/core/csv/encodings.ts'
import { confirmSession, selectPeople, signUpAdmin } from '../../helpers/e2e/admins.ts'
import { messyPeopleCsv } from '../../helpers/e2e/documents.ts'
import { test } from '../../helpers/e2e/journey.ts'
import { checkedLocales, inMatrix, inspectAtWidths } from '../../helpers/e2e/looks.ts'
import { downloadBy } from '../../helpers/e2e/page.ts'

async function openImports(page: Page, locale = 'en') {
  const { email, company, admin } = await signUpAdmin(page, locale)
  await page.goto(`${admin}/users-import`)
  await expect(page.locator('[data-step=file]')).toBeVisible()
  return { company, email, tag: `i${Date.now()}${Math.floor(Math.random() * 1e6)}` }
}

async function choose(page: Page, name: string, content: string | Uint8Array) {
  await page
    .locator('main input[type=file]')
    .setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(content) })
}

/** Continues from the preview of a file to the step that shows the checked rows. */
async function check(page: Page) {
  await page.getByRole('button', { name: 'Continue to the columns' }).click()
  await expect(page.getByRole('heading', { name: 'What is in the columns?' })).toBeFocused()
  await page.getByRole('button', { name: 'Check the rows' }).click()
  await expect(page.locator('[data-state=checked]')).toBeVisible({ timeout: 60_000 })
}

function verdict(page: Page, name: string) {
  return page.getByRole('button', { name: new RegExp(`^${name} [\\d,]+$`) })
}

test('a messy list of 1,000 people is imported, mended, undone and imported again', async ({
  page
}) => {
  const { company, email, tag } = await openImports(page)
  // other tests import lists into the same company
  const name = `${tag}.csv`
  const people = () =>
    selectPeople(company, `email like '%${tag}@example.com'`).then(rows => rows.length)
  await expect(page.getByText('at most 100,000 rows and 25.0 MB')).toBeVisible()
  await choose(page, name, messyPeopleCsv(tag))
  await expect(page.getByRole('heading', { name: 'Is the file read correctly?' })).toBeFocused()
  await expect(page.getByLabel('Separator')).toHaveValue(';')
  await expect(page.getByLabel('Encoding')).toHaveValue('windows-1252')
  await expect(page.getByRole('cell', { name: 'François Œuvrard 1', exact: true })).toBeVisible()
  await expect(page.getByText('1,000 rows', { exact: true })).toBeVisible()

  await page.getByRole('button', { name: 'Continue to the columns' }).click()
  await expect(page.getByLabel('Email')).toHaveValue('1')
  await expect(page.getByLabel('Name', { exact: true })).toHaveValue('0')
  await expect(page.getByText('These columns are not imported: Téléphone, Remarque.')).toBeVisible()
  // nothing is promised that a site without a mail server cannot do
  await expect(page.getByText('This site sends no email')).toBeVisible()
  await expect(page.getByLabel('Send no invitations yet')).toBeHidden()
  await page.getByRole('button', { name: 'Check the rows' }).click()
  await expect(page).toHaveURL(/\?import=[0-9a-f-]{36}$/)
  await expect(page.locator('[data-state=checked]')).toBeVisible({ timeout: 60_000 })
  // rows 250, 500, 750 and 1000, the empty one, the group, and the two that repeat an email
  await expect(verdict(page, 'Refused')).toHaveText('Refused 8')
  await expect(verdict(page, 'New')).toHaveText('New 992')
  expect(await people()).toBe(0)

  // the file counts its header
  await expect(page.getByRole('row', { name: /^251 / })).toContainText('This is not an email')
  const omitted = page.getByRole('button', { name: 'Download the 8 rows that are not imported' })
  const { bytes } = await downloadBy(page, () => omitted.click())
  const lines = new TextDecoder('windows-1252').decode(bytes).split('\r\n')
  expect(lines[0]).toBe('Nom;Courriel;Groupes;Téléphone;Remarque;Row;Error')
  expect(lines).toHaveLength(10)
  const lineOf = (row: number) => lines.find(line => line.includes(`;${row};`))
  expect(lineOf(251)).toMatch(
    /^Zoé Lefèvre 250;not an email;;'\+33 6 250;;251;Email: This is not an email/
  )
  expect(lineOf(445)).toMatch(/^'=1\+1 444;.*;445;Groups: There is no group/)

  // by keyboard alone: a wrong correction, then right ones
  await page.getByRole('row', { name: /^101 / }).getByLabel('Email').focus()
  await page.keyboard.press('Control+A')
  await page.keyboard.type('still wrong')
  await page.keyboard.press('Enter')
  await expect(page.getByText('Row 101 was checked again: Refused.')).toBeVisible()
  for (const row of [101, 201]) {
    await expect(
      page.getByRole('row', { name: new RegExp(`^${row} `) }).getByLabel('Email')
    ).toBeFocused()
    await page.keyboard.press('Control+A')
    await page.keyboard.type(`mended${row}.${tag}@example.com`)
    await page.keyboard.press('Enter')
    await expect(page.getByText(`Row ${row} was checked again: New.`)).toBeVisible()
  }
  await expect(verdict(page, 'Refused')).toHaveText('Refused 6')
  const run = page.getByRole('button', { name: 'Import 994 people' })
  await expect(run).toBeDisabled()

  // what was checked is still there after a reload, and so is the dialect of the file
  await page.reload()
  await expect(verdict(page, 'New')).toHaveText('New 994')
  await page.getByLabel('Skip the 6 refused rows').check()
  await run.click()
  await expect(page.getByRole('heading', { name: 'The import is done' })).toBeFocused({
    timeout: 60_000
  })
  const counted = page.getByRole('table', { name: /What the check announced/ })
  await expect(counted.getByRole('row', { name: 'New 994 994' })).toBeVisible()
  await expect(counted.getByRole('row', { name: 'Skipped 6 6' })).toBeVisible()
  await expect(page.getByText('994 people added, as announced.')).toBeVisible()
  expect(await people()).toBe(994)
  // exactly the guard of an export is taken away, and a formula stays what it is
  expect(await selectPeople(company, `email = 'person4.${tag}@example.com'`)).toMatchObject([
    { username: '=1+1 4' }
  ])

  await page.getByRole('button', { name: 'Undo this import…' }).click()
  await expect(page.getByRole('dialog')).toContainText('Remove 994 people?')
  await page.getByRole('dialog').getByRole('button', { name: 'Remove them' }).click()
  await expect(page.getByRole('heading', { name: 'The import has been undone' })).toBeVisible({
    timeout: 60_000
  })
  await expect(page.getByText('994 people removed')).toBeVisible()
  expect(await people()).toBe(0)

  await page.getByRole('button', { name: 'Start another import' }).click()
  await expect(page.getByRole('listitem').filter({ hasText: name }).first()).toContainText('Undone')
  await choose(page, name, messyPeopleCsv(tag))
  await check(page)
  await expect(verdict(page, 'New')).toHaveText('New 992')
  await page.getByLabel('Skip the 8 refused rows').check()
  await page.getByRole('button', { name: 'Import 992 people' }).click()
  await expect(page.getByText('992 people added, as announced.')).toBeVisible({ timeout: 60_000 })
  expect(await people()).toBe(992)

  await confirmSession(email)
  const links = await downloadBy(page, () =>
    page.getByRole('button', { name: 'Download the links' }).click()
  )
  await expect(page.getByText('992 links have been downloaded.')).toBeVisible({ timeout: 60_000 })
  // what could be a formula in a spreadsheet stays a text
  expect(String(links.bytes)).toContain(`\r\n'=1+1 4,person4.${tag}@example.com,http`)
})

test('faulty files and rows are named, and the others are imported', { tag: '@matrix' }, async ({
  page
}) => {
  await test.step('says what is wrong with a file, and takes cells from a spreadsheet', async () => {
    const { tag } = await openImports(page)
    await choose(page, 'empty.csv', '\r\n ; ;\r\n')
    await expect(page.getByRole('alert')).toContainText('empty.csv is empty')
    await choose(page, 'People.csv', 'PK\u0003\u0004 xl/workbook.xml')
    await expect(page.getByRole('alert')).toContainText('is a spreadsheet or an archive')
    // a file of the disk, because the bytes of a buffer take long to reach the browser
    const large = test.info().outputPath('People.csv')
    await writeFile(large, 'email\n')
    await truncate(large, 25_000_001)
    await page.locator('main input[type=file]').setInputFiles(large)
    await expect(page.getByRole('alert')).toContainText('the limit is 25.0 MB')
    await choose(page, 'wide.csv', 'email,'.repeat(1_000))
    await expect(page.getByRole('alert')).toContainText('more than 1,000 cells')
    await choose(
      page,
      'People.csv',
      `email,name\nann.${tag}@example.com,"Ann\nbob@example.com,Bob\n`
    )
    await expect(page.getByText('Row 2 opens a quotation mark that is never closed')).toBeVisible()
    await expect(page.getByRole('button', { name: 'Continue to the columns' })).toHaveAttribute(
      'aria-disabled',
      'true'
    )
    await page.getByRole('button', { name: 'Choose another file' }).click()
    await choose(page, 'People.csv', `email;name\nann.${tag}@example.com;Ann;x\nb;B\n`)
    await expect(page.getByText('Row 2 has more cells than the first row')).toBeVisible()
    await page.getByRole('button', { name: 'Choose another file' }).click()

    await page.getByText('Paste from a spreadsheet').click()
    await page
      .getByLabel('Cells')
      .fill(`ann.${tag}@example.com\tAnn\nbob.${tag}@example.com\tBob\n`)
    await page.getByRole('button', { name: 'Use these cells' }).click()
    await expect(page.getByLabel('Separator')).toHaveValue('\t')
    await expect(page.getByLabel('Names of the columns')).toHaveValue('')
    await page.getByRole('button', { name: 'Continue to the columns' }).click()
    await expect(page.getByLabel('Email')).toHaveValue('0')
    // the choice of a column is remembered only for headings, which these cells have not
    await page.getByLabel('Name', { exact: true }).selectOption({ label: 'Column B' })
    await page.getByRole('button', { name: 'Check the rows' }).click()
    await expect(verdict(page, 'New')).toHaveText('New 2', { timeout: 60_000 })
    await page.getByRole('button', { name: 'Discard this import' }).click()
    await expect(page.getByRole('heading', { name: 'Choose a file' })).toBeFocused()
  })

  await test.step('a refused row is skipped and taken back by keyboard, and the others are imported', async () => {
    const { company, tag } = await openImports(page)
    await choose(page, 'People.csv', `email\nann.${tag}@example.com\nbob@\n@carl\n`)
    await check(page)
    const run = page.getByRole('button', { name: 'Import 1 person' })
    await expect(run).toBeDisabled()
    await page.getByRole('button', { name: 'Skip row 3' }).focus()
    await page.keyboard.press('Enter')
    await expect(page.getByText('Row 3 is skipped.')).toBeVisible()
    await expect(page.getByText('1 row is skipped.')).toBeVisible()
    await expect(page.getByRole('button', { name: 'Skip row 4' })).toBeFocused()
    await page.keyboard.press('Enter')
    await expect(page.getByText('2 rows are skipped.')).toBeVisible()
    await expect(verdict(page, 'Refused')).toHaveText('Refused 0')
    await verdict(page, 'Skipped').click()
    await expect(page.getByRole('row', { name: /^3 / })).toContainText('This is not an email')
    await inspectAtWidths(page, 1280)
    await page.getByRole('button', { name: 'Stop skipping row 3' }).focus()
    await page.keyboard.press('Enter')
    await expect(page.getByText('Row 3 is no longer skipped: Refused.')).toBeVisible()
    await expect(page.getByRole('button', { name: 'Stop skipping row 4' })).toBeFocused()
    await expect(run).toBeDisabled()
    await verdict(page, 'Refused').click()
    await page.getByRole('button', { name: 'Skip row 3' }).click()
    await run.click()
    const counted = page.getByRole('table', { name: /What the check announced/ })
    await expect(counted.getByRole('row', { name: 'New 1 1' })).toBeVisible({ timeout: 60_000 })
    await expect(counted.getByRole('row', { name: 'Skipped 2 2' })).toBeVisible()
    expect(await selectPeople(company, `email like '%${tag}@example.com'`)).toHaveLength(1)
  })
})

test(
  'a list with a title, old letters and the name in two columns is imported',
  inMatrix,
  async ({ page }) => {
    const { company, tag } = await openImports(page)
    const rows = `Liste;;\r\n\r\nPRENOM;NOM;ADRESSE ELECTRONIQUE\r\nŁucja;Wiśniewska;<l.${tag}@example.com>\r\n`
    await choose(page, 'People.csv', encodeText(rows, 'windows-1250', false) ?? '')
    await expect(page.getByLabel('Encoding')).toHaveValue('windows-1250')
    expect(page.workers().map(worker => worker.url())).toContainEqual(
      expect.stringMatching(/\/worker-csv-/)
    )
    const headings = page.getByLabel('Names of the columns')
    await expect(headings).toHaveValue('3')
    await headings.selectOption({ label: 'The file has none' })
    await expect(page.getByText('3 rows', { exact: true })).toBeVisible()
    await headings.selectOption({ label: 'Row 3: PRENOM · NOM · ADRES…' })
    await expect(page.getByText('1 row', { exact: true })).toBeVisible()
    await page.getByRole('button', { name: 'Continue to the columns' }).click()
    await expect(page.getByText('For example: Łucja Wiśniewska')).toHaveCount(2)
    await page.getByRole('button', { name: 'Check the rows' }).click()
    await page.getByRole('button', { name: 'Import 1 person' }).click({ timeout: 60_000 })
    await expect(page.getByText('1 person added, as announced.')).toBeVisible({ timeout: 60_000 })
    expect(await selectPeople(company, `email = 'l.${tag}@example.com'`)).toMatchObject([
      { username: 'Łucja Wiśniewska' }
    ])
  }
)

for (const locale of checkedLocales) {
  test(`every step reads well in ${locale}, in narrow windows and in the dark`, {
    tag: '@matrix'
  }, async ({ page }) => {
    const { tag } = await openImports(page, locale)
    await inspectAtWidths(page, 1280)
    const list = `Nom;Courriel;Groupes;Langue\nZoé;zoe.${tag}@example.com;;fr\nAnn;ann@;Nobody;xx\n`
    await choose(page, 'People.csv', list)
    await expect(page.locator('[data-step=read] table')).toBeVisible()
    await inspectAtWidths(page, 1280)
    await page.locator('[data-step=read] .btn-primary').click()
    await expect(page.locator('[data-step=columns]')).toBeVisible()
    await inspectAtWidths(page, 1280)
    await page.locator('[data-step=columns] .btn-primary').click()
    await expect(page.locator('[data-state=checked] tbody tr')).toBeVisible({ timeout: 60_000 })
    await inspectAtWidths(page, 1280)
    await page.getByRole('checkbox').check()
    await page.locator('[data-state=checked] .btn-primary').click()
    await expect(page.locator('[data-state=done]')).toBeVisible({ timeout: 60_000 })
    await inspectAtWidths(page, 1280)
  })
}
