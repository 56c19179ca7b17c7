import { watchForBuilds } from './builds.ts'
import { startDrawerHands } from './drawer-hands.ts'
import { startMenu } from './menu.ts'
import { startOffline } from './offline.ts'
import { onThisPageAndNext } from './page.ts'
import { startScroll } from './scroll.ts'

/** What a page does not need at once: bar and drawer work without it, as far as the browser's own go. */
export function startRest(): void {
  watchForBuilds()
  startDrawerHands()
  startMenu()
  startOffline()
  startScroll()
  onThisPageAndNext(() => void loadCallsAhead())
  // for the first drag, and for a drop without a network
  void import('./drop-overlay.ts')
  void import('./dropped-files.ts')
}

/** Gets what calls of the API need: the first click then waits for the server only. */
async function loadCallsAhead(): Promise<void> {
  if (!document.querySelector('astro-island')) return
  const { loadCalls } = await import('../stores/sessions.ts')
  await loadCalls().catch(() => {
    // the first call tries again, and says what is wrong
  })
}
