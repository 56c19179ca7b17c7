import * as drafts from '../../stores/form-drafts.ts'

/**
 * Returns and forgets the input that was kept under `name` before a change of language or the end
 * of the session.
 */
export function takeUnsavedInput(name: string): unknown {
  return drafts.takeDraft(drafts.pagePathInDefaultLocale(), name)
}

/** Keeps input for the page in the other language. Returns a function that ends this. */
export function keepUnsavedInput(name: string, read: () => unknown): () => void {
  const keep = () => drafts.storeDraft(drafts.pagePathInDefaultLocale(), name, read())
  document.addEventListener('vidimus:language', keep)
  return () => document.removeEventListener('vidimus:language', keep)
}
