import { guardAgainstOtherBuilds } from './builds/build-guard.ts'
import { reloadOnLostFiles } from './builds/lost-files.ts'
import { startColorScheme } from './color-scheme.ts'
import { startDrawer } from './drawer.ts'
import { startDropAnywhere } from './drop/drop-anywhere.ts'
import { repeatEarlyActs } from './early-acts.ts'
import { startHeadingFocus } from './focus-heading.ts'
import { loadFonts } from './fonts.ts'
import { once, onEachPage } from './kit/page.ts'
import { startLanguages } from './languages.ts'
import { keepLinkParams } from './link-params.ts'
import { startSessions } from './sessions.ts'
import { watchUploads } from './uploads/running-uploads.ts'

/**
 * Starts bar, drawer and messages. Runs once per tab, because ClientRouter changes pages without
 * loading the scripts again.
 */
export function startShell(): void {
  reloadOnLostFiles()
  guardAgainstOtherBuilds()
  startDrawer()
  startColorScheme()
  startLanguages()
  startDropAnywhere()
  watchUploads()
  startSessions()
  startNews()
  keepLinkParams()
  repeatEarlyActs()
  loadRarePages()
  startHeadingFocus()
  if (!document.documentElement.dataset['fonts']) loadFonts()
  const loadDeferred = once(async () => (await import('./deferred.ts')).startDeferredParts())
  // where the code cannot be loaded, the next page tries again
  onEachPage(() => whenIdle(() => loadDeferred().catch(() => {})))
}

/** Shows the messages that islands send. */
function startNews(): void {
  document.addEventListener('vidimus:news', ({ detail }) => {
    void import('./kit/toasts.ts').then(({ showNews }) => showNews(detail))
  })
}

function whenIdle(run: () => Promise<void>): void {
  // Safari has no idle callbacks
  if ('requestIdleCallback' in window) requestIdleCallback(() => void run())
  else setTimeout(run, 200)
}

/** Loads code that only one kind of page needs. */
function loadRarePages(): void {
  const startHome = once(async () => (await import('./drop/home-drop-zone.ts')).startHomeDropZone())
  const startNotFound = once(async () => (await import('./not-found.ts')).fillNotFound())
  const startDisabled = once(async () => (await import('./disabled.ts')).startAccountDisabledPage())
  const startAdmin = once(async () => (await import('./admin.ts')).startAdminPages())
  onEachPage(() => {
    if (document.getElementById('home-files')) void startHome()
    if (document.querySelector('[data-not-found]')) void startNotFound()
    if (document.querySelector('[data-disabled]')) void startDisabled()
    if (document.querySelector('[data-admin-page]')) void startAdmin()
  })
}
