import type { TransitionBeforePreparationEvent } from 'astro:transitions/client'
import { buildOf, pageWords } from '../kit/page.ts'
import { isUploading, uploadsEnd } from '../uploads/running-uploads.ts'

/**
 * A page of another build or with another theme must be loaded in full: the files of the open one may
 * be gone, and its policy does not know the other theme. While uploads run, the person is asked.
 */
export function guardAgainstOtherBuilds(): void {
  document.addEventListener('astro:before-preparation', event => {
    const { loader } = event
    event.loader = async () => {
      await loader()
      if (event.defaultPrevented || !isForeign(event)) return
      if (!(await confirmLeave())) return new Promise(() => {}) // nothing happens
      event.preventDefault()
    }
  })
}

function isForeign(event: TransitionBeforePreparationEvent): boolean {
  const theirs = buildOf(event.newDocument)
  return theirs !== undefined && theirs !== buildOf(document)
}

/** Returns whether the page may be left; running uploads make it ask. */
export async function confirmLeave(): Promise<boolean> {
  if (!isUploading()) return true
  const { confirmInDialog } = await import('../kit/confirm-dialog.ts')
  const t = pageWords()
  return confirmInDialog({
    text: t('shell.leave.newPage'),
    go: t('shell.leave.go'),
    stay: t('shell.leave.stay'),
    until: uploadsEnd(),
    persistent: true
  })
}
