import { expect, type Page } from '@playwright/test'
import type { Translate } from '../../../src/i18n/index.ts'
import { openCreateForm, queryServiceDatabase, signUpAdmin } from '../../helpers/e2e/admins.ts'
import { messyPeopleCsv } from '../../helpers/e2e/documents.ts'
import { test } from '../../helpers/e2e/journey.ts'
import { checkedLocales } from '../../helpers/e2e/looks.ts'
import { activateAccount, chooseFiles, homeAddress, textFile } from '../../helpers/e2e/page.ts'
import { translatorOfAllWords } from '../../helpers/words.ts'

// with motion, as most people see the pages
test.use({ contextOptions: { reducedMotion: 'no-preference' } })

for (const locale of checkedLocales) {
  test(`an administrator’s first day, in ${locale}`, async ({ page, browser }) => {
    test.setTimeout(240_000)
    const t = translatorOfAllWords(locale)
    const tag = `d${Date.now()}`
    const { email, admin } = await signUpAdmin(page, locale)
    const category = `Diplomas ${tag}`
    const group = `Leaving ${tag}`

    // a category, a group with a limit, and the group may use the category
    await openCreateForm(page, admin, 'category')
    await page.locator(`input[name="names.${locale}"]`).fill(category)
    await submit(page, category)
    await openCreateForm(page, admin, 'group')
    await page.locator('input[name=name]').fill(group)
    await page.locator('input[name=max_requests]').fill('1')
    await submit(page, group)
    const groupPage = page.url()
    const categories = page.locator('[aria-labelledby=group-categories]')
    await categories.getByRole('combobox').fill(category)
    await page.getByRole('option', { name: category }).click()
    await expect(categories.getByRole('listitem').filter({ hasText: category })).toBeVisible()

    // 1,000 people from a messy file: two are mended, the rest of the refused ones are skipped
    await page.goto(`${admin}/users-import`)
    await expect(page.locator('[data-step=file]')).toBeVisible()
    await importPeople(page, t, { tag, group, mends: 2 })

    // one of them activates the account with the link that the administrator passes on
    await page.goto(`${admin}/users?q=person4.${tag}@example.com`)
    await page.locator('.data-table tbody th a').first().click()
    await expect(page.locator('[data-member-state=invited]')).toBeVisible()
    const personPage = page.url()
    await page.getByRole('button', { name: t('person.access.newLink') }).click()
    const link = await page.getByText(/activate-account#t=/).textContent()
    const member = await (await browser.newContext({ locale })).newPage()
    // the language of the page becomes that of the account
    await activateAccount(member, (link ?? '').replace('/en/', `/${locale}/`), 'Mona Member')

    // deposits to the limit and is stopped in words that say what to do
    await member.goto(`${homeAddress(locale)}/deposit`)
    await chooseFiles(member, textFile(`one-${tag}.txt`))
    const sealed = member.locator('li').getByText(new RegExp(`^${t('deposit.state.sealed')}`))
    await expect(sealed).toBeVisible({ timeout: 60_000 })
    await chooseFiles(member, textFile(`two-${tag}.txt`))
    await expect(
      member.getByText(t('errors.request_limit_reached', { used: '1', limit: '1' })).first()
    ).toBeVisible({
      timeout: 30_000
    })

    // the administrator raises the limit, and it works at once
    await page.goto(groupPage)
    await page.getByRole('button', { name: t('limits.edit') }).click()
    await page.locator('input[name=max_requests]').fill('2')
    await page.getByRole('button', { name: t('limits.save') }).click()
    await expect(page.locator('[aria-labelledby=group-limits]')).toContainText('2')
    await member
      .getByRole('button', { name: t('deposit.action.resume') })
      .first()
      .click()
    await expect(sealed).toHaveCount(2, { timeout: 60_000 })

    // disables the person, whose window says so, and finds in the audit log who did what
    await page.goto(personPage)
    await page.getByRole('button', { name: t('person.access.disable') }).click()
    await page.locator('select[name=reason]').selectOption('left')
    await page.getByRole('button', { name: t('person.access.confirmDisable'), exact: true }).click()
    await expect(page.locator('[data-member-state=disabled]')).toBeVisible()
    await expect(member).toHaveURL(/\/disabled/, { timeout: 40_000 })
    // other tests act in the same company at the same time
    const [own] = await queryServiceDatabase<{ id: string }>(
      'select id from "user" where email = $1',
      [email]
    )
    await page.goto(`${admin}/audit?person=${own?.id}`)
    const log = page.getByRole('main')
    for (const done of [
      t('changes.actions.user.disable', { who: 'Anna Admin', what: 'Mona Member' }),
      t('changes.actions.group.update', { who: 'Anna Admin', what: group }),
      t('changes.actions.category.create', { who: 'Anna Admin', what: category })
    ]) {
      await expect(log.getByText(done).first()).toBeVisible()
    }
  })
}

/** Submits the form that creates something and waits for the page of what was created. */
async function submit(page: Page, name: string): Promise<void> {
  await page.locator('main form [type=submit]').click()
  await expect(page.getByRole('heading', { level: 1, name })).toBeVisible()
}

interface List {
  tag: string
  group: string
  /** Number of refused rows that are corrected before the import. */
  mends: number
}

/** Imports `messyPeopleCsv` through all steps of the page, and waits until the import has ended. */
async function importPeople(page: Page, t: Translate, { tag, group, mends }: List): Promise<void> {
  await page.locator('main input[type=file]').setInputFiles({
    name: 'People.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(messyPeopleCsv(tag, group))
  })
  await page.getByRole('button', { name: t('imports.wizard.read.next') }).click()
  await page.getByRole('button', { name: t('imports.wizard.columns.check') }).click()
  await expect(page.locator('[data-state=checked]')).toBeVisible({ timeout: 60_000 })
  const refused = page.getByRole('row').filter({ has: page.locator('input[aria-invalid=true]') })
  for (let at = 0; at < mends; at++) {
    await expect(refused).toHaveCount(omittedRows - at)
    await refused.first().locator('input[aria-invalid=true]').fill(`mended${at}.${tag}@example.com`)
    await page.keyboard.press('Enter')
  }
  await expect(refused).toHaveCount(omittedRows - mends)
  const skipped = omittedRows - mends
  await page.getByLabel(t('imports.wizard.check.skip', { count: skipped })).check()
  await page
    .getByRole('button', { name: t('imports.users.run', { count: 1_000 - skipped }) })
    .click()
  await expect(page.getByRole('heading', { name: t('imports.wizard.run.doneTitle') })).toBeVisible({
    timeout: 60_000
  })
}

/** Number of rows of `messyPeopleCsv` that the check refuses. */
const omittedRows = 8
