import { dateTag } from '../core/text/date-tag.ts'
import { confirmPageUnload } from './builds/build-guard.ts'
import { startDrawerSwipe } from './drawer-swipe.ts'
import { preloadDropCode } from './drop/drop-anywhere.ts'
import { onThisAndLaterPages, pageVersion, runInBackground, shellTranslator } from './kit/page.ts'
// not loaded on demand, because the network may be gone when messages are needed
import { showToast } from './kit/toasts.ts'
import { startPalette } from './palette/palette.ts'
import { startSmoothScroll } from './smooth-scroll.ts'
import { startUserMenu } from './user-menu.ts'

const buildCheckMs = 3_600_000

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
  showDeletedAccount()
}

function showDeletedAccount(): void {
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

function watchForNewBuild(): void {
  let isTold = false
  setInterval(async () => {
    if (isTold || !(await isOutdated())) return
    isTold = true
    const t = shellTranslator()
    showToast(t('shell.version.ready'), { label: t('shell.version.reload'), run: reload })
  }, buildCheckMs)
}

async function isOutdated(): Promise<boolean> {
  try {
    const response = await fetch(`/builds/latest.json?${Date.now()}`)
    const { id } = (await response.json()) as { id?: unknown } // as: compared, not trusted
    return typeof id === 'string' && id !== pageVersion(document)?.split(' ')[0]
  } catch {
    return false // offline: checks again in an hour
  }
}

async function reload(): Promise<void> {
  if (await confirmPageUnload()) location.reload()
}

// only informs: the upload queue and the event stream detect a lost network themselves
function startOfflineBanner(): void {
  let since: Date | undefined
  const update = () => {
    since = navigator.onLine ? undefined : (since ?? new Date())
    showOffline(since)
  }
  addEventListener('offline', update)
  addEventListener('online', update)
  onThisAndLaterPages(update)
}

function showOffline(since: Date | undefined): void {
  const banner = document.getElementById('offline')
  if (!banner) return
  const time = since?.toLocaleTimeString(dateTag(document.documentElement.lang), {
    timeStyle: 'short'
  })
  // our typeface has no narrow space
  const words =
    time && shellTranslator()('shell.offline', { time: time.replaceAll('\u202f', '\u00a0') })
  banner.textContent = words ?? ''
}
