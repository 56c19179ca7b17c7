import { onPage } from './kit/page.ts'

/** After a navigation reading goes on at the new page's heading; ClientRouter announces its title. */
export function focusHeading(): void {
  let isFirst = true
  onPage(() => {
    if (!isFirst && !location.hash)
      document.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true })
    isFirst = false
  })
}
