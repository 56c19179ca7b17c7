import { onPage, pageWords } from './page.ts'

/** One not-found page serves a whole host, so the address is filled in here. */
export function fillNotFound(): void {
  onPage(() => {
    const text = document.querySelector('[data-not-found]')
    if (text) text.textContent = pageWords()('common.notFound.text', { path: location.pathname })
  })
}
