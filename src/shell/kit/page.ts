import {
  defaultLocale,
  isLocale,
  type Locale,
  type Messages,
  type Translate,
  translator
} from '../../i18n/index.ts'

/** Milliseconds after which the browser has removed a page that the person is leaving. */
const replacingMs = 500

/** Returns the language of the current page. */
export function pageLocale(): Locale {
  const { locale } = document.body.dataset
  return isLocale(locale) ? locale : defaultLocale
}

/**
 * Returns the function that translates the shell's words on the current page. Their keys begin with
 * `shell.`.
 */
export function shellTranslator(): Translate {
  const json = document.getElementById('shell')?.dataset['words'] ?? '{}'
  return translator(pageLocale(), JSON.parse(json) as Messages) // as: written by the layout
}

/**
 * Returns the build id of a page and the version of the company's configuration, separated by a
 * space. Undefined for a page without them.
 */
export function pageVersion(page: Document): string | undefined {
  return page.querySelector<HTMLMetaElement>('meta[name=build]')?.content
}

/** Runs a function on each page that is opened, including the first. */
export function onEachPage(run: () => void): void {
  document.addEventListener('astro:page-load', run)
}

/**
 * Runs a function on the current page and on each later one. For modules that are loaded after the
 * page.
 */
export function onThisAndLaterPages(run: () => void): void {
  run()
  onEachPage(run)
}

/** Returns whether the current page has this name, in any language. */
export function isOnPage(name: 'deposit' | 'verify'): boolean {
  return location.pathname.replace(/\/$/, '').endsWith(`/${name}`)
}

/**
 * Returns a function that runs `start` on the first call only. If `start` fails, the next call runs
 * it again.
 */
export function runOnce(start: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  return async () => {
    running ??= start()
    try {
      await running
    } catch (cause) {
      running = undefined
      throw cause
    }
  }
}

/**
 * Runs `work` without waiting for its end. If it fails, reports the error half a second later. The
 * delay hides errors of a page that the person is leaving: Firefox cancels the imports of a page
 * right before it replaces the page, and half a second later the page is gone.
 */
export function runInBackground(work: () => Promise<void>): void {
  work().catch(error => setTimeout(() => void Promise.reject(error), replacingMs))
}

/**
 * Runs a function when an element that matches `selector` is clicked, on any page, or has been
 * clicked before this was called.
 */
export function onClick(
  selector: string,
  run: (element: HTMLElement, event: MouseEvent) => void
): void {
  document.addEventListener(
    'click',
    event => {
      const element = event.target instanceof Element ? event.target.closest(selector) : undefined
      if (!(element instanceof HTMLElement)) return
      delete window.earlyClick
      run(element, event)
    },
    // listens before ClientRouter, which would otherwise follow links that this module handles
    { capture: true }
  )
  if (window.earlyClick?.matches(selector)) window.earlyClick.click()
}

/**
 * Returns whether the visitor is signed in, according to the attribute `data-session` that
 * `boot.js` sets on the page.
 */
export function isSignedIn(): boolean {
  return document.documentElement.dataset['session'] === 'in'
}

/**
 * Returns a setting from the storage of this browser. Undefined if it is not stored, or if storage
 * is switched off.
 */
export function readStoredSetting(key: string): string | undefined {
  try {
    return localStorage.getItem(key) ?? undefined
  } catch {
    return undefined
  }
}

/**
 * Stores a setting in this browser, or deletes it if `value` is undefined. Does nothing if storage
 * is switched off or full.
 */
export function storeSettingInBrowser(key: string, value: string | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(key)
    else localStorage.setItem(key, value)
  } catch {
    // storage may be switched off or full; all settings are optional
  }
}
