import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type BrowserContext, expect, type Page } from '@playwright/test'
import pg from 'pg'
import { toHex } from '../../src/core/bytes.ts'
import { deriveKeyPair } from '../../src/core/keys/kdf.ts'
import { parsePublicKeyJwt } from '../../src/core/keys/public-key-jwt.ts'
import { publicJwk } from '../../src/core/keys/public-key-proof.ts'
import { socketConnectionConfig } from '../../src/server/db/postgres.ts'
import { canonicalizeSvg } from '../../src/server/domain/companies/canonical-svg.ts'
import { designToolPictures } from '../helpers/design-tool-pictures.ts'
import { drawPicture } from '../helpers/e2e/draw-picture.ts'
import { test } from '../helpers/e2e/journey.ts'
import { isMatrix } from '../helpers/e2e/looks.ts'
import {
  chooseFiles,
  expectSignedInAt,
  fillSignIn,
  homeAddress,
  nextPassword,
  sealedWord,
  signUpByHand,
  startSession,
  textFile,
  watchFaults
} from '../helpers/e2e/page.ts'
import { argon2id } from '../helpers/keys.ts'
import { nestedPictures } from '../helpers/nested-pictures.ts'
import { goodPictures, hostilePictures, scriptedPictures } from '../helpers/pictures.ts'
import { dumpDatabase, encodingsOf } from '../helpers/secrets.ts'
import { makeServiceProcess } from '../helpers/service.ts'

/** Texts that set `window.pwned` if a page treats them as markup or code. */
const canaries = [
  `"><img src=x onerror="window.pwned=1">`,
  `<svg onload=window.pwned=1>`,
  `</script><script>window.pwned=1</script>`,
  `'-(window.pwned=1)-'`,
  `{{constructor.constructor('window.pwned=1')()}}`,
  `javascript:window.pwned=1`
]

const taskPages = ['', '/verify', '/deposit', '/history', '/me', '/nowhere']
const linkPages = ['/verify-account', '/activate-account', '/confirm-email', '/reset-password']
/** A valid e-mail with code in it. Pages that print only valid e-mails print this one, too. */
const mailable = `{{window.pwned=1}}'-window.pwned++-'@example.com`

// the suite takes one walk in each language, the matrix both in both

for (const [locale, sealed] of [
  ['en', /^Sealed/],
  ['fr', /^Scellé/]
] as const) {
  test(`texts of people stay texts on every page in ${locale} (G-02)`, async ({ page }) => {
    test.skip(locale === 'fr' && !isMatrix, 'walked in English')
    const faults = watchFaults(page)
    const site = homeAddress(locale)
    const [name = '', ...others] = canaries
    await page.goto(`${site}/sign-up?email=${encodeURIComponent(others[0] ?? '')}`)
    await expectUnharmed(page)
    await visitLinks(page, site)
    await startSession(page, site, { username: name })

    await page.goto(`${site}/deposit`)
    const files = canaries.map((canary, at) => ({
      name: `${canary.replaceAll('/', '∕')}.pdf`,
      mimeType: 'application/pdf',
      buffer: Buffer.from(`canary ${at} ${Math.random()}`)
    }))
    await chooseFiles(page, files)
    await expect(page.locator('li').getByText(sealed)).toHaveCount(files.length)
    for (const path of [...taskPages, '/sign-in']) {
      const canary = encodeURIComponent(canaries[path.length % canaries.length] ?? name)
      await page.goto(`${site}${path}?redirect=${canary}&email=${canary}#${canary}`)
      // who is signed in already is led on
      if (path === '/sign-in') await expect(page).toHaveURL(site)
      await expect(page.locator('h1')).toHaveCount(1)
      await expectUnharmed(page)
    }
    await visitLinks(page, site, true)
    await page.goto(`${site}/history`)
    await expect(page.getByText(files[0]?.name ?? '').first()).toBeVisible()
    await expectUnharmed(page)
    expect(faults).toEqual([])
  })
}

