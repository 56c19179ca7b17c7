import { type BrowserContext, expect, type Page, test } from '@playwright/test'
import { leaveUnanswered, restoreApi, stubUser } from '../../helpers/e2e/api-stubs.ts'
import { chooseFiles, homeAddress, signUp, startSession, textFile } from '../../helpers/e2e/page.ts'

test.describe('drawer', () => {
  test('shows a stranger their pages in every width, and closes when the focus moves on', async ({
    page
  }) => {
    await test.step('shows a stranger sign-in, verify and sign-up, with what the address holds', async () => {
      await page.goto('/en?email=ada%40example.com&username=Ada&other=1#part')
      expect(await entries(page)).toEqual(['Sign in', 'Verify', 'Create an account'])
      const drawer = page.getByRole('navigation', { name: 'Main navigation' })
      const carried = '?email=ada%40example.com&username=Ada#part'
      await expect(drawer.getByRole('link', { name: 'Sign in' })).toHaveAttribute(
        'href',
        `/en/sign-in${carried}`
      )
      await expect(drawer.getByRole('link', { name: 'Create an account' })).toHaveAttribute(
        'href',
        `/en/sign-up${carried}`
      )
      await expect(drawer.getByRole('link', { name: 'Verify' })).toHaveAttribute(
        'href',
        '/en/verify'
      )
      await expect(drawer.getByText('left', { exact: false })).toBeHidden()
      await drawer.getByRole('link', { name: 'Create an account' }).click()
      await expect(page.getByLabel('Email')).toHaveValue('ada@example.com')
      await expect(page.getByLabel('Username')).toHaveValue('Ada')
    })

    await test.step('stands beside wide pages, as a rail beside narrower ones, and lies over small ones', async () => {
      await page.setViewportSize({ width: 1280, height: 800 })
      await page.goto('/en/verify')
      const drawer = page.locator('#drawer')
      const toggle = page.getByRole('button', { name: 'Menu' })
      expect(await page.locator('.bar').evaluate((bar: HTMLElement) => bar.offsetHeight)).toBe(64)
      await expect.poll(() => widthOf(page)).toBe(256)
      await expect(toggle).toHaveAttribute('aria-expanded', 'true')
      const main = page.locator('#main')
      expect(await main.boundingBox(), 'the page begins beside it').toMatchObject({ x: 256, y: 64 })
      await toggle.click()
      await expect.poll(() => widthOf(page)).toBe(56)
      await expect(toggle).toHaveAttribute('aria-expanded', 'false')
      await page.reload()
      await expect.poll(() => widthOf(page)).toBe(56)
      await toggle.click()

      for (const width of [1279, 960]) {
        await page.setViewportSize({ width, height: 800 })
        await expect.poll(() => widthOf(page)).toBe(56)
        await toggle.click()
        await expect.poll(() => widthOf(page)).toBe(256)
        expect(await main.boundingBox(), 'the page stays').toMatchObject({ x: 56, y: 64 })
        await page.keyboard.press('Escape')
        await expect.poll(() => widthOf(page)).toBe(56)
      }

      await page.setViewportSize({ width: 959, height: 2000 })
      await expect(drawer).toBeHidden()
      const below = await page.locator('#main').boundingBox()
      expect(below?.y, 'a page that is shorter than its window begins below the bar').toBe(64)
      await toggle.click()
      await expect.poll(() => widthOf(page)).toBe(256)
      await page.mouse.click(600, 400)
      await expect(drawer).toBeHidden()
    })

    await test.step('closes when the focus moves on to the page below it', async () => {
      await page.setViewportSize({ width: 700, height: 800 })
      await visit(page, '/en/verify')
      await page.getByRole('button', { name: 'Menu' }).focus()
      await page.keyboard.press('Enter')
      const drawer = page.locator('#drawer')
      await expect(drawer).toBeVisible()
      const last = drawer.getByRole('link', { name: 'Français' })
      for (let presses = 0; presses < 20; presses++) {
        await page.keyboard.press('Tab')
        if (await last.evaluate(element => element === document.activeElement)) break
      }
      await expect(last).toBeFocused()
      await page.keyboard.press('Tab')
      await expect(drawer).toBeHidden()
      await expect(page.locator(':focus')).toHaveCount(1)
    })
  })

  test('shows a person their pages and their usage', async ({ page }) => {
    await test.step('shows a person what is theirs, and administration to administrators only', async () => {
      await signUp(page, homeAddress(), { username: 'Ada King Lovelace' })
      expect(await entries(page)).toEqual(['History', 'Deposit', 'Verify', 'Account', 'Sign out'])
      await expect(page.locator('.bar .initials')).toHaveText('AKL')
      await expect(page.locator('.bar-username')).toHaveText('Ada King Lovelace')

      await describe(page, { features: [], permissions: ['admin'] })
      expect(await entries(page)).toEqual([
        'History',
        'Verify',
        'Account',
        'Administration',
        'Sign out'
      ])
      const hrefs = () =>
        page
          .locator('a.drawer-entry:visible')
          .evaluateAll(links => links.map(link => link.getAttribute('href')))
      const expected = ['/en/history', '/en/verify', '/en/me', `/en/admin/${company.id}`]
      expect(await hrefs()).toEqual(expected)

      // operators reach the other companies from the page of their own
      await describe(page, { features: [], permissions: ['admin', 'operator'] })
      expect(await hrefs()).toEqual(expected)
    })

    await test.step('tells what is used and what is left', async () => {
      await signUp(page, homeAddress())
      const drawer = page.getByRole('navigation', { name: 'Main navigation' })
      await describe(page, usageOf({ used: 12, limit: 100 }, { used: 900e6, limit: 1e9 }))
      for (const words of [
        '12 of 100 documents used',
        '88 documents left',
        '900.0 MB of 1.0 GB stored',
        '100.0 MB of storage left'
      ]) {
        await expect(drawer.getByText(words, { exact: true })).toBeVisible()
      }
      const meter = drawer.getByRole('progressbar', { name: '12 of 100 documents used' })
      await expect(meter).toHaveJSProperty('value', 120)

      await describe(page, usageOf({ used: 1, limit: null }, { used: 0, limit: null }))
      for (const words of ['1 document so far', 'Documents: no limit', 'Storage: no limit']) {
        await expect(drawer.getByText(words, { exact: true })).toBeVisible()
      }
      await expect(drawer.getByRole('progressbar')).toHaveCount(0)
    })
  })

  test('is pulled in by a finger from within 25 px of the edge, and pushed out', async ({
    browser
  }) => {
    const context = await browser.newContext({
      hasTouch: true,
      viewport: { width: 400, height: 800 }
    })
    const page = await context.newPage()
    await visit(page, `${homeAddress()}/verify`)
    const drawer = page.locator('#drawer')
    await swipe(context, page, { x: 26, y: 300 }, { x: 200, y: 300 })
    await expect(drawer).toBeHidden()
    await swipe(context, page, { x: 20, y: 200 }, { x: 40, y: 500 })
    await expect(drawer).toBeHidden()
    await swipe(context, page, { x: 25, y: 300 }, { x: 200, y: 310 })
    await expect(drawer).toBeVisible()
    await swipe(context, page, { x: 200, y: 300 }, { x: 40, y: 300 })
    await expect(drawer).toBeHidden()

    await page.setViewportSize({ width: 960, height: 800 })
    await swipe(context, page, { x: 20, y: 300 }, { x: 200, y: 300 })
    expect(await widthOf(page)).toBe(56)
    await context.close()
  })
})

