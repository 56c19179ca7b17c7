import * as drafts from '../../stores/form-drafts.ts'

/**
 * Returns the unsaved input that is stored under `name` for this page, and deletes it from the
 * store. Returns undefined if there is none. Input is stored when the person changes the language
 * of the page, and when the session ends.
 */
export function takeUnsavedInput(name: string): unknown {
  return drafts.takeDraft(drafts.pagePathInDefaultLocale(), name)
}

/**
 * Stores the result of `read` under `name` whenever the person changes the language of the page.
 * `takeUnsavedInput()` returns it on the page in the other language. Returns a function that ends
 * the storing.
 */
export function keepUnsavedInput(name: string, read: () => unknown): () => void {
  const keep = () => drafts.storeDraft(drafts.pagePathInDefaultLocale(), name, read())
  document.addEventListener('vidimus:language', keep)
  return () => document.removeEventListener('vidimus:language', keep)
}
