import type { MouseEvent } from 'react'

/**
 * Runs `act` for a button that may disappear. Focuses another of its list row, or the nearest
 * focusable ancestor, because the browser would focus the top of the document.
 */
export function runKeepingFocus({ currentTarget }: MouseEvent<HTMLElement>, act: () => void): void {
  const row = currentTarget.closest('li')
  const homes: HTMLElement[] = []
  for (let at: HTMLElement | null = currentTarget; at; at = at.parentElement) {
    if (at.tabIndex === -1 && at.hasAttribute('tabindex')) homes.push(at)
  }
  act()
  // after React has drawn
  setTimeout(() => {
    if (document.activeElement !== document.body) return
    const next = row?.isConnected ? row.querySelector('button') : undefined
    const home = next ?? homes.find(element => element.isConnected)
    home?.focus()
  })
}