test.describe('user menu', () => {
  test('is walked by keys, and opened and closed by the pointer', async ({ page }) => {
    await test.step('is walked by arrows and letters, and gives the focus back', async () => {
      await startSession(page, homeAddress())
      await visit(page, '/en')
      const user = page.locator('#user')
      const account = page.getByRole('menuitem', { name: 'Account' })
      const signOut = page.getByRole('menuitem', { name: 'Sign out' })
      await user.focus()
      await page.keyboard.press('ArrowUp')
      await expect(signOut).toBeFocused()
      await page.keyboard.press('ArrowDown')
      await expect(account).toBeFocused()
      await page.keyboard.type('sig')
      await expect(signOut).toBeFocused()
      await page.keyboard.press('Home')
      await expect(account).toBeFocused()
      await page.keyboard.press('Escape')
      await expect(user).toBeFocused()
      await page.keyboard.press('ArrowDown')
      await expect(account).toBeFocused()
      await page.keyboard.press('Tab')
      await expect(account).toBeHidden()
    })

    await test.step('opens after 300 ms of rest, closes 250 ms after, and at once by a click', async () => {
      await startSession(page, homeAddress())
      await page.clock.install()
      await visit(page, '/en')
      const user = page.locator('#user')
      const menu = page.locator('#user-menu')
      await expect(user).toContainText('Camille')
      await page.clock.pauseAt(Date.now() + 60_000)

      await user.hover()
      await page.clock.runFor(299)
      await expect(menu).toBeHidden()
      await page.clock.runFor(1)
      await expect(menu).toBeVisible()
      await expect(user).toHaveAttribute('aria-expanded', 'true')
      await page.mouse.move(400, 500)
      await page.clock.runFor(249)
      await expect(menu).toBeVisible()
      await page.clock.runFor(1)
      await expect(menu).toBeHidden()

      await user.hover()
      await page.clock.runFor(300)
      await expect(menu).toBeVisible()
      await user.click()
      await page.mouse.move(400, 500)
      await page.clock.runFor(1000)
      await expect(menu, 'a click keeps it open').toBeVisible()
      expect(await menu.evaluate(element => getComputedStyle(element).maxHeight)).toBe('310px')
      await page.keyboard.press('Escape')
      await expect(menu).toBeHidden()
      await user.click()
      await expect(menu).toBeVisible()
    })
  })
})