test('texts of a company stay texts, and its pictures pictures, on every page (G-02)', async ({
  browser
}) => {
  test.setTimeout(240_000)
  await using service = await makeServiceProcess({ DEMO: 'false' })
  await service.start()
  const site = `http://localhost:${service.port}`
  const context = await browser.newContext()
  const page = await context.newPage()
  const faults = watchFaults(page)
  const strangers: string[] = []
  context.on('request', request => {
    const { hostname, protocol } = new URL(request.url())
    if (protocol !== 'data:' && !/(^|\.)localhost$/.test(hostname)) strangers.push(request.url())
  })

  const owner = new pg.Pool(
    socketConnectionConfig(await service.socketDir(), 'vidimus', 'postgres')
  )
  owner.on('error', () => {}) // it ends with the service
  const text = canaries.join(' ')
  /** Writes hostile values into the database directly, because the API would refuse them. */
  const become = async (contact: string, logo: string, favicon: string) => {
    const { rows } = await owner.query(
      `with named as (update company c set name = $1 from domain d where c.id = d.company_id and d.host = 'localhost'),
            sorted as (update category set names = jsonb_build_object('en', unique_name, 'fr', unique_name)
              from (select id as named_id, $1::text || case when is_default then '' else ' ' || id end as unique_name
                      from category) n where id = named_id)
       update domain set name = $1, title = $1, contact = $2, version = version + 1,
              theme = theme || jsonb_build_object('logo', $3::text, 'favicon', $4::text)
        where host = 'localhost' returning version`,
      [text, contact, logo, favicon]
    )
    await owner.query(`select pg_notify('vidimus', 'test domains localhost')`)
    expect(rows).toHaveLength(1)
    // its pictures are not shown, because the API would refuse them
    await expect
      .poll(async () => (await page.request.get(`${site}/en`)).text())
      .toContain(contact.slice(0, 17))
  }

  // with one category alone there is nothing to choose, and its name is not shown
  await owner.query(
    `with another as (
       insert into category (company_id, id, names, visibility, created_at)
       select company_id, gen_random_uuid(), '{"en": "Other", "fr": "Autre"}', visibility, created_at
         from category natural join (select company_id from domain where host = 'localhost') d
       returning company_id, id
     )
     insert into group_category select a.company_id, g.id, a.id
       from another a join "group" g on g.company_id = a.company_id`
  )
  await become(canaries.at(-1) ?? '', scriptedPictures[0] ?? '', scriptedPictures[1] ?? '')
  for (const locale of isMatrix ? ['en', 'fr'] : ['fr']) {
    // pages lead a person to the language that is theirs
    await startSession(page, `${site}/${locale}`)
    for (const path of [
      ...taskPages,
      ...linkPages,
      '/setup',
      '/docs',
      '/docs/calls',
      '/docs/errors'
    ]) {
      const canary = encodeURIComponent(canaries[1] ?? '')
      await page.goto(`${site}/${locale}${path}?code=${canary}#${canary}`)
      await expect(page.locator('h1')).toHaveCount(1)
      await expect.poll(() => page.title(), path).toContain(canaries[0])
      await expect(page.locator('.bar-logo')).toHaveText(text)
      await expectUnharmed(page)
    }
    await page.goto(`${site}/${locale}/disabled`)
    await expect(page.locator('[data-disabled-next]')).toContainText(canaries.at(-1) ?? '')
    await expect(page.locator('a[href^="javascript:"]')).toHaveCount(0)
  }
  await page.goto(`${site}/fr/deposit`)
  await expect(page.locator('option', { hasText: canaries[0] ?? '' })).toHaveCount(2)
  await expectUnharmed(page)

  for (const [at, logo] of scriptedPictures.entries()) {
    const favicon = scriptedPictures.at(at - 1) ?? ''
    await become(`https://acme.test/${canaries[3]}`, logo, favicon)
    await page.goto(`${site}/fr`)
    await expect(page.locator('.bar-logo')).toBeAttached()
    await expectUnharmed(page)
  }
  expect(strangers).toEqual([])
  expect(faults).toEqual([])
  // what the company has said, opened by itself
  for (const address of [
    `${site}/.well-known/security.txt`,
    `${site.replace('//', '//api.')}/localhost`
  ]) {
    await page.goto(address)
    await expect(page.locator('body')).toContainText('acme.test')
    await expectUnharmed(page)
  }
  await owner.end()
  expect(strangers).toEqual([])
})

