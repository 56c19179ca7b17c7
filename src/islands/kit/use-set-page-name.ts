import { useEffect } from 'react'

/**
 * Writes the item's name into heading, breadcrumb and title. The server renders one page for all
 * items.
 */
export function useSetPageName(name: string | undefined): void {
  useEffect(() => {
    if (name === undefined) return
    for (const element of document.querySelectorAll('[data-page-name]')) element.textContent = name
    const rest = document.title.split(' · ').slice(1)
    document.title = [name, ...rest].join(' · ')
  }, [name])
}
