import { join } from 'node:path'
import { expect, type Page } from '@playwright/test'
import { build } from 'vite'
import { textsOf } from '../../../scripts/texts.ts'

let script: Promise<string> | undefined

/**
 * Opens a page that contains only limit editors: one to read, one to change and one whose saves
 * fail. No page of the product has all three, so the content of a served page is replaced by a
 * bundle of them.
 */
export async function openLimitGallery(page: Page, home: string): Promise<void> {
  script ??= bundle()
  const code = await script
  const address = `${home}/limit-gallery`
  await page.route(address, async route => {
    const given = await page.request.get(`${home}/verify`)
    const body = (await given.text()).replace(/(<main[^>]*>).*(<\/main>)/s, `$1${content}$2`)
    await route.fulfill({ response: given, body })
  })
  await page.route('**/limit-gallery.js', route =>
    route.fulfill({ contentType: 'text/javascript', body: code })
  )
  await page.goto(address)
  await expect(page.locator('[data-example=failing]')).toBeVisible()
}

const content = `<div class="page page-task"><h1 class="page-title" tabindex="-1">Limits</h1>
  <div id="gallery"></div></div><script type="module" src="/limit-gallery.js"></script>`

async function bundle(): Promise<string> {
  const result = await build({
    configFile: false,
    logLevel: 'silent',
    define: {
      'process.env.NODE_ENV': '"production"',
      catalogues: JSON.stringify({ en: textsOf('en'), fr: textsOf('fr') })
    },
    plugins: [{ name: 'astro-stub', resolveId: isOfAstro, load: stubOfAstro }],
    build: {
      write: false,
      rolldownOptions: { output: { codeSplitting: false } },
      lib: {
        entry: join(import.meta.dirname, '../../e2e/admin/limit-gallery.tsx'),
        formats: ['es']
      }
    }
  })
  const [first] = Array.isArray(result) ? result : [result]
  if (!first || !('output' in first)) throw new Error('the gallery was not built')
  return first.output[0].code
}

/**
 * Gives modules of Astro an id that `stubOfAstro` recognizes. `stubOfAstro` then replaces the
 * module with one whose `navigate` does nothing, because the gallery opens no other page.
 */
const isOfAstro = (id: string) => (id.startsWith('astro:') ? `\0${id}` : undefined)
const stubOfAstro = (id: string) =>
  id.startsWith('\0astro:') ? 'export const navigate = () => {}' : undefined