test('a page stands below its bar, and says when the device is offline', async ({
  context,
  page
}) => {
  await test.step('a page begins right below the bar, at every width', async () => {
    await page.goto('/en')
    for (const width of [390, 1024, 1280]) {
      await page.setViewportSize({ width, height: 800 })
      const bar = await page.locator('.bar').boundingBox()
      const main = await page.locator('#main').boundingBox()
      expect(main?.y, `at ${width} px`).toBe(bar?.height)
    }
  })

  await test.step('says that the device is offline, and as of when the page is', async () => {
    await visit(page, '/en/verify')
    const banner = page.getByRole('status').filter({ hasText: 'You are offline.' })
    await expect(banner).toHaveCount(0)
    await context.setOffline(true)
    await expect(banner).toHaveText(/^You are offline\. Last updated \d{1,2}:\d\d\s[AP]M\.$/)
    const title = await page.getByRole('heading', { level: 1 }).boundingBox()
    const box = await banner.boundingBox()
    expect(title?.y).toBeGreaterThan((box?.y ?? 0) + (box?.height ?? 0))
    await context.setOffline(false)
    await expect(banner).toHaveCount(0)
  })
})

test('the first page asks for our typefaces once it is painted, the next ones at once', async ({
  page
}) => {
  await page.goto('/en')
  const html = page.locator('html')
  await expect(html).toHaveAttribute('data-fonts', 'asked')
  await waitForOurTypefaces(page)
  await page.route('**/_astro/*.js', route => route.abort())
  // the page that lost its scripts loads itself anew, which would break off a longer wait
  await page.goto('/en/sign-in', { waitUntil: 'commit' })
  await expect(html).toHaveAttribute('data-fonts', 'asked')
})

