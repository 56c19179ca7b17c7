import { onPage } from './kit/page.ts'

/** Focuses the heading of the new page after a navigation; ClientRouter announces its title. */
export function focusHeading(): void {
  let isFirst = true
  onPage(() => {
    if (!isFirst && !location.hash)
      document.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true })
    isFirst = false
  })
}
