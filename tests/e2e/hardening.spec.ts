import { argon2Sync } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type BrowserContext, expect, type Page, test } from '@playwright/test'
import pg from 'pg'
import { toHex } from '../../src/core/evidence/bytes.ts'
import { deriveKey } from '../../src/core/kdf.ts'
import { parsePublicKeyJwt } from '../../src/core/public-key-jwt.ts'
import { publicJwk } from '../../src/core/public-key-proof.ts'
import { connectionTo } from '../../src/server/db/postgres.ts'
import { expectArrival, fillSignIn, nextPassword, signUp, watchFaults } from '../helpers/page.ts'
import { dumpOf, formsOf } from '../helpers/secrets.ts'
import { makeServiceProcess } from '../helpers/service.ts'

/** Each would set `pwned` if any of our pages took it for markup or code. */
const canaries = [
  `"><img src=x onerror="window.pwned=1">`,
  `<svg onload=window.pwned=1>`,
  `</script><script>window.pwned=1</script>`,
  `'-(window.pwned=1)-'`,
  `{{constructor.constructor('window.pwned=1')()}}`,
  `javascript:window.pwned=1`
]

for (const [locale, recorded] of [
  ['en', 'Recorded'],
  ['fr', 'Enregistré']
] as const) {
  test(`texts of people stay texts on every page in ${locale} (G-02)`, async ({ page }) => {
    const faults = watchFaults(page)
    const site = `${test.info().project.use.baseURL}/${locale}`
    const [name = '', ...others] = canaries
    await page.goto(`${site}/sign-up?email=${encodeURIComponent(others[0] ?? '')}`)
    await expectUnharmed(page)
    await signUp(page, site, { username: name })

    await page.goto(`${site}/deposit`)
    const files = canaries.map((canary, at) => ({
      name: `${canary.replaceAll('/', '∕')}.pdf`,
      mimeType: 'application/pdf',
      buffer: Buffer.from(`canary ${at} ${Math.random()}`)
    }))
    await page.locator('input[type=file]').first().setInputFiles(files)
    await expect(page.getByText(recorded, { exact: true })).toHaveCount(files.length)
    for (const path of ['', '/verify', '/deposit', '/history', '/me', '/sign-in', '/nowhere']) {
      const canary = encodeURIComponent(canaries[path.length % canaries.length] ?? name)
      await page.goto(`${site}${path}?redirect=${canary}&email=${canary}#${canary}`)
      // who is signed in already is led on
      if (path === '/sign-in') await expect(page).toHaveURL(site)
      await expect(page.locator('h1')).toHaveCount(1)
      await expectUnharmed(page)
    }
    await page.goto(`${site}/history`)
    await expect(page.getByText(files[0]?.name ?? '').first()).toBeVisible()
    await expectUnharmed(page)
    expect(faults).toEqual([])
  })
}

test('no string becomes markup or code, before and after a navigation', async ({ page }) => {
  const site = test.info().project.use.baseURL ?? ''
  await page.goto(`${site}/en`)
  expect(await refusals(page)).toEqual([
    'innerHTML',
    'insertAdjacentHTML',
    'script',
    'src',
    'Worker'
  ])
  await page.getByRole('link', { name: 'Verify' }).first().click()
  await expect(page).toHaveURL(/\/en\/verify$/)
  await expect(page.locator('input[type=file]').first()).toBeAttached()
  expect(await refusals(page)).toEqual([
    'innerHTML',
    'insertAdjacentHTML',
    'script',
    'src',
    'Worker'
  ])
})

