import type { ReadableAtom } from 'nanostores'
import type { DepositSummary } from '../../stores/deposits/deposit-states.ts'
import { isOnPage, once, onPage } from '../kit/page.ts'

/** The queue's summary, once the queue is loaded. */
let $summary: ReadableAtom<DepositSummary> | undefined

/** Returns whether leaving the document now would end an upload, also one that waits for the person. */
export function isUploading(): boolean {
  const summary = $summary?.get()
  return summary !== undefined && summary.active + summary.paused + summary.choosing > 0
}

/** Resolves when the uploads that run now have ended. */
export function uploadsEnd(): Promise<void> {
  return new Promise(resolve => {
    const stop = $summary?.listen(() => {
      if (isUploading()) return
      stop?.()
      resolve()
    })
  })
}

export function watchUploads(): void {
  const watch = once(loadQueue)
  onPage(() => {
    if (isOnPage('deposit')) void watch()
  })
}

/** Loads the queue, which is as heavy as a page, only on the page that needs it anyway. */
async function loadQueue(): Promise<void> {
  const [deposits, { showUploadProgress }] = await Promise.all([
    import('../../stores/deposits/deposits.ts'),
    import('./upload-progress.ts'),
    // loaded now, because the network or the build may be gone when they are needed
    import('../kit/confirm-dialog.ts'),
    import('../kit/toasts.ts')
  ])
  $summary = deposits.$depositSummary
  showUploadProgress($summary, deposits.dismiss)
}
