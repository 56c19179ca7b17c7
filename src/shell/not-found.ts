import { onPage } from './page.ts'

/** One not-found page serves a whole host, so the address is filled into its sentence here. */
export function fillNotFound(): void {
  onPage(() => {
    const text = document.querySelector<HTMLElement>('[data-not-found]')
    const sentence = text?.dataset['notFound']
    // A function, because a `$` in the address would mean something in a replacement text.
    if (text && sentence) text.textContent = sentence.replace('{{path}}', () => location.pathname)
  })
}