test('what opens an account is seen by nobody but its browser (G-03)', async ({ browser }) => {
  test.setTimeout(240_000)
  await using service = await makeServiceProcess({ LOG_LEVEL: 'trace' })
  await service.start()
  const site = `http://localhost:${service.port}`
  const email = 'ada@example.com'
  const passwords = ['violet ladders behind the mill', nextPassword] as const
  const secrets = new Map<string, string>()
  const plant = (what: string, value: string | undefined) => {
    expect(value, what).toBeTruthy()
    secrets.set(`${what} ${secrets.size}`, value ?? '')
  }
  for (const name of await readdir(join(service.dataDir, 'keys'))) {
    const text = await readFile(join(service.dataDir, 'keys', name), 'utf8')
    plant(name, name.endsWith('.jwk') ? JSON.parse(text).d : text.trim())
  }
  const keys = await Promise.all(passwords.map(each => keyMaterial(email, each)))
  keys.forEach(({ okm, d }, at) => {
    plant('password', passwords[at])
    plant('okm', okm)
    plant('d', d)
  })
  const context = await browser.newContext()
  const seen = listen(context)
  const page = await context.newPage()
  const token = async () =>
    (await context.cookies(site)).find(({ name }) => name === '__Host-vidimus')?.value
  const kept: string[] = []
  const keep = async () => kept.push(JSON.stringify(await storageOf(page)))

  await test.step('sign-up', async () => {
    await signUp(page, `${site}/en`, { email, username: 'Ada Lovelace', chosen: passwords[0] })
    plant('token', await token())
    await keep()
  })
  await test.step('deposit, with an upload that waits', async () => {
    await page.goto(`${site}/en/deposit`)
    await context.route('**/uploads/**', route => route.abort())
    const file = { name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('a deed') }
    await page.locator('input[type=file]').first().setInputFiles(file)
    await expect(page.getByText(/Connection lost/)).toBeVisible()
    await keep()
    expect(kept.at(-1), 'the upload is remembered').toContain('a.txt')
    await context.unroute('**/uploads/**')
    await expect(page.getByText('Recorded', { exact: true })).toBeVisible({ timeout: 60_000 })
  })
  await test.step('verify', async () => {
    await page.goto(`${site}/en/verify`)
    const file = { name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('a deed') }
    await page.locator('input[type=file]').first().setInputFiles(file)
    await expect(page.getByRole('heading', { name: /recorded this exact file/ })).toBeVisible()
    await keep()
  })
  await test.step('password change, refused and made', async () => {
    await page.goto(`${site}/en/me`)
    for (const [present, answer] of [
      ['not the password of mine', 'That is not your current password.'],
      [passwords[0], 'Your password is changed.']
    ] as const) {
      await page.getByLabel('Current password').fill(present)
      await page.getByLabel('New password', { exact: true }).fill(passwords[1])
      await page.getByLabel('New password, once more').fill(passwords[1])
      await page.getByRole('button', { name: 'Change password' }).click()
      await expect(page.getByText(answer)).toBeVisible({ timeout: 60_000 })
    }
    await keep()
  })
  await test.step('sign-out, and sign-in with what leads back', async () => {
    await page.locator('.bar-user').click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await expect(page).toHaveURL(`${site}/en`)
    await page.goto(`${site}/en/history`)
    await expect(page).toHaveURL(/sign-in\?redirect=/)
    for (const tried of ['not the password of mine', passwords[1]]) {
      await fillSignIn(page, email, tried)
      if (tried !== passwords[1]) await expect(page.getByText(/do not match/)).toBeVisible()
    }
    await expectArrival(page, `${site}/en/history`)
    plant('token', await token())
    await keep()
  })

  // the secrets are those that this browser has used
  const proofs = seen.bodies.flatMap(({ text }) => {
    const { public_key_jwt } = JSON.parse(text)
    return public_key_jwt ? [public_key_jwt] : []
  })
  expect(proofs.map(each => parsePublicKeyJwt(each)?.payload.jwk)).toEqual([
    keys[0]?.jwk,
    keys[1]?.jwk, // of the refused change
    keys[1]?.jwk
  ])
  const device = await page.evaluate(() => localStorage.getItem('vidimus:device'))

  const database = connectionTo(await service.socketDir(), 'vidimus', 'postgres')
  const owner = new pg.Pool(database)
  const dump = await dumpOf(owner)
  await owner.end()
  expect(dump, 'what may stand there').toContain('Ada Lovelace')
  expect(service.log().length).toBeGreaterThan(2000)
  expect(seen.addresses.length).toBeGreaterThan(50)
  const places = {
    addresses: seen.addresses.join('\n'),
    bodies: seen.bodies.map(({ text }) => text).join('\n'),
    console: seen.said.join('\n'),
    storage: kept.join('\n'),
    log: service.log(),
    database: dump
  }
  const expectNowhere = (what: string, secret: string, ...names: (keyof typeof places)[]) => {
    for (const name of names) {
      const found = formsOf(secret).filter(form => places[name].includes(form))
      expect.soft(found, `${what} in ${name}`).toEqual([])
    }
  }
  for (const [what, secret] of secrets) {
    expectNowhere(what, secret, 'addresses', 'bodies', 'console', 'storage', 'log', 'database')
  }
  // these may be sent and, as for the device, kept
  for (const proof of proofs)
    expectNowhere('proof', proof, 'addresses', 'console', 'storage', 'log')
  expectNowhere('device', device ?? '', 'addresses', 'console', 'log', 'database')
  expect(device).toBeTruthy()
  const proving = seen.bodies.filter(({ text }) => /public_key_jwt|challenge_response/.test(text))
  const api = site.replace('//', '//api.')
  const calls = new Set(proving.map(({ call }) => call))
  expect([...calls].sort()).toEqual([
    `POST ${api}/user`,
    `POST ${api}/user/key`,
    `POST ${api}/user/login`
  ])
  expect(new Set(seen.bearers)).toEqual(new Set([api]))
})

