import { watchForNewBuild } from './builds/build-notice.ts'
import { startDrawerSwipe } from './drawer-swipe.ts'
import { preloadDropCode } from './drop/drop-anywhere.ts'
import { onThisAndLaterPages, runInBackground } from './kit/page.ts'
import { startOfflineBanner } from './offline-banner.ts'
import { startPalette } from './palette/palette.ts'
import { startSmoothScroll } from './smooth-scroll.ts'
import { startUserMenu } from './user-menu.ts'

/**
 * Starts the parts of the shell that a page does not need immediately. Until they run, the top bar
 * and the drawer rely on built-in features of the browser.
 */
export function startDeferredParts(): void {
  watchForNewBuild()
  startDrawerSwipe()
  startUserMenu()
  startPalette()
  startOfflineBanner()
  startSmoothScroll()
  onThisAndLaterPages(() => runInBackground(loadCallsAhead))
  preloadDropCode()
}

/** Loads the code of API calls early, so that the first call only waits for the server. */
async function loadCallsAhead(): Promise<void> {
  if (!document.querySelector('astro-island')) return
  const { loadApiCallCode } = await import('../stores/sessions.ts')
  await loadApiCallCode().catch(() => {
    // the first call tries again, and reports the error
  })
}
