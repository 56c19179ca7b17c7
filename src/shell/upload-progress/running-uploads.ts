import type { ReadableAtom } from 'nanostores'
import type { DepositQueueSummary } from '../../stores/deposits/deposit-states.ts'
import { isOnPage, onEachPage, runInBackground, runOnce } from '../kit/page.ts'

// undefined until the upload queue is loaded
let $summary: ReadableAtom<DepositQueueSummary> | undefined

/** Whether closing the tab now would interrupt an upload. Paused uploads count, too. */
export function isUploading(): boolean {
  const summary = $summary?.get()
  return summary !== undefined && summary.active + summary.paused + summary.choosing > 0
}

/** To be called only while `isUploading()` is true; otherwise the promise may never resolve. */
export function waitForUploads(): Promise<void> {
  return new Promise(resolve => {
    const stop = $summary?.listen(() => {
      if (isUploading()) return
      stop?.()
      resolve()
    })
  })
}

export function loadQueueCodeWhenDepositPageOpens(): void {
  const watch = runOnce(loadQueue)
  onEachPage(() => {
    if (isOnPage('deposit')) runInBackground(watch)
  })
}

// only pages that need the queue load its code, which is as large as that of a whole page
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
