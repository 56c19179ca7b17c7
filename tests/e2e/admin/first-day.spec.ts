import { expect, type Page } from '@playwright/test'
import { encodeText } from '../../../src/core/csv/encodings.ts'
import type { Translate } from '../../../src/i18n/index.ts'
import { askDatabase, makeAdmin } from '../../helpers/e2e/admins.ts'
import { makePdf } from '../../helpers/e2e/documents.ts'
import { test } from '../../helpers/e2e/journey.ts'
import { nextPassword, startSession } from '../../helpers/e2e/page.ts'
import { translatorOfAllWords } from '../../helpers/words.ts'

const home = (locale: string) => `${test.info().project.use.baseURL}/${locale}`

for (const locale of ['en', 'fr'] as const) {
  test(`an administrator’s first day, in ${locale}`, async ({ page, browser }) => {
    test.setTimeout(240_000)
    const t = translatorOfAllWords(locale)
    const tag = `d${Date.now()}`
    const email = await startSession(page, home(locale), { username: 'Anna Admin' })
    const company = await makeAdmin(email)
    const admin = `${home(locale)}/admin/${company}`
    const category = `Diplomas ${tag}`
    const group = `Leaving ${tag}`

    // a category, a group with a limit, and the group may use the category
    await page.goto(`${admin}/create/category`)
    await ready(page)
    await page.locator(`input[name="names.${locale}"]`).fill(category)
    await submit(page, category)
    await page.goto(`${admin}/create/group`)
    await ready(page)
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
    await page.getByRole('button', { name: t('imports.wizard.run.undo') }).click()
    const undo = page
      .getByRole('dialog')
      .getByRole('button', { name: t('imports.wizard.run.undoYes') })
    await undo.click()
    await expect(
      page.getByRole('heading', { name: t('imports.wizard.run.undoneTitle') })
    ).toBeVisible({ timeout: 60_000 })
    await page.getByRole('button', { name: t('imports.wizard.again') }).click()
    await importPeople(page, t, { tag, group, mends: 0 })

    // one of them activates the account with the link that the administrator passes on
    await page.goto(`${admin}/users?q=person4.${tag}@example.com`)
    await page.locator('.data-table tbody th a').first().click()
    await expect(page.locator('[data-member-state=invited]')).toBeVisible()
    const personPage = page.url()
    await page.getByRole('button', { name: t('person.access.again') }).click()
    const link = await page.getByText(/activate-account#t=/).textContent()
    const member = await (await browser.newContext()).newPage()
    // the language of the page becomes that of the account
    await member.goto((link ?? '').replace('/en/', `/${locale}/`))
    await member.locator('input[name=username]').fill('Mona Member')
    for (const field of await member.locator('input[type=password]').all())
      await field.fill(nextPassword)
    await member.locator('main form [type=submit]').click()
    await expect(member.locator('html')).toHaveAttribute('data-session', 'in', { timeout: 60_000 })

    // deposits to the limit and is stopped in words that say what to do
    await member.goto(`${home(locale)}/deposit`)
    await deposit(member, `one-${tag}`)
    await expect(member.getByText(t('deposit.state.done'), { exact: true })).toBeVisible({
      timeout: 60_000
    })
    await deposit(member, `two-${tag}`)
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
    await expect(member.getByText(t('deposit.state.done'), { exact: true })).toHaveCount(2, {
      timeout: 60_000
    })

    // disables the person, whose window says so, and finds in the audit log who did what
    await page.goto(personPage)
    await page.getByRole('button', { name: t('person.access.disable') }).click()
    await page.locator('select[name=reason]').selectOption('left')
    await page.getByRole('button', { name: t('person.access.confirmDisable'), exact: true }).click()
    await expect(page.locator('[data-member-state=disabled]')).toBeVisible()
    await expect(member).toHaveURL(/\/disabled/, { timeout: 40_000 })
    // other tests act in the same company at the same time
    const [own] = await askDatabase<{ id: string }>('select id from "user" where email = $1', [
      email
    ])
    await page.goto(`${admin}/audit?actor=${own?.id}`)
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

async function ready(page: Page): Promise<void> {
  await expect(page.locator('main form [type=submit]')).toBeEnabled()
}

/** Submits the form that creates something and waits for the page of what was created. */
async function submit(page: Page, name: string): Promise<void> {
  await page.locator('main form [type=submit]').click()
  await expect(page.getByRole('heading', { level: 1, name })).toBeVisible()
}

async function deposit(page: Page, name: string): Promise<void> {
  const file = await makePdf(`${name}.pdf`, name)
  await page.locator('main input[type=file]').first().setInputFiles(file)
}

interface List {
  tag: string
  group: string
  /** How many refused rows are mended before the import. */
  mends: number
}

/** Imports the list from the first step on, and waits until its people are in the company. */
async function importPeople(page: Page, t: Translate, { tag, group, mends }: List): Promise<void> {
  await page.locator('main input[type=file]').setInputFiles({
    name: 'People.csv',
    mimeType: 'text/csv',
    buffer: Buffer.from(messyList(tag, group))
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

/** How many rows of `messyList` the check refuses. */
const omittedRows = 5

/** A list as an office has it: semicolons, Windows-1252, formulas, duplicates and bad e-mails. */
function messyList(tag: string, group: string): Uint8Array {
  const rows = Array.from({ length: 1_000 }, (_, at) => {
    const number = at + 1
    const email =
      number % 250 === 0 ? 'not an email' : `person${number === 7 ? 6 : number}.${tag}@example.com`
    const name = number % 97 === 0 ? '=1+1' : `Zoé Lefèvre ${number}`
    return [name, email, group].join(';')
  })
  const text = `${['Nom;Courriel;Groupes', ...rows].join('\r\n')}\r\n`
  const bytes = encodeText(text, 'windows-1252', false)
  if (!bytes) throw new Error('the list has letters that Windows-1252 has not')
  return bytes
}
