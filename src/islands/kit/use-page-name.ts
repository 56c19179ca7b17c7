import { useEffect } from 'react'

/**
 * Writes the name of what a page shows into its heading, its breadcrumb and the title of the window,
 * because the server renders one page for all of them. Does nothing until the name is known.
 */
export function usePageName(name: string | undefined): void {
  useEffect(() => {
    if (name === undefined) return
    for (const element of document.querySelectorAll('[data-page-name]')) element.textContent = name
    const rest = document.title.split(' · ').slice(1)
    document.title = [name, ...rest].join(' · ')
  }, [name])
}