test('a place on the same page is scrolled to within 300 ms', async ({ page }) => {
  await page.emulateMedia({ reducedMotion: 'no-preference' })
  await page.clock.install()
  await visit(page, '/en/docs')
  await waitForOurTypefaces(page) // they move the goal
  await page.clock.pauseAt(Date.now() + 60_000)
  const goal = await page.evaluate(() => {
    const top = document.getElementById('limits')?.getBoundingClientRect().top ?? 0
    const end = document.documentElement.scrollHeight - innerHeight
    return Math.round(Math.min(end, top + scrollY - 80))
  })
  const scrolled = () => page.evaluate(() => Math.round(scrollY))
  await page.getByRole('main').locator('a[href="#limits"]').click()
  await page.clock.runFor(150)
  const half = await scrolled()
  expect(half).toBeGreaterThan(0)
  expect(half).toBeLessThan(goal - 10)
  await page.clock.runFor(170)
  expect(Math.abs((await scrolled()) - goal)).toBeLessThanOrEqual(1)
  await expect(page).toHaveURL(/#limits$/)
})

test.describe('a page that has lost something', () => {
  test('is loaded anew, at most once in ten seconds', async ({ page }) => {
    await page.clock.install()
    await page.goto('/en/verify')
    await page.clock.pauseAt(Date.now() + 60_000)
    const loads = countLoads(page)
    // while another page is being opened, which may fail as well, the page waits
    const reloaded = await page.evaluate(() => {
      dispatchEvent(new Event('beforeunload'))
      dispatchEvent(new Event('vite:preloadError'))
      return sessionStorage.getItem('vidimus:reload:/en/verify')
    })
    expect(reloaded).toBeNull()
    await page.clock.runFor(5000)
    await expect.poll(loads).toBe(1)
    await page.clock.runFor(9000)
    await page.evaluate(() => dispatchEvent(new Event('vite:preloadError')))
    await page.clock.runFor(999)
    expect(loads()).toBe(1)
    await page.clock.runFor(1)
    await page.evaluate(() => dispatchEvent(new Event('vite:preloadError')))
    await expect.poll(loads).toBe(2)
  })

  test('gets a file of the build that failed to load', async ({ page }) => {
    const loads = countLoads(page)
    await page.route(/\/_astro\/Verify\.[^/]*\.js/, route =>
      loads() > 1 ? route.continue() : route.abort()
    )
    await page.goto('/en/verify')
    await expect.poll(loads).toBe(2)
    await chooseFiles(page, textFile('a.txt'))
    await expect(page.getByText('No record', { exact: true })).toBeVisible()
  })
})

test('takes the session up on the next page where its files failed to load', async ({ page }) => {
  await signUp(page, homeAddress())
  const loads = countLoads(page)
  // This page was just loaded anew for a lost file, so only the next page can help.
  await page.addInitScript(() => {
    sessionStorage.setItem('vidimus:reload:/en', String(Date.now()))
  })
  // a page asks for the file before it counts as loaded
  let documents = 0
  page.on('request', request => {
    if (request.isNavigationRequest()) documents += 1
  })
  await page.route(/\/_astro\/users\.[^/]*\.js/, route =>
    documents > 1 ? route.continue() : route.abort()
  )
  const asked: string[] = []
  page.on('request', request => {
    if (request.url().endsWith('/user')) asked.push(request.method())
  })
  const failed = page.waitForEvent('requestfailed')
  await page.reload()
  await failed
  await page.getByRole('navigation').getByRole('link', { name: 'Verify' }).click()
  await expect(page).toHaveURL('/en/verify')
  await expect.poll(() => asked).toContain('GET')
  await expect.poll(loads).toBe(2)
})

test('asks every hour for a newer build, and offers it', async ({ page }) => {
  await page.clock.install()
  let asked: string[] = []
  let id: string | undefined
  await page.route('**/builds/latest.json?*', async route => {
    asked.push(new URL(route.request().url()).search)
    if (id) await route.fulfill({ json: { id } })
    else await route.continue()
  })
  await visit(page, '/en')
  await page.clock.runFor(3_590_000)
  expect(asked).toEqual([])
  await page.clock.runFor(15_000)
  await expect.poll(() => asked.length).toBe(1)
  expect(asked[0]).toMatch(/^\?\d{13}$/)
  const notice = page.getByText('A new version is ready.')
  await expect(notice).toHaveCount(0)
  id = 'another'
  asked = []
  await page.clock.runFor(3_600_000)
  await expect.poll(() => asked.length).toBe(1)
  await expect(notice).toBeVisible()
  const loads = countLoads(page)
  await page.getByRole('button', { name: 'Reload' }).click()
  await expect.poll(loads).toBe(1)
})

test('a question that a page waits for stays when Escape is pressed, and shakes', async ({
  page
}) => {
  await page.emulateMedia({ reducedMotion: 'no-preference' })
  await startSession(page, homeAddress())
  await page.goto('/en/deposit')
  await leaveUnanswered(page, ['POST', '/deposit/batch'])
  await chooseFiles(page, textFile('held.txt'))
  await expect(page.getByRole('button', { name: /Pause: held\.txt/ })).toBeVisible()

  // leaving for good is asked by the browser itself
  const asked = page.waitForEvent('dialog')
  const leaving = page.close({ runBeforeUnload: true })
  const dialog = await asked
  expect(dialog.type()).toBe('beforeunload')
  await dialog.dismiss()
  await leaving
  expect(page.isClosed()).toBe(false)

  await page.evaluate(() => {
    document.querySelector('meta[name=build]')?.setAttribute('content', 'an older one')
  })
  await page.getByRole('link', { name: 'Verify' }).first().click()
  const question = page.getByRole('dialog', { name: 'Uploads are still running.' })
  await expect(question).toBeVisible()
  await expect(question.getByRole('button', { name: 'Stay' })).toBeFocused()
  await watchShakes(page)
  for (const presses of [1, 2]) {
    await page.keyboard.press('Escape')
    await expect.poll(() => shakes(page)).toHaveLength(presses)
    await expect(question).toBeVisible()
  }
  expect((await shakes(page))[0]).toEqual({ scales: ['1', '1.03', '1'], ms: 150 })
  await page.mouse.click(5, 5)
  await expect.poll(() => shakes(page)).toHaveLength(3)
  await question.getByRole('button', { name: 'Stay' }).click()
  await expect(question).toHaveCount(0)
  await expect(page).toHaveURL(/\/en\/deposit$/)
})

async function entries(page: Page): Promise<string[]> {
  return page.locator('.drawer-entry:visible').allInnerTexts()
}

async function widthOf(page: Page): Promise<number> {
  return page.locator('#drawer').evaluate((element: HTMLElement) => element.offsetWidth)
}

/** Opens a page and waits until its deferred parts have loaded. */
async function visit(page: Page, path: string): Promise<void> {
  const deferred = page.waitForResponse(/\/_astro\/deferred\.[^/]+\.js$/)
  await page.goto(path)
  await deferred
  await page.waitForLoadState('networkidle')
}

const company = { id: '01978a5e-0000-7000-8000-000000000002', name: 'Acme' }

/** Reloads the page as a person with these properties. */
async function describe(page: Page, changes: object): Promise<void> {
  await restoreApi(page)
  await stubUser(page, { features: ['deposit'], company, ...changes })
  await visit(page, page.url())
  await expect(page.locator('#drawer [data-usage]')).not.toHaveAttribute('hidden')
}

interface Figures {
  used: number
  limit: number | null
}

function usageOf(requests: Figures, storage: Figures) {
  const left = ({ used, limit }: Figures) => (limit === null ? null : limit - used)
  return {
    usage_remaining: { requests: left(requests), storage: left(storage) },
    usage: {
      requests_used: requests.used,
      requests_limit: requests.limit,
      requests_remaining: left(requests),
      storage_used: storage.used,
      storage_limit: storage.limit,
      storage_remaining: left(storage),
      resets_at: null
    }
  }
}

interface Point {
  x: number
  y: number
}

async function swipe(context: BrowserContext, page: Page, from: Point, to: Point): Promise<void> {
  const session = await context.newCDPSession(page)
  const send = (type: 'touchStart' | 'touchMove' | 'touchEnd', touchPoints: Point[]) =>
    session.send('Input.dispatchTouchEvent', { type, touchPoints })
  await send('touchStart', [from])
  for (let step = 1; step <= 8; step++) {
    const at = (start: number, end: number) => start + ((end - start) * step) / 8
    await send('touchMove', [{ x: at(from.x, to.x), y: at(from.y, to.y) }])
  }
  await send('touchEnd', [])
  await session.detach()
}

async function waitForOurTypefaces(page: Page): Promise<void> {
  const areLoaded = () =>
    document.fonts.check('1em "Instrument Sans Variable"') &&
    document.fonts.check('1em "Source Serif 4 Variable"')
  await expect.poll(() => page.evaluate(areLoaded)).toBe(true)
}

function countLoads(page: Page): () => number {
  let loads = 0
  page.on('load', () => {
    loads += 1
  })
  return () => loads
}

declare global {
  interface Window {
    shakes: { scales: unknown[]; ms: unknown }[]
  }
}

async function watchShakes(page: Page): Promise<void> {
  await page.evaluate(() => {
    window.shakes = []
    const animate = Element.prototype.animate
    Element.prototype.animate = function (this: Element, ...given) {
      const animation = animate.apply(this, given)
      const effect = animation.effect
      if (effect instanceof KeyframeEffect) {
        const scales = effect.getKeyframes().map(frame => frame['scale'])
        window.shakes.push({ scales, ms: effect.getTiming().duration })
      }
      return animation
    }
  })
}

async function shakes(page: Page) {
  return page.evaluate(() => window.shakes)
}
