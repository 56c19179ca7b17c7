import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { expect, type Page } from '@playwright/test'
import type { AxeResults, RunOptions } from 'axe-core'

// minified, because its script goes to each page anew
const axeScript = readFileSync(
  createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
  'utf8'
)

type Scheme = 'light' | 'dark'
type Rules = 'all' | 'colors' | 'none'
/** The rules of axe whose result depends on the color scheme. */
const colorRules = ['color-contrast', 'link-in-text-block']

/** Loads the script of axe once for each page, because loading it takes as long as one check. */
async function expectAccessible(page: Page, rules: Rules) {
  if (!(await page.evaluate(() => 'axe' in window))) {
    await page.evaluate(axeScript)
    await page.evaluate(judgeAllContrasts)
  }
  const options: RunOptions = {
    resultTypes: ['violations'],
    // only rules for sound and video need the files that it would load again
    preload: false,
    // the report has the HTML of an element and not its selector, which takes long to find
    selectors: false,
    ...(rules === 'colors' && { runOnly: { type: 'rule', values: colorRules } })
  }
  expect.soft(await page.evaluate(findViolations, options), page.url()).toEqual([])
}

/**
 * Makes axe judge the contrast of each text. By default it looks for `::before` and `::after`
 * behind each text, which takes half of its time, and judges no text where it finds some.
 */
function judgeAllContrasts(): void {
  const checks = [{ id: 'color-contrast', options: { ignorePseudo: true } }]
  Reflect.get(window, 'axe').configure({ checks })
}

async function findViolations(options: RunOptions): Promise<string[]> {
  const { violations }: AxeResults = await Reflect.get(window, 'axe').run(document, options)
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id} ${html}`))
}

/**
 * Checks what must be true of every page: accessibility, complete translations, no style
 * attributes, nothing cut off. `rules` are the rules of accessibility that are checked.
 */
export async function inspectPage(page: Page, rules: Rules = 'all'): Promise<void> {
  await expect(page.locator('h1')).toHaveCount(1)
  await page.evaluate(settle)
  expect.soft(await page.evaluate(findClipped), `${page.url()} is cut off`).toEqual([])
  // a script places the overlay, which the policy allows
  const html = (await page.content()).replace(/<div id="drop-overlay"[^>]*>/, '')
  expect.soft(html, 'the policy blocks style attributes').not.toMatch(/<[^>]+\sstyle="[^"]/)
  // a raw key such as "verify.title" is a missing translation; a host such as "demo.localhost" is not
  const text = await page.locator('body').innerText()
  const data = await page.locator('[translate=no]').allInnerTexts()
  const words = text.split('\n').filter(line => !data.includes(line))
  expect.soft(words.join('\n')).not.toMatch(/(^|\n)(?!\w+\.localhost\b)[a-z]+(\.[a-zA-Z_]+)+(\n|$)/)
  expect.soft(text, 'a gap of a translation is filled').not.toContain('{{')
  if (rules !== 'none') await expectAccessible(page, rules)
}

/** Checks a page in the first of these color schemes with all rules, in the others its colors. */
export async function inspectInSchemes(page: Page, schemes: readonly Scheme[]): Promise<void> {
  for (const [at, colorScheme] of schemes.entries()) {
    await page.emulateMedia({ colorScheme })
    if (at === 0) await inspectPage(page)
    else {
      await page.evaluate(settle)
      await expectAccessible(page, 'colors')
    }
  }
}

/**
 * Waits until fonts are loaded and transitions and animations have ended, because colors and
 * positions change until then. Does not wait for endless animations.
 */
async function settle(): Promise<void> {
  // the first page of a browser changes its font once
  for (let waits = 0; waits < 20 && !document.documentElement.dataset['fonts']; waits++) {
    await new Promise(resolve => setTimeout(resolve, 50))
  }
  await document.fonts.ready
  // Where an element and one within it both have a transition, the inner one begins anew when the
  // outer one ends.
  for (let rounds = 0; rounds < 10; rounds++) {
    await new Promise(requestAnimationFrame)
    const running = document
      .getAnimations()
      .filter(({ playState }) => playState === 'running')
      .filter(({ effect }) => Number.isFinite(effect?.getComputedTiming().endTime))
    if (running.length === 0) return
    const ended = Promise.allSettled(running.map(({ finished }) => finished))
    await Promise.race([ended, new Promise(resolve => setTimeout(resolve, 1000))])
  }
}

/**
 * Returns what is wrong with the width of the page, as a list of texts: by how many pixels the page
 * scrolls sideways, and the HTML of each element that sticks out of the page or of its own box. The
 * list is empty if nothing is wrong.
 */
function findClipped(): string[] {
  const { scrollWidth, clientWidth } = document.documentElement
  const sideways = scrollWidth > clientWidth ? [`${scrollWidth - clientWidth} px sideways`] : []
  const parts = document.querySelectorAll<HTMLElement>(
    'a, button, input, select, summary, label, p, h1, h2, h3, li, dt, dd, legend'
  )
  const clipped = [...parts].filter(element => {
    const { left, right, width, height } = element.getBoundingClientRect()
    const style = getComputedStyle(element)
    // not shown, or shown to screen readers alone
    if (width <= 1 || height <= 1 || element.closest('.sr-only, .skip-link')) return false
    // the tabs of the administration scroll sideways, and show that they do
    if (element.closest('.section-tabs')) return false
    if (left < -1 || right > clientWidth + 1) return true
    // what is typed scrolls inside of its field
    if (element instanceof HTMLInputElement) return false
    const cuts = style.overflowX === 'hidden' || style.overflowX === 'clip'
    return (
      cuts && style.textOverflow !== 'ellipsis' && element.scrollWidth > element.clientWidth + 1
    )
  })
  return [...sideways, ...clipped.map(element => element.outerHTML.slice(0, 120))]
}