/** All that leaves the pages of a context, and all they say of themselves. */
function listen(context: BrowserContext) {
  const seen = {
    addresses: [] as string[],
    bodies: [] as { call: string; text: string }[],
    /** Origins that were sent a token. */
    bearers: [] as string[],
    said: [] as string[]
  }
  context.on('request', request => {
    const { origin, pathname } = new URL(request.url())
    const headers = request.headers()
    seen.addresses.push(request.url(), headers['referer'] ?? '')
    if (headers['authorization']) seen.bearers.push(origin)
    const text = request.postData()
    // parts of files are no text
    if (text && request.method() !== 'PATCH') {
      seen.bodies.push({ call: `${request.method()} ${origin}${pathname}`, text })
    }
  })
  context.on('console', message => seen.said.push(message.text()))
  context.on('page', page => {
    page.on('framenavigated', frame => seen.addresses.push(frame.url()))
    page.on('pageerror', error => seen.said.push(`${error.message} ${error.stack}`))
  })
  return seen
}

/** Everything that a page has left in its browser but cookies, which hold the token by design. */
function storageOf(page: Page) {
  return page.evaluate(async () => {
    const rows: unknown[] = []
    for (const { name = '' } of await indexedDB.databases()) {
      const opening = indexedDB.open(name)
      await new Promise(resolve => opening.addEventListener('success', resolve))
      const database = opening.result
      for (const store of database.objectStoreNames) {
        const asking = database.transaction(store).objectStore(store).getAll()
        await new Promise(resolve => asking.addEventListener('success', resolve))
        rows.push(...asking.result)
      }
      database.close()
    }
    return {
      local: { ...localStorage },
      visit: { ...sessionStorage },
      rows,
      cached: await caches.keys()
    }
  })
}

/** What a browser derives from a password, with Node's own Argon2. */
async function keyMaterial(email: string, password: string) {
  let okm = ''
  const { d, x, y } = await deriveKey('a1', email, password, input => {
    const { password: message, salt: nonce, memoryKib: memory, passes, lanes, bytes } = input
    const options = { message, nonce, memory, passes, parallelism: lanes, tagLength: bytes }
    const derived = new Uint8Array(argon2Sync('argon2id', options))
    okm = toHex(derived)
    return derived
  })
  return { okm, d: toHex(d), jwk: publicJwk({ x, y }) }
}

/** A page may still lead to another one, such as away from sign-in. */
async function expectUnharmed(page: Page): Promise<void> {
  await expect(async () => {
    expect(await page.evaluate(() => Reflect.get(window, 'pwned') ?? 'nothing')).toBe('nothing')
  }).toPass({ timeout: 10_000 })
}

/** Names of the ways into the page that its policy has closed. */
function refusals(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const ways: Record<string, () => void> = {
      innerHTML: () => {
        document.createElement('div').innerHTML = '<img src=x onerror=1>'
      },
      insertAdjacentHTML: () => document.body.insertAdjacentHTML('beforeend', '<b>x</b>'),
      script: () => {
        document.createElement('script').textContent = 'window.pwned=1'
      },
      src: () => {
        document.createElement('script').src = 'https://evil.example/x.js'
      },
      Worker: () => new Worker('/boot.js')
    }
    return Object.entries(ways).flatMap(([name, run]) => {
      try {
        run()
        return []
      } catch {
        return [name]
      }
    })
  })
}
