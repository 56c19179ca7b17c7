import { onThisAndLaterPages } from './kit/page.ts'

/** The server sends the same page for every address. */
export function fillNotFoundPage(): void {
  onThisAndLaterPages(() => {
    const heading = document.querySelector<HTMLElement>('[data-not-found]')
    const sentence = heading?.dataset['notFound']
    // a function, because `replace` interprets a `$` in a replacement text
    if (heading && sentence)
      heading.textContent = sentence.replace('{{path}}', () => location.pathname)
  })
}