test('a picture that is taken runs nothing and asks nobody, opened by itself (G-02)', async ({
  page
}) => {
  const asked: string[] = []
  page.on('request', request => {
    if (!request.url().startsWith('data:')) asked.push(request.url())
  })
  const visit = async (picture: string) => {
    await page.goto(`data:image/svg+xml;base64,${Buffer.from(picture).toString('base64')}`)
    await expect(page.locator('svg').first()).toBeAttached()
    return page.evaluate(() => Reflect.get(window, 'pwned') ?? 'nothing')
  }
  const hostile = [...scriptedPictures, ...hostilePictures.map(([, text]) => text)]
  const taken = [...goodPictures, ...hostile].flatMap(text => {
    try {
      return [canonicalizeSvg(text, 'logo')]
    } catch {
      return []
    }
  })
  expect(taken).toHaveLength(goodPictures.length)
  for (const picture of taken) expect.soft(await visit(picture), picture).toBe('nothing')
  expect(asked).toEqual([])
  // and one that is refused would have been noticed
  expect(await visit(scriptedPictures[0] ?? '')).toBe(1)
  await visit(scriptedPictures[4] ?? '')
  await expect.poll(() => asked).toEqual(['http://evil.example/x.png'])
})

test('a picture that is accepted is drawn at once, as the file itself is drawn', async ({
  page
}) => {
  test.setTimeout(180_000)
  await page.goto('about:blank')
  const draw = (picture: string) => page.evaluate(drawPicture, { picture, w: 400, h: 80 })
  const accepted = nestedPictures(isMatrix ? 500 : 150).flatMap(text => {
    try {
      return [canonicalizeSvg(text, 'logo')]
    } catch {
      return []
    }
  })
  expect(accepted.length).toBeGreaterThan(40)
  for (const picture of accepted) {
    // without a limit, some took minutes; the benchmark `pictures` measures the time itself
    expect.soft((await draw(picture)).milliseconds, picture.slice(0, 500)).toBeLessThan(5000)
  }
  for (const [tool, text] of designToolPictures) {
    const [kept, own] = [await draw(canonicalizeSvg(text, 'logo')), await draw(text)]
    expect.soft(kept.pixels, tool).toBe(own.pixels)
    expect.soft(kept.isBlank, tool).toBe(false)
  }
})

