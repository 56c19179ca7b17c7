import { useEffect } from 'react'

/**
 * Writes the name of the item that a page shows, such as a company, into the heading, the
 * breadcrumb and the title of the window. The server cannot do it, because it renders one page for
 * all items. Does nothing until the name is known.
 */
export function useSetPageName(name: string | undefined): void {
  useEffect(() => {
    if (name === undefined) return
    for (const element of document.querySelectorAll('[data-page-name]')) element.textContent = name
    const rest = document.title.split(' · ').slice(1)
    document.title = [name, ...rest].join(' · ')
  }, [name])
}
