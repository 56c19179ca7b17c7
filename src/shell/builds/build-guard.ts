import type { TransitionBeforePreparationEvent } from 'astro:transitions/client'
import { pageVersion, shellTranslator } from '../kit/page.ts'
import { isUploading, waitForUploads } from '../upload-progress/running-uploads.ts'

/**
 * Makes the browser load a page in full if its build or theme differs from that of the open page.
 * With ClientRouter alone, files of the old build may be missing on the server, and the content
 * security policy of the open page blocks the new theme. While uploads run, asks the person first.
 */
export function guardAgainstOtherBuilds(): void {
  document.addEventListener('astro:before-preparation', event => {
    const { loader } = event
    event.loader = async () => {
      await loader()
      if (event.defaultPrevented || !isForeign(event)) return
      if (!(await confirmPageUnload())) return new Promise(() => {}) // never resolves, so the page stays
      event.preventDefault()
    }
  })
}

function isForeign(event: TransitionBeforePreparationEvent): boolean {
  const theirs = pageVersion(event.newDocument)
  return theirs !== undefined && theirs !== pageVersion(document)
}

/** Returns whether the page may be replaced or reloaded. While uploads run, asks the person. */
export async function confirmPageUnload(): Promise<boolean> {
  if (!isUploading()) return true
  const { confirmInDialog } = await import('../kit/confirm-dialog.ts')
  const t = shellTranslator()
  return confirmInDialog({
    text: t('shell.leave.newPage'),
    go: t('shell.leave.go'),
    stay: t('shell.leave.stay'),
    until: waitForUploads(),
    persistent: true
  })
}
