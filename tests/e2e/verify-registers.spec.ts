import { createHash, randomUUID } from 'node:crypto'
import { expect, test } from '@playwright/test'
import { inspectInSchemes } from '../helpers/e2e/accessibility.ts'
import { queryServiceDatabase, signUpAdmin } from '../helpers/e2e/admins.ts'
import { schemes } from '../helpers/e2e/looks.ts'
import { chooseFiles, textFile } from '../helpers/e2e/page.ts'
import { makeServiceRegister } from '../helpers/e2e/registers.ts'
import { diplomaColumns, fileColumns } from '../helpers/registers.ts'

test('a stranger verifies a diploma by number and name, then by file', async ({
  page,
  browser
}) => {
  const { company } = await signUpAdmin(page)
  const [category] = await queryServiceDatabase<{ id: string }>(
    `select id from category where company_id = $1 and visibility = 'public' limit 1`,
    [company]
  )
  const tag = randomUUID().slice(0, 8)
  const text = `diploma ${tag}`
  const registers = [
    await makeServiceRegister(company, {
      columns: diplomaColumns,
      rows: [[`D-${tag}`, 'Lovelace', '1815-12-10', 'Master of Science']],
      category: category?.id ?? '',
      name: `Diplomas ${tag}`
    }),
    await makeServiceRegister(company, {
      columns: fileColumns,
      rows: [[createHash('sha256').update(text).digest('hex'), `Scan of ${tag}`]],
      category: category?.id ?? '',
      name: `Scans ${tag}`
    })
  ]
  try {
    const context = await browser.newContext({ viewport: { width: 320, height: 800 } })
    const stranger = await context.newPage()
    await stranger.goto('/en/verify')
    const form = stranger.locator('[data-verify=reference]')
    await expect(form.getByRole('heading', { name: 'Verify without a file' })).toBeVisible()
    await inspectInSchemes(stranger, schemes)
    await form.getByLabel('Diploma number').fill(`d-${tag}`)
    await form.getByLabel('Last name').fill('Byron')
    await form.getByLabel('Date of birth').fill('1815-12-10')
    await form.getByLabel('Date of birth').press('Enter')
    const verdict = stranger.locator('[data-verdict]')
    await expect(verdict.getByText('Check every field: one wrong character')).toBeVisible()
    await expect(verdict.getByRole('heading')).toBeFocused()

    await form.getByLabel('Last name').fill('LOVELACE')
    await form.getByRole('button', { name: 'Look up' }).click()
    await expect(verdict.getByRole('heading')).toContainText(
      `lists these details in the register “Diplomas ${tag}”`
    )
    await expect(verdict.getByText('Master of Science')).toBeVisible()
    await expect(verdict.getByText('Lovelace', { exact: false })).toHaveCount(0)
    await inspectInSchemes(stranger, schemes)

    await chooseFiles(stranger, textFile('diploma.txt', text))
    await expect(verdict.getByRole('heading')).toContainText(
      `but the register “Scans ${tag}” lists it`
    )
    await expect(verdict.getByText(`Scan of ${tag}`)).toBeVisible()
    await stranger.goto('/fr/verify')
    await expect(form.getByLabel('Date de naissance')).toHaveAttribute('type', 'date')
    await expect(form.getByRole('heading', { name: 'Vérifier sans fichier' })).toBeVisible()
    await context.close()
  } finally {
    const ids = registers.map(({ id }) => id)
    await queryServiceDatabase('delete from category_data_source where source_id = any ($1)', [ids])
  }
})
