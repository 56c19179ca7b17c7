import { onThisAndLaterPages } from './kit/page.ts'

/**
 * Writes the address of the page into the heading of the not-found page. The server cannot do it,
 * because it sends the same page for every address.
 */
export function fillNotFoundPage(): void {
  onThisAndLaterPages(() => {
    const heading = document.querySelector<HTMLElement>('[data-not-found]')
    const sentence = heading?.dataset['notFound']
    // A function, because `replace` interprets a `$` in a replacement text.
    if (heading && sentence)
      heading.textContent = sentence.replace('{{path}}', () => location.pathname)
  })
}
