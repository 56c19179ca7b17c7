import { defaultLocale, localizedPath } from '../../i18n/index.ts'
import * as drafts from '../../stores/form-drafts.ts'

/** Returns what was kept under `name` when this page changed its language. */
export function takeDraft(name: string): unknown {
  return drafts.takeDraft(page(), name)
}

/** Keeps what `read` returns when the page changes its language; returns the function that stops it. */
export function keepDraft(name: string, read: () => unknown): () => void {
  const keep = () => drafts.keepDraft(page(), name, read())
  document.addEventListener('vidimus:language', keep)
  return () => document.removeEventListener('vidimus:language', keep)
}

/** Returns the page's path, equal for all languages. */
function page(): string {
  return localizedPath(defaultLocale, location.pathname)
}
