import { onEachPage } from './kit/page.ts'

/**
 * Focuses the heading of the new page after each navigation, unless the address has a fragment. The
 * title of the page is announced to screen readers by ClientRouter.
 */
export function startHeadingFocus(): void {
  let isFirst = true
  onEachPage(() => {
    if (!isFirst && !location.hash)
      document.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true })
    isFirst = false
  })
}
