import { watchForNewBuild } from './builds/build-notice.ts'
import { startDrawerSwipe } from './drawer-swipe.ts'
import { preloadDropCode } from './drop/drop-anywhere.ts'
import { onThisAndLaterPages, runInBackground, shellTranslator } from './kit/page.ts'
import { startOfflineBanner } from './offline-banner.ts'
import { startPalette } from './palette/palette.ts'
import { startSmoothScroll } from './smooth-scroll.ts'
import { startUserMenu } from './user-menu.ts'

/** Until these parts run, the top bar and the drawer rely on built-in features of the browser. */
export function startDeferredParts(): void {
  watchForNewBuild()
  startDrawerSwipe()
  startUserMenu()
  startPalette()
  startOfflineBanner()
  startSmoothScroll()
  onThisAndLaterPages(() => runInBackground(loadCallsAhead))
  preloadDropCode()
  runInBackground(preloadMessages)
}

// the network may be gone when messages are needed
async function preloadMessages(): Promise<void> {
  const { showToast } = await import('./kit/toasts.ts')
  if (location.hash !== '#account-deleted') return
  history.replaceState(history.state, '', location.pathname + location.search)
  showToast(shellTranslator()('shell.accountDeleted'))
}

// the first API call then only waits for the server
async function loadCallsAhead(): Promise<void> {
  if (!document.querySelector('astro-island')) return
  const { loadApiCallCode } = await import('../stores/sessions.ts')
  await loadApiCallCode().catch(() => {
    // the first call tries again, and reports the error
  })
}
