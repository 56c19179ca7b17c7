import * as drafts from '../../stores/form-drafts.ts'

/**
 * Returns and removes the value that was stored under `name` for this page, when the person changed
 * the language or when the session ended. Returns undefined if there is none.
 */
export function takeUnsavedInput(name: string): unknown {
  return drafts.takeDraft(drafts.pagePathInDefaultLocale(), name)
}

/**
 * Stores the result of `read` under `name` whenever the person changes the language of the page.
 * Returns a function that stops this.
 */
export function keepUnsavedInput(name: string, read: () => unknown): () => void {
  const keep = () => drafts.storeDraft(drafts.pagePathInDefaultLocale(), name, read())
  document.addEventListener('vidimus:language', keep)
  return () => document.removeEventListener('vidimus:language', keep)
}