test.describe('what a script tries', () => {
  test.use({ provoked: /^This document requires 'Trusted/ })
  test('makes no string markup or code, before and after a navigation', async ({ page }) => {
    await page.goto(homeAddress())
    const ways = ['innerHTML', 'insertAdjacentHTML', 'script', 'src', 'Worker']
    expect(await refusals(page)).toEqual(ways)
    await page.getByRole('link', { name: 'Verify' }).first().click()
    await expect(page).toHaveURL(/\/en\/verify$/)
    await expect(page.locator('input[type=file]').first()).toBeAttached()
    expect(await refusals(page)).toEqual(ways)
  })
})

test('what opens an account is seen by nobody but its browser (G-03)', async ({ browser }) => {
  test.setTimeout(240_000)
  await using service = await makeServiceProcess({ LOG_LEVEL: 'trace', DEMO: 'false' })
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
    await signUpByHand(page, `${site}/en`, {
      email,
      username: 'Ada Lovelace',
      chosen: passwords[0]
    })
    plant('token', await token())
    await keep()
  })
  await test.step('deposit, with an upload that waits', async () => {
    await page.goto(`${site}/en/deposit`)
    // never taken away: a request that begins just when interception ends is lost in Chromium
    let isCut = true
    await context.route('**/deposit/batch', route => (isCut ? route.abort() : route.continue()))
    await chooseFiles(page, textFile('a.txt', 'a deed'))
    await expect(page.getByText(/Connection lost/)).toBeVisible()
    await keep()
    expect(kept.at(-1), 'the upload is remembered').toContain('a.txt')
    isCut = false
    await expect(page.locator('li').getByText(sealedWord)).toBeVisible({ timeout: 60_000 })
  })
  await test.step('verify', async () => {
    await page.goto(`${site}/en/verify`)
    await chooseFiles(page, textFile('a.txt', 'a deed'))
    await expect(page.getByRole('heading', { name: /recorded this exact file/ })).toBeVisible()
    await keep()
  })
  await test.step('password change, refused and made', async () => {
    await page.goto(`${site}/en/me`)
    for (const [present, answer] of [
      ['not the password of mine', 'That is not your current password.'],
      [passwords[0], 'Your password has been changed.']
    ] as const) {
      await page.getByLabel('Current password').fill(present)
      await page.getByLabel('New password', { exact: true }).fill(passwords[1])
      await page.getByLabel('Confirm new password').fill(passwords[1])
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
    await expectSignedInAt(page, `${site}/en/history`)
    plant('token', await token())
    await keep()
  })
  await test.step('a crash of service and database, and what comes after', async () => {
    await service.kill()
    await service.killDatabase()
    await service.start()
    await page.goto(`${site}/en/history`)
    await expect(page.getByText('a.txt').first()).toBeVisible({ timeout: 60_000 })
    await keep()
  })

  // the secrets are those that this browser has used
  const jsonBodies = seen.bodies.filter(({ text }) => text.startsWith('{'))
  const proofs = jsonBodies.flatMap(({ text }) => {
    const { public_key_jwt } = JSON.parse(text)
    return public_key_jwt ? [public_key_jwt] : []
  })
  expect(proofs.map(each => parsePublicKeyJwt(each)?.payload.jwk)).toEqual([
    keys[0]?.jwk,
    keys[1]?.jwk, // of the refused change
    keys[1]?.jwk
  ])
  const device = await page.evaluate(() => localStorage.getItem('vidimus:device'))

  const database = socketConnectionConfig(await service.socketDir(), 'vidimus', 'postgres')
  const owner = new pg.Pool(database)
  const dump = await dumpDatabase(owner)
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
      const found = encodingsOf(secret).filter(form => places[name].includes(form))
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

/** Collects what the pages of a context send, where they go, and what they log. */
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

/**
 * Returns everything that a page has stored in the browser except cookies, which contain the token.
 */
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

/** Returns the keys that a browser derives from a password. Computes them with Node's Argon2. */
async function keyMaterial(email: string, password: string) {
  let okm = ''
  const { d, x, y } = await deriveKeyPair('a1', email, password, async input => {
    const derived = await argon2id(input)
    okm = toHex(derived)
    return derived
  })
  return { okm, d: toHex(d), jwk: publicJwk({ x, y }) }
}

/**
 * Opens the pages to which links in mails and refused calls lead, with hostile texts in the query
 * and the fragment of their address. Expects that no text runs as code.
 */
async function visitLinks(page: Page, site: string, isSignedIn = false): Promise<void> {
  for (const [at, path] of linkPages.entries()) {
    for (const email of [mailable, canaries[at] ?? '']) {
      const canary = canaries.at(at - 1) ?? ''
      const query = new URLSearchParams({ redirect: canary, email })
      const link = new URLSearchParams({ t: canary, email })
      await page.goto(`${site}${path}?${query}#${link}`)
      await expect(page.locator('[data-state=loading]')).toHaveCount(0)
      await expect(page.locator('h1')).toHaveCount(1)
      // who is signed out confirms no change of theirs, and is told so in place of the e-mail
      const isPrinted = email === mailable && (isSignedIn || path !== '/confirm-email')
      if (isPrinted) await expect(page.locator('main')).toContainText(mailable)
      // without a link it offers to send one
      else if (path === '/reset-password') {
        await expect(page.locator('input[name=email]')).toHaveValue(email)
      }
      await expectUnharmed(page)
    }
  }
  // who is signed in is told what the API says, whatever the address says
  const count = isSignedIn && !isMatrix ? 1 : canaries.length
  for (const [at, canary] of canaries.slice(0, count).entries()) {
    const both = [
      { reason: canary, since: '2026-05-03T12:00:00Z' },
      { reason: 'security', since: canary }
    ]
    for (const texts of isMatrix ? both : both.slice(at % 2).slice(0, 1)) {
      const disabled = JSON.stringify({ scope: 'user', ...texts })
      await page.goto(`${site}/disabled?${new URLSearchParams({ disabled })}#${canary}`)
      await expect(page.locator('[data-disabled-what]')).toBeVisible()
      await expectUnharmed(page)
    }
  }
}

/** Expects that no text has run as code. Tries again if the page is replaced meanwhile. */
async function expectUnharmed(page: Page): Promise<void> {
  await expect(async () => {
    expect(await page.evaluate(() => Reflect.get(window, 'pwned') ?? 'nothing')).toBe('nothing')
  }).toPass({ timeout: 10_000 })
}

/**
 * Tries to turn strings into markup or code in five ways. Returns the names of the refused ways.
 */
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
      Worker: () => new Worker('/kdf-a1.json')
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
