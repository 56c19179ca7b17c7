import { onEachPage } from './kit/page.ts'

/**
 * Focuses the heading of the new page after a navigation. ClientRouter announces the page's title
 * to screen readers.
 */
export function startHeadingFocus(): void {
  let isFirst = true
  onEachPage(() => {
    if (!isFirst && !location.hash)
      document.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true })
    isFirst = false
  })
}
