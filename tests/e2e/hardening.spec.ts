import { expect, type Page, test } from '@playwright/test'

const password = 'a long sentence to keep'
/** Each would set `pwned` if any of our pages took it for markup or code. */
const canaries = [
  `"><img src=x onerror="window.pwned=1">`,
  `<svg onload=window.pwned=1>`,
  `</script><script>window.pwned=1</script>`,
  `'-(window.pwned=1)-'`,
  `{{constructor.constructor('window.pwned=1')()}}`,
  `javascript:window.pwned=1`
]

test('texts of people stay texts on every page (G-02)', async ({ page }) => {
  const faults = watch(page)
  const site = test.info().project.use.baseURL ?? ''
  const [name = '', ...others] = canaries
  await page.goto(`${site}/en/sign-up?email=${encodeURIComponent(others[0] ?? '')}`)
  await page.locator('input[type=email]').fill(`canary-${Date.now()}@example.com`)
  await page.locator('input[autocomplete=username], input[name=username]').first().fill(name)
  for (const field of await page.locator('input[type=password]').all()) await field.fill(password)
  await page.locator('main form [type=submit]').click()
  await expect(page.locator('html')).toHaveAttribute('data-session', 'in')

  await page.goto(`${site}/en/deposit`)
  const files = canaries.map((canary, at) => ({
    name: `${canary.replaceAll('/', '∕')}.pdf`,
    mimeType: 'application/pdf',
    buffer: Buffer.from(`canary ${at} ${Math.random()}`)
  }))
  await page.locator('input[type=file]').first().setInputFiles(files)
  await expect(page.getByText('Recorded', { exact: true })).toHaveCount(files.length)
  for (const path of ['', '/verify', '/deposit', '/history', '/sign-in', '/nowhere']) {
    for (const locale of ['en', 'fr']) {
      const canary = encodeURIComponent(canaries[locale.length + path.length - 2] ?? name)
      await page.goto(`${site}/${locale}${path}?redirect=${canary}&email=${canary}#${canary}`)
      await expect(page.locator('h1')).toHaveCount(1)
      await expectUnharmed(page)
    }
  }
  await page.goto(`${site}/en/history`)
  await expect(page.getByText(files[0]?.name ?? '').first()).toBeVisible()
  await expectUnharmed(page)
  expect(faults).toEqual([])
})

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

function watch(page: Page): string[] {
  const faults: string[] = []
  page.on('console', message => {
    const isMissingPage = /status of 404/.test(message.text())
    if (message.type() === 'error' && !isMissingPage) faults.push(message.text())
  })
  page.on('pageerror', error => faults.push(error.message))
  page.on('dialog', dialog => faults.push(`dialog: ${dialog.message()}`))
  return faults
}
