import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, type Page } from '@playwright/test'
import { build } from 'vite'
import type { Locale } from '../../src/i18n/index.ts'

let script: Promise<string> | undefined

/**
 * Opens a page that contains only limit editors. The product has no page with them yet, so the
 * content of a served page is replaced by a bundle of the editors.
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
      catalogues: JSON.stringify({ en: await cataloguesOf('en'), fr: await cataloguesOf('fr') })
    },
    plugins: [{ name: 'astro-stub', resolveId: isOfAstro, load: stubOfAstro }],
    build: {
      write: false,
      rolldownOptions: { output: { codeSplitting: false } },
      lib: { entry: join(import.meta.dirname, '../e2e/limit-gallery.tsx'), formats: ['es'] }
    }
  })
  const [first] = Array.isArray(result) ? result : [result]
  if (!first || !('output' in first)) throw new Error('the gallery was not built')
  return first.output[0].code
}

/** The gallery opens no other page, so Astro's router is replaced by an empty module. */
const isOfAstro = (id: string) => (id.startsWith('astro:') ? `\0${id}` : undefined)
const stubOfAstro = (id: string) =>
  id.startsWith('\0astro:') ? 'export const navigate = () => {}' : undefined

async function cataloguesOf(locale: Locale): Promise<Record<string, unknown>> {
  const folder = join(import.meta.dirname, '../../src/i18n', locale)
  const names = await readdir(folder)
  const texts = await Promise.all(names.map(name => readFile(join(folder, name), 'utf8')))
  return Object.fromEntries(
    names.map((name, at) => [name.replace('.json', ''), JSON.parse(texts[at] ?? '')])
  )
}
