import {
  defaultLocale,
  isLocale,
  type Locale,
  type Messages,
  type Translate,
  translator
} from '../../i18n/index.ts'

// by then the browser has removed a page that the person is leaving
const replacingMs = 500

export function pageLocale(): Locale {
  const { locale } = document.body.dataset
  return isLocale(locale) ? locale : defaultLocale
}

/** The keys of the shell's words begin with `shell.`. */
export function shellTranslator(): Translate {
  const json = document.getElementById('shell')?.dataset['words'] ?? '{}'
  return translator(pageLocale(), JSON.parse(json) as Messages) // as: written by the layout
}

/**
 * The build id and the version of the company's configuration. Undefined for a page without them.
 */
export function pageVersion(page: Document): string | undefined {
  return page.querySelector<HTMLMetaElement>('meta[name=build]')?.content
}

/** Including the first. */
export function onEachPage(run: () => void): void {
  document.addEventListener('astro:page-load', run)
}

/** For modules that are loaded after the page. */
export function onThisAndLaterPages(run: () => void): void {
  run()
  onEachPage(run)
}

/** In any language. */
export function isOnPage(name: 'deposit' | 'verify'): boolean {
  return location.pathname.replace(/\/$/, '').endsWith(`/${name}`)
}

/** Runs `start` once, and again if it failed. */
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
 * Firefox cancels the imports of a page right before it replaces the page. So an error is reported
 * half a second later, when such a page is gone.
 */
export function runInBackground(work: () => Promise<void>): void {
  work().catch(error => setTimeout(() => void Promise.reject(error), replacingMs))
}

/** On any page, or before this was called. */
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

/** According to the attribute `data-session` that `boot.js` sets on the page. */
export function isSignedIn(): boolean {
  return document.documentElement.dataset['session'] === 'in'
}

/** Undefined if it is not stored, or if storage is switched off. */
export function readStoredSetting(key: string): string | undefined {
  try {
    return localStorage.getItem(key) ?? undefined
  } catch {
    return undefined
  }
}

/** Deletes the setting if `value` is undefined. */
export function storeSettingInBrowser(key: string, value: string | undefined): void {
  try {
    if (value === undefined) localStorage.removeItem(key)
    else localStorage.setItem(key, value)
  } catch {
    // storage may be switched off or full; all settings are optional
  }
}
