import { expect, type Page, type Request } from '@playwright/test'
import { tokenExpiry } from '../../../src/core/keys/access-token.ts'
import { newEmail, signUpAt } from '../client.ts'
import { deriveKeys, makeKeys } from '../keys.ts'

export const password = 'a long sentence to keep'
export const nextPassword = 'seven green bicycles in the rain'

interface Person {
  email?: string
  username?: string
  chosen?: string
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
 * Signs a person up like `signUp`, but opens no page, for tests that open another one next. Returns
 * the e-mail. Set `chosen`, the password, only where the person needs it later: deriving its key
 * takes a third of a second.
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
      expires: tokenExpiry(token) ?? -1
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
 * Collects what a page logs as an error, throws or asks in a dialog. Ignores lines that match
 * `provoked`.
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
 * Collects the calls that a page sends, except GET, by method and path. Adds the size of bodies
 * over 1,000 bytes, because they could contain more than fingerprints.
 */
export function watchSent(page: Page): () => Promise<string[]> {
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
