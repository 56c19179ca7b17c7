import { onEachPage } from './kit/page.ts'

/** ClientRouter itself only announces the title of the page to screen readers. */
export function startHeadingFocus(): void {
  let isFirst = true
  onEachPage(() => {
    if (!isFirst && !location.hash)
      document.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true })
    isFirst = false
  })
}
