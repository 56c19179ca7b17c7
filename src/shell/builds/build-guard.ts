import type { TransitionBeforePreparationEvent } from 'astro:transitions/client'
import { pageVersion, shellTranslator } from '../kit/page.ts'
import { isUploading, waitForUploads } from '../upload-progress/running-uploads.ts'

/**
 * ClientRouter would keep the scripts and the content security policy of the open page: the server
 * may no longer have its files, and the policy blocks a new theme.
 */
export function guardAgainstOtherBuilds(): void {
  document.addEventListener('astro:before-preparation', event => {
    const { loader } = event
    event.loader = async () => {
      await loader()
      // the browser would replace the page by its own page about errors
      if (event.defaultPrevented && (await isUnreachable(event.to))) {
        const { showToast } = await import('../kit/toasts.ts')
        showToast(shellTranslator()('shell.offlinePage'))
        return new Promise(() => {})
      }
      if (event.defaultPrevented || !isForeign(event)) return
      if (!(await confirmPageUnload())) return new Promise(() => {}) // never resolves, so the page stays
      event.preventDefault()
    }
  })
}

async function isUnreachable(page: URL): Promise<boolean> {
  if (page.origin !== location.origin) return false
  return fetch(page, { method: 'HEAD' }).then(
    () => false,
    () => true
  )
}

function isForeign(event: TransitionBeforePreparationEvent): boolean {
  const theirs = pageVersion(event.newDocument)
  return theirs !== undefined && theirs !== pageVersion(document)
}

/** While uploads run, asks the person. */
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
