import { resolve } from 'node:path'
import { expect, type Locator, type Page } from '@playwright/test'
import type pg from 'pg'
import { fetchAt } from '../client.ts'
import { queryDatabase } from '../service.ts'
import { dataDir } from './data-dir.ts'
import { homeAddress, type Person, siteAddress, startSession } from './page.ts'

/**
 * Gives a person these permissions by SQL, by default only `admin`. `folder` is the data folder of
 * the service where the person is, by default the service under test. Returns the id of the
 * person's company.
 */
export async function makeAdmin(
  email: string,
  permissions = ['admin'],
  folder?: string
): Promise<string> {
  const [company] = await queryServiceDatabase<{ company_id: string }>(
    'update "user" set permissions = $2 where email = $1 returning company_id',
    [email, permissions],
    folder
  )
  if (!company) throw new Error(`nobody has the e-mail ${email}`)
  return company.company_id
}

/**
 * Signs up a person and makes them an administrator. `site` is the address of the home page on
 * which they sign up. Returns the e-mail, the id of the company and the address of the company's
 * administration.
 */
export async function signUpAdmin(
  page: Page,
  locale = 'en',
  { site = homeAddress(locale), ...person }: Person & { site?: string } = {}
) {
  const email = await startSession(page, site, { username: 'Anna Admin', ...person })
  const company = await makeAdmin(email)
  return { email, company, admin: `${site}/admin/${company}` }
}

/** Makes a call of the API as the person who is signed in on a page. Returns the answer. */
export async function callApi(page: Page, method: string, path: string, body: object) {
  const { host, port, protocol } = new URL(siteAddress())
  const cookies = await page.context().cookies()
  const token = cookies.find(({ name }) => name === '__Host-vidimus')?.value
  const answer = await fetchAt(Number(port))(`${protocol}//api.${host}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body)
  })
  const text = await answer.text()
  expect(answer.status, text).toBeLessThan(300)
  return JSON.parse(text)
}

/** Opens the page that creates something, such as a `group`, and waits until its script runs. */
export async function openCreateForm(page: Page, admin: string, name: string): Promise<void> {
  await page.goto(`${admin}/create/${name}`)
  const submit = page.locator('main form [type=submit]')
  await expect(submit).toBeEnabled()
  // the page is hidden, and its fields take no focus, until it is known who has opened it
  await expect(submit).toBeVisible()
}

/** Creates a group through its form, in English, and waits for the page of the group. */
export async function createGroup(page: Page, admin: string, name: string): Promise<void> {
  await openCreateForm(page, admin, 'group')
  await page.getByLabel('Name', { exact: true }).fill(name)
  await page.getByRole('button', { name: 'Create group' }).click()
  await expect(page.getByRole('heading', { level: 1, name })).toBeVisible()
  await expect(page).toHaveURL(/\/groups\/[0-9a-f-]{36}$/)
}

/** Returns the part of a page with this heading. */
export function section(page: Page, name: string): Locator {
  return page.getByRole('region', { name, exact: true })
}

/**
 * Marks the sessions of a person as confirmed by password for some minutes. Meanwhile the product
 * does not ask for the password again before sensitive calls.
 */
export async function confirmSession(email: string, minutes = 5): Promise<void> {
  await queryServiceDatabase(
    `update session set confirmed_until = now() + $2 * interval '1 minute' from "user" u
      where u.id = session.user_id and u.email = $1`,
    [email, minutes]
  )
}

/** Returns the id of the group that new people of a company join. */
export async function defaultGroupOf(company: string): Promise<string> {
  const [group] = await queryServiceDatabase<{ id: string }>(
    'select id from "group" where company_id = $1 and is_default',
    [company]
  )
  return group?.id ?? ''
}

/** Takes a person out of the group that new people join. */
export async function leaveDefaultGroup(email: string): Promise<void> {
  await queryServiceDatabase(
    `delete from group_user using "group" g, "user" u
      where (g.company_id, g.id) = (group_user.company_id, group_user.group_id) and g.is_default
        and (u.company_id, u.id) = (group_user.company_id, group_user.user_id) and u.email = $1`,
    [email]
  )
}

/** Returns the people of a company for whom an SQL condition is true. */
export function selectPeople(
  company: string,
  condition: string
): Promise<{ email: string; username: string }[]> {
  return queryServiceDatabase(
    `select email, username from "user" where company_id = $1 and ${condition}`,
    [company]
  )
}

/**
 * Runs an SQL statement as the owner of the database. `folder` is the data folder of the service to
 * which the database belongs, by default the service under test. Returns the rows.
 */
export async function queryServiceDatabase<Row extends pg.QueryResultRow>(
  text: string,
  values: unknown[],
  folder = dataDir
): Promise<Row[]> {
  return queryDatabase<Row>(resolve(folder), text, values)
}

interface People {
  /** The first part of each name. The second part is a number of three digits: `Ada` → `Ada 007` */
  word: string
  count: number
  isInvited?: boolean
}

/**
 * Adds people to a company and its default group. Their e-mail addresses are made up; nobody reads
 * mails to them.
 */
export async function addPeople(
  company: string,
  { word, count, isInvited = false }: People
): Promise<void> {
  await queryServiceDatabase(
    `with made as (
       insert into "user"
         (company_id, id, email, username, tokens_valid_after, created_at, activated_at, version)
       select $1, gen_random_uuid(), lower($2) || n || '@people.example',
              $2 || ' ' || lpad(n::text, 3, '0'), now(), now() - n * interval '1 hour',
              case when $4 then null else now() end, 1
         from generate_series(1, $3::int) n returning company_id, id
     )
     insert into group_user (company_id, group_id, user_id)
     select made.company_id, g.id, made.id
       from made join "group" g using (company_id) where g.is_default`,
    [company, word, count, isInvited]
  )
}
