import {
  defaultLocale,
  isLocale,
  type Locale,
  type T,
  translator,
  type Words
} from '../../i18n/index.ts'

/** The language of the page that is shown now. */
export function pageLocale(): Locale {
  const { locale } = document.body.dataset
  return isLocale(locale) ? locale : defaultLocale
}

/** The shell's words on the page that is shown now, each beginning with `shell.`. */
export function pageWords(): T {
  const json = document.getElementById('shell')?.dataset['words'] ?? '{}'
  return translator(pageLocale(), JSON.parse(json) as Words) // as: written by the layout
}

/** Whether the page that is shown now is the deposit page, in any language. */
export function isDepositPage(): boolean {
  return location.pathname.replace(/\/$/, '').endsWith('/deposit')
}

/** Build id and version of the company's configuration, as the layout wrote them. */
export function buildOf(page: Document): string | undefined {
  return page.querySelector<HTMLMetaElement>('meta[name=build]')?.content
}

/** Runs on each page, the first one included. */
export function onPage(run: () => void): void {
  document.addEventListener('astro:page-load', run)
}

/** As `onPage`, for modules that load when the page is there already. */
export function onThisPageAndNext(run: () => void): void {
  run()
  onPage(run)
}

/** Runs when something that matches `selector` is clicked, on whatever page it stands. */
export function onClick(
  selector: string,
  run: (element: HTMLElement, event: MouseEvent) => void
): void {
  document.addEventListener(
    'click',
    event => {
      const element = event.target instanceof Element ? event.target.closest(selector) : undefined
      if (element instanceof HTMLElement) run(element, event)
    },
    // Before ClientRouter, which would follow a link that is ours to handle.
    { capture: true }
  )
}
