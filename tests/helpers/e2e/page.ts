import { readFile } from 'node:fs/promises'
import { expect, type Locator, type Page, type Request, test } from '@playwright/test'
import { readTokenExpirySeconds } from '../../../src/core/keys/access-token.ts'
import type { Locale } from '../../../src/i18n/index.ts'
import { newEmail, signUpAt } from '../client.ts'
import { deriveKeys, makeKeys } from '../keys.ts'

export const password = 'a long sentence to keep'
export const nextPassword = 'seven green bicycles in the rain'

/** What the row of a document says that is on record. It is sealed within a second. */
export const sealedWord = /^Sealed( at .+)?$/

export interface Person {
  email?: string
  username?: string
  chosen?: string
}

/** Returns the address of the site under test: `http://localhost:4391` */
export function siteAddress(): string {
  return test.info().project.use.baseURL ?? ''
}

/** Returns the address of the home page in a language: `http://localhost:4391/en` */
export function homeAddress(locale = 'en'): string {
  return `${siteAddress()}/${locale}`
}

/** Signs a person up through the form of the page. Returns the e-mail, like `signUp`. */
export async function signUpByHand(page: Page, home: string, person: Person = {}): Promise<string> {
  const { email, username, chosen } = { ...somebody(), ...person }
  await page.goto(`${home}/sign-up`)
  await expect(page.locator('main form [type=submit]')).toBeEnabled()
  await page.locator('input[name=email]').fill(email)
  await page.locator('input[name=username]').fill(username)
  for (const field of await page.locator('input[type=password]').all()) await field.fill(chosen)
  await page.locator('main form [type=submit]').click()
  await expectSignedInAt(page, home)
  return email
}

/**
 * Signs a person up through the API and puts their session into the browser, then opens `home`, a
 * home page in one language. Returns the e-mail.
 */
export async function signUp(page: Page, home: string, person: Person = {}): Promise<string> {
  const email = await startSession(page, home, person)
  await page.goto(home)
  await expectSignedInAt(page, home)
  // waits until the person and their permissions are loaded
  await expect(page.locator('html')).toHaveAttribute('data-can')
  return email
}

/**
 * Signs a person up through the API and puts their session into the browser. Opens no page, unlike
 * `signUp`. Returns the e-mail. Set `chosen`, the password, only if the test enters it later:
 * deriving its key takes a third of a second.
 */
export async function startSession(page: Page, home: string, person: Person = {}): Promise<string> {
  const { email, username } = { ...somebody(), ...person }
  const { hostname, port, pathname } = new URL(home)
  const locale = pathname === '/fr' ? 'fr' : 'en'
  const keys = person.chosen === undefined ? makeKeys() : await deriveKeys(email, person.chosen)
  const newcomer = await signUpAt(Number(port), hostname, { email, username, locale, keys })
  const token = newcomer.token()
  await page.context().addCookies([
    {
      name: '__Host-vidimus',
      value: token,
      // a cookie of this name needs an https address here, though the page may set it over http
      url: `https://${hostname}`,
      secure: true,
      sameSite: 'Lax',
      expires: readTokenExpirySeconds(token) ?? -1
    }
  ])
  return email
}

function somebody(): Required<Person> {
  return { email: newEmail(), username: 'Camille', chosen: password }
}

/** Fills in and submits the English sign-in form. */
export async function fillSignIn(page: Page, email: string, chosen: string): Promise<void> {
  await page.getByLabel('Email').fill(email)
  await page.getByLabel('Password', { exact: true }).fill(chosen)
  await page.getByRole('main').getByRole('button', { name: 'Sign in' }).click()
}

/**
 * Waits until the person is signed in and at `url`. This takes a while on a busy machine, because
 * deriving the key needs 64 MiB.
 */
export async function expectSignedInAt(page: Page, url: string | RegExp): Promise<void> {
  await expect(page.locator('html')).toHaveAttribute('data-session', 'in', { timeout: 60_000 })
  await expect(page).toHaveURL(url)
}

/**
 * Returns a list that is empty at first. From now on, each error that the page logs or throws is
 * added to it, and each dialog that the page opens. Errors that match `provoked` are not added.
 */
export function watchFaults(page: Page, provoked = /status of 404/): string[] {
  const faults: string[] = []
  page.on('console', message => {
    if (message.type() === 'error' && !provoked.test(message.text())) faults.push(message.text())
  })
  page.on('pageerror', ({ message }) => {
    if (!provoked.test(message)) faults.push(message)
  })
  page.on('dialog', dialog => faults.push(`dialog: ${dialog.message()}`))
  return faults
}

/**
 * Records the requests that a page sends from now on, except GET. Returns a function that returns
 * all requests so far, each as its method and path. For a body over 1,000 bytes its size is added,
 * because such a body could contain more than fingerprints.
 */
export function watchSentRequests(page: Page): () => Promise<string[]> {
  const sent: Promise<string>[] = []
  page.on('request', request => {
    if (request.method() !== 'GET') sent.push(describe(request))
  })
  page.on('websocket', socket => sent.push(Promise.resolve(socket.url())))
  return () => Promise.all(sent)
}

async function describe(request: Request): Promise<string> {
  // bodies that are files or blobs have no buffer here, only a size
  const size = request.postDataBuffer()?.length ?? (await request.sizes()).requestBodySize
  const call = `${request.method()} ${new URL(request.url()).pathname}`
  return size > 0 && size <= 1000 ? call : `${call}, ${size} bytes`
}

/**
 * Opens the link of an invitation and activates the account. Waits until the person is signed in.
 */
export async function activateAccount(page: Page, link: string, username: string): Promise<void> {
  await page.goto(link)
  await page.locator('input[name=username]').fill(username)
  for (const field of await page.locator('input[type=password]').all())
    await field.fill(nextPassword)
  await page.locator('main form [type=submit]').click()
  await expect(page.locator('html')).toHaveAttribute('data-session', 'in', { timeout: 60_000 })
}

/** Changes the language of a page by its link, even if the link is hidden in a closed drawer. */
export async function changeLanguage(page: Page, locale: Locale): Promise<void> {
  await page.locator(`a[data-locale=${locale}]`).first().dispatchEvent('click')
}

type Files = Parameters<Locator['setInputFiles']>[0]

/**
 * Chooses files in the first file input of a page. `files` are the paths of files or their
 * contents.
 */
export async function chooseFiles(page: Page, files: Files): Promise<void> {
  await page.locator('main input[type=file]').first().setInputFiles(files)
}

/** Returns a text file for `chooseFiles`. Without `text`, its content is different each time. */
export function textFile(name: string, text = `${name} ${Math.random()}`) {
  return { name, mimeType: 'text/plain', buffer: Buffer.from(text) }
}

/** Returns the first list item that contains a text, such as the row of a file by its name. */
export function rowOf(page: Page, name: string): Locator {
  return page.getByRole('listitem').filter({ hasText: name }).first()
}

/**
 * Delays the requests of a page whose address matches `pattern`, as a slow connection does. Returns
 * the function that lets them continue.
 */
export async function delayRequests(page: Page, pattern: string | RegExp): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  await page.route(pattern, async route => {
    await promise
    // the page may have cancelled the request meanwhile
    await route.continue().catch(() => {})
  })
  return resolve
}

/** Runs `start`, which downloads a file. Returns the name and the bytes of the file. */
export async function downloadBy(
  page: Page,
  start: () => Promise<unknown>
): Promise<{ name: string; bytes: Buffer }> {
  const [download] = await Promise.all([page.waitForEvent('download'), start()])
  return { name: download.suggestedFilename(), bytes: await readFile(await download.path()) }
}
