import { createServer } from 'node:http'
import { expect, type Page } from '@playwright/test'
import { openCreateForm, signUpAdmin } from '../../helpers/e2e/admins.ts'
import { messyDiplomasCsv } from '../../helpers/e2e/documents.ts'
import { test } from '../../helpers/e2e/journey.ts'
import { tabTo, tabToTarget } from '../../helpers/e2e/keyboard.ts'
import { checkedLocales, inspectAtWidths } from '../../helpers/e2e/looks.ts'
import { downloadBy } from '../../helpers/e2e/page.ts'
import { listenLocally } from '../../helpers/servers/listen.ts'
import { translatorOfAllWords } from '../../helpers/words.ts'

async function choose(page: Page, name: string, content: string | Uint8Array) {
  await page
    .locator('main input[type=file]')
    .setInputFiles({ name, mimeType: 'text/csv', buffer: Buffer.from(content) })
  await expect(page.locator('[data-step=read]')).toBeVisible()
}

for (const locale of checkedLocales) {
  test(`a clerk imports 20,000 messy diplomas, appends mended rows, undoes and repeats, in ${locale}`, async ({
    page
  }) => {
    const t = translatorOfAllWords(locale)
    const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
    const { admin } = await signUpAdmin(page, locale)
    const name = `Diplomas ${Date.now()}`

    await openCreateForm(page, admin, 'data_source')
    await inspectAtWidths(page, 320, 1280)
    await page.locator('input[name=name]').fill(name)
    await press(t('dataSources.create.submit'))
    await expect(page.getByRole('heading', { level: 1, name })).toBeVisible()
    await expect(page.getByText(t('dataSources.create.done', { name }))).toBeVisible()
    await inspectAtWidths(page, 320, 1280)
    const register = page.url()
    await page.getByRole('link', { name: t('dataSources.import') }).click()
    await expect(page.locator('[data-step=file]')).toBeVisible()

    // the file is that of a spreadsheet: semicolons, Windows-1252, a title, days first
    await choose(page, 'diplomas 2026.csv', messyDiplomasCsv())
    await expect(page.getByLabel(t('imports.wizard.read.encoding'))).toHaveValue('windows-1252')
    await inspectAtWidths(page, 320, 1280)
    await press(t('imports.wizard.read.next'))
    await expect(page.locator('[data-column]')).toHaveCount(5)
    await inspectAtWidths(page, 320, 1280)
    await press(t('registerImports.columns.start'))
    await expect(page).toHaveURL(/\?import=[0-9a-f-]{36}$/)
    await expect(page.locator('[data-state=checked]')).toBeVisible({ timeout: 60_000 })
    await expect(page.locator('[data-dry-run]')).toContainText(
      t('registerImports.counts.refused', { count: 3 })
    )
    await inspectAtWidths(page, 320, 1280)

    // another tab shows the same
    await page.reload()
    await expect(page.locator('[data-dry-run]')).toContainText(
      t('registerImports.counts.new', { count: 19_997 })
    )
    const download = page.getByRole('button', {
      name: t('registerImports.refused.download', { count: 3 })
    })
    const { bytes } = await downloadBy(page, () => download.click())
    expect(new TextDecoder().decode(bytes).trim().split(/\r?\n/)).toHaveLength(4)
    await press(t('registerImports.check.skipAndRun', { count: 3 }))
    await expect(page.locator('[data-version="1"]')).toBeVisible({ timeout: 30_000 })

    // the three rows, mended
    await press(t('registerImports.run.append'))
    const mended = [100, 200, 300].map(at => `Vale;Iris;03/05/1999;M-${at};Master;2024`)
    const header = 'Nom;Prénom;Date de naissance;Numéro de diplôme;Diplôme;Année'
    await choose(page, 'mended rows.csv', [header, ...mended].join('\n'))
    await press(t('imports.wizard.read.next'))
    await expect(page.getByLabel(t('registerImports.mode.append'))).toBeChecked()
    await press(t('registerImports.columns.start'))
    await expect(page.locator('[data-state=checked]')).toBeVisible({ timeout: 60_000 })
    await press(t('registerImports.check.run'))
    await expect(page.locator('[data-version="2"]')).toBeVisible({ timeout: 30_000 })
    await press(t('registerImports.run.undo'))
    await press(t('dataSources.undo.yes'))
    await expect(page.locator('[data-state=undone]')).toBeVisible({ timeout: 30_000 })

    // imported again, by the keyboard alone
    const pressByKeys = async (button: string) => {
      await tabTo(page, 'button', button)
      await page.keyboard.press('Enter')
    }
    await pressByKeys(t('registerImports.run.again'))
    await tabToTarget(page, page.locator('main input[type=file]'), 'the file input')
    await choose(page, 'mended rows.csv', [header, ...mended].join('\n'))
    await pressByKeys(t('imports.wizard.read.next'))
    await tabToTarget(page, page.getByLabel(t('registerImports.mode.replace')), 'the modes')
    await page.keyboard.press('ArrowDown')
    await expect(page.getByLabel(t('registerImports.mode.append'))).toBeChecked()
    await pressByKeys(t('registerImports.columns.start'))
    await expect(page.locator('[data-state=checked]')).toBeVisible({ timeout: 60_000 })
    await pressByKeys(t('registerImports.check.run'))
    await expect(page.locator('[data-version="4"]')).toBeVisible({ timeout: 30_000 })
    await page.goto(register)
    await expect(page.locator('[data-figure=rows]')).toContainText(/20[\s,]000/)
    await expect(page.locator('tr[data-version]')).toHaveCount(4)
    await inspectAtWidths(page, 320, 1280)

    // the list as it was, fetched from an address: without the three rows that were mended
    await using server = createServer((_, answer) => answer.end(messyDiplomasCsv()))
    const address = `http://127.0.0.1:${await listenLocally(server)}/lists/all%20diplomas.csv`
    await page.getByRole('link', { name: t('dataSources.import') }).click()
    await page.getByText(t('registerImports.address.open')).click()
    await page.getByLabel(t('registerImports.address.label')).fill('127.0.0.1')
    await press(t('registerImports.address.start'))
    await expect(page.getByText(t('registerImports.address.refused'))).toBeVisible()
    await inspectAtWidths(page, 320, 1280)
    await page.getByLabel(t('registerImports.address.label')).fill(address)
    await page.keyboard.press('Enter')
    await expect(page.locator('[data-state=checked]')).toBeVisible({ timeout: 60_000 })
    await expect(page.locator('[data-state=checked]')).toContainText(t('registerImports.noName'))
    await press(t('registerImports.check.skipAndRun', { count: 3 }))
    await press(t('registerImports.check.removeYes', { count: 3 }))
    await expect(page.locator('[data-version="5"]')).toBeVisible({ timeout: 30_000 })
  })
}
