import { defaultLocale, localizedPath } from '../../i18n/index.ts'
import * as drafts from '../../stores/form-drafts.ts'

/**
 * Returns and removes the value that `keepPageDraft()` stored under `name` when the person changed
 * the language of the page. Returns undefined if there is none.
 */
export function takePageDraft(name: string): unknown {
  return drafts.takeDraft(pagePathWithoutLocale(), name)
}

/**
 * From now on, stores the result of `read` under `name` whenever the person changes the language of
 * the page. Returns a function that stops this.
 */
export function keepPageDraft(name: string, read: () => unknown): () => void {
  const keep = () => drafts.keepDraft(pagePathWithoutLocale(), name, read())
  document.addEventListener('vidimus:language', keep)
  return () => document.removeEventListener('vidimus:language', keep)
}

/** Returns the path of the page without its language. */
export function pagePathWithoutLocale(): string {
  return localizedPath(defaultLocale, location.pathname)
}
