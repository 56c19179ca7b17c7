import { defaultLocale, localizedPath } from '../../i18n/index.ts'
import * as drafts from '../../stores/form-drafts.ts'

/** Returns the value stored under `name` when this page changed its language. */
export function takePageDraft(name: string): unknown {
  return drafts.takeDraft(pagePath(), name)
}

/**
 * Stores the result of `read` under `name` when the page changes its language. Returns the function
 * that stops this.
 */
export function keepPageDraft(name: string, read: () => unknown): () => void {
  const keep = () => drafts.keepDraft(pagePath(), name, read())
  document.addEventListener('vidimus:language', keep)
  return () => document.removeEventListener('vidimus:language', keep)
}

/** Returns the path of the page without its language. */
export function pagePath(): string {
  return localizedPath(defaultLocale, location.pathname)
}
