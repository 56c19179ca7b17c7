import { expect, type Locator, type Page } from '@playwright/test'

type Role = 'button' | 'link' | 'textbox' | 'searchbox' | 'combobox' | 'menuitem' | 'radio'

/**
 * Presses Tab until the first element with this role and name has the focus. Checks on the way that
 * every focused element is visible.
 */
export async function tabTo(page: Page, role: Role, name: string | RegExp): Promise<void> {
  const target = page.getByRole(role, { name, exact: true }).first()
  await tabToTarget(page, target, `${role} ${name}`)
}

export async function tabToTarget(page: Page, target: Locator, words: string): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    if (await target.evaluate(element => element === document.activeElement)) return
    await page.keyboard.press('Tab')
    await expectFocusSeen(page)
  }
  throw new Error(`${words} is not reached by the Tab key`)
}

/** Expects that the focused element is in the window, has a visible outline, and is not covered. */
export async function expectFocusSeen(page: Page): Promise<void> {
  await expect.poll(() => page.evaluate(findFocusFaults)).toEqual([])
}

function findFocusFaults(): string[] {
  const element = document.activeElement
  // after the last element of the page the browser's own controls have the focus
  if (!element || element === document.body || element === document.documentElement) return []
  // a hidden file input is shown as the label around it
  const shown = (element.matches('.sr-only') && element.closest('label')) || element
  const { outlineStyle, outlineWidth } = getComputedStyle(shown)
  const isMarked = outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2
  const { left, right, top, bottom, height } = shown.getBoundingClientRect()
  const inset = 3 // borders are round, and rectangles end between pixels
  const [x, y] = [(left + right) / 2, (top + bottom) / 2]
  // what is larger than the window, or is focused by a part of it, shows some of itself
  const isPartial = height > innerHeight / 2 || shown !== element
  const points = isPartial
    ? Array.from({ length: 20 }, (_, at) => [x, top + ((at + 0.5) * height) / 20] as const)
    : ([
        [x, y],
        [x, top + inset],
        [x, bottom - inset],
        [left + inset, y],
        [right - inset, y]
      ] as const)
  const lost = points.flatMap(point => {
    const hit = document.elementFromPoint(...point)
    if (hit !== null && (shown.contains(hit) || hit.contains(element))) return []
    return [`${point.map(Math.round)} shows ${hit?.outerHTML.slice(0, 80)}`]
  })
  const isSeen = isPartial ? lost.length < points.length : lost.length === 0
  const name = shown.outerHTML.slice(0, 160)
  return [
    ...(isMarked ? [] : [`not marked: ${name}`]),
    ...(isSeen ? [] : [`not seen: ${name}`, ...lost])
  ]
}
