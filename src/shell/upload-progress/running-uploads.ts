import type { ReadableAtom } from 'nanostores'
import type { DepositQueueSummary } from '../../stores/deposits/deposit-states.ts'
import { isOnPage, onEachPage, runInBackground, runOnce } from '../kit/page.ts'

/** The progress of all uploads together. Undefined until the upload queue is loaded. */
let $summary: ReadableAtom<DepositQueueSummary> | undefined

/**
 * Returns whether closing the tab now would interrupt an upload. Paused uploads and uploads that
 * wait for a decision by the person also count.
 */
export function isUploading(): boolean {
  const summary = $summary?.get()
  return summary !== undefined && summary.active + summary.paused + summary.choosing > 0
}

/**
 * Returns a promise that resolves when all running uploads have ended. Call it only while
 * `isUploading()` returns true; otherwise the promise may never resolve.
 */
export function waitForUploads(): Promise<void> {
  return new Promise(resolve => {
    const stop = $summary?.listen(() => {
      if (isUploading()) return
      stop?.()
      resolve()
    })
  })
}

/** Makes the upload queue load when the deposit page is opened for the first time. */
export function loadQueueCodeWhenDepositPageOpens(): void {
  const watch = runOnce(loadQueue)
  onEachPage(() => {
    if (isOnPage('deposit')) runInBackground(watch)
  })
}

/**
 * Loads the code of the upload queue, and shows the progress of uploads. Only pages that need the
 * queue load it, because its code is as large as that of a whole page.
 */
async function loadQueue(): Promise<void> {
  const [deposits, { showUploadProgress }] = await Promise.all([
    import('../../stores/deposits/deposits.ts'),
    import('./upload-progress.ts'),
    // loaded in advance, because the network or the build may be gone when they are needed
    import('../kit/confirm-dialog.ts'),
    import('../kit/toasts.ts')
  ])
  $summary = deposits.$depositQueueSummary
  showUploadProgress($summary, deposits.removeEnded)
}
