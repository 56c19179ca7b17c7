import type { DepositSummary } from '../../stores/deposits/deposit-states.ts'
import { isDepositPage, onPage } from '../kit/page.ts'

let summary: DepositSummary | undefined
let watching = false
let ended = Promise.withResolvers<void>()

/** Whether leaving the document now would end an upload, also one that waits for the person. */
export function isUploading(): boolean {
  return summary !== undefined && summary.active + summary.paused + summary.choosing > 0
}

/** Once nothing is on its way any more. */
export function uploadsEnd(): Promise<void> {
  return ended.promise
}

export function watchUploads(): void {
  onPage(() => {
    if (isDepositPage()) void watch()
  })
}

/** The queue weighs as much as its page, so it is loaded there only, where it is needed anyway. */
async function watch(): Promise<void> {
  if (watching) return
  watching = true
  const [deposits, { showUploadProgress }] = await Promise.all([
    import('../../stores/deposits/deposits.ts'),
    import('./upload-progress.ts'),
    // what may have to be said later, when the network or the build may be gone
    import('../kit/confirm-dialog.ts'),
    import('../kit/toasts.ts')
  ])
  deposits.$depositSummary.subscribe(value => {
    summary = value
    if (!isUploading()) {
      ended.resolve()
      ended = Promise.withResolvers()
    }
  })
  showUploadProgress(deposits.$depositSummary, deposits.dismiss)
}
