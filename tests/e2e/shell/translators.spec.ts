import { expect, type Page, test } from '@playwright/test'
import { inMatrix } from '../../helpers/e2e/looks.ts'
import {
  chooseFiles,
  expectSignedInAt,
  homeAddress,
  password,
  siteAddress,
  startSession,
  textFile,
  watchFaults
} from '../../helpers/e2e/page.ts'

/** How translators put their text into a page. */
const manners = ['replaces', 'moves', 'removes first'] as const
type Manner = (typeof manners)[number]

for (const manner of manners) {
  const details = manner === 'removes first' ? {} : inMatrix
  test(
    `sign-in works at the first try on a translated page: a translator that ${manner}`,
    details,
    async ({ page, browser }) => {
      const elsewhere = await browser.newPage()
      const email = await startSession(elsewhere, homeAddress(), { chosen: password })
      await elsewhere.close()
      const faults = watchFaults(page)
      await page.goto(`${homeAddress()}/sign-in`)
      await expect(page.locator('main form [type=submit]')).toBeEnabled()
      await translate(page, manner)
      // an error and the reaction to it change what was translated
      await submit(page, email, '')
      await expect(page.locator('main form')).toContainText('[VALUE IS REQUIRED]')
      const loads = countLoads(page)
      await submit(page, email, password)
      await expectSignedInAt(page, /\/en\/?$/)
      expect(loads()).toBe(0)
      expect(faults).toEqual([])
    }
  )

  test(
    `a queue stays whole on a translated page: a translator that ${manner}`,
    details,
    async ({ page }) => {
      const faults = watchFaults(page)
      await startSession(page, homeAddress())
      await page.goto(`${homeAddress()}/deposit`)
      await expect(page.locator('main input[type=file]').first()).toBeAttached()
      await page.waitForLoadState('networkidle')
      await expect(page.locator('astro-island[ssr]')).toHaveCount(0)
      await translate(page, manner)
      const loads = countLoads(page)
      for (const round of [1, 2, 3, 4]) {
        await chooseFiles(
          page,
          [1, 2, 3].map(at => textFile(`${round}-${at}.txt`))
        )
        await expect(page.locator('main li[data-status=done]')).toHaveCount(3 * round)
        const stamp = page.locator('[data-stamp]')
        await expect(stamp.getByRole('heading')).toHaveText('[SEALED]')
        await expect(stamp.locator('p').last()).toHaveText(`[${3 * round} DOCUMENTS SEALED]`)
      }
      for (const row of await page.locator('main li[data-status=done]').all()) {
        await expect(row).toContainText('[SEALED')
        // and not what it said before
        await expect(row).not.toContainText(/\[?(?:WAITING|UPLOADING|RECORDING|RECORDED|Sealed)/)
      }
      await page.getByRole('button', { name: /DISMISS/ }).click()
      await expect(page.locator('main li[data-status]')).toHaveCount(0)
      expect(loads()).toBe(0)
      expect(faults).toEqual([])
    }
  )
}

async function submit(page: Page, email: string, chosen: string): Promise<void> {
  await page.locator('input[name=email]').fill(email)
  await page.locator('input[name=password]').fill(chosen)
  await page.locator('main form [type=submit]').click()
}

function countLoads(page: Page): () => number {
  let loads = 0
  page.on('load', () => loads++)
  return () => loads
}

/** Translates the texts of a page into `[CAPITALS]`, and each new text, as a browser's translator. */
async function translate(page: Page, manner: Manner): Promise<void> {
  expect(page.url()).toContain(siteAddress())
  await page.evaluate(how => {
    const left = 'script,style,textarea,option,noscript,font,title,[translate=no],.notranslate'
    const translateText = (text: Text) => {
      const [outer, inner] = [document.createElement('font'), document.createElement('font')]
      const translation = `[${text.data.trim().toUpperCase()}]`
      outer.append(inner)
      if (how === 'moves') {
        text.before(outer)
        inner.append(text)
        text.data = translation
      } else {
        inner.textContent = translation
        if (how === 'replaces') return text.replaceWith(outer)
        const { parentNode, nextSibling } = text
        text.remove()
        parentNode?.insertBefore(outer, nextSibling)
      }
    }
    const translateAll = () => {
      const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
      const texts: Text[] = []
      while (walk.nextNode()) {
        const text = walk.currentNode
        const isOpen =
          text instanceof Text && text.data.trim() && !text.parentElement?.closest(left)
        if (isOpen) texts.push(text)
      }
      for (const text of texts) translateText(text)
    }
    translateAll()
    new MutationObserver(() => translateAll()).observe(document.body, {
      ...{ childList: true, subtree: true, characterData: true }
    })
  }, manner)
}
