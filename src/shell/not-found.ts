import { onPage } from './kit/page.ts'

/** One not-found page serves a whole host, so the address is filled into its heading here. */
export function fillNotFound(): void {
  onPage(() => {
    const heading = document.querySelector<HTMLElement>('[data-not-found]')
    const sentence = heading?.dataset['notFound']
    // A function, because a `$` in the address would mean something in a replacement text.
    if (heading && sentence)
      heading.textContent = sentence.replace('{{path}}', () => location.pathname)
  })
}
