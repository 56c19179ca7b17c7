import { guardAgainstOtherBuilds } from './builds/build-guard.ts'
import { reloadOnLostFiles } from './builds/lost-files.ts'
import { startColorScheme } from './color-scheme.ts'
import { startDrawer } from './drawer.ts'
import { startDropAnywhere } from './drop/drop-anywhere.ts'
import { startHomeDropZone } from './drop/home-drop-zone.ts'
import { focusHeading } from './focus-heading.ts'
import { loadFonts } from './fonts.ts'
import { once, onEachPage } from './kit/page.ts'
import { startLanguages } from './languages.ts'
import { keepLinkParams } from './link-params.ts'
import { fillNotFound } from './not-found.ts'
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
  startHomeDropZone()
  watchUploads()
  startSessions()
  startNews()
  keepLinkParams()
  fillNotFound()
  loadRarePages()
  focusHeading()
  if (!document.documentElement.dataset['fonts']) loadFonts()
  const loadDeferred = once(async () => (await import('./deferred.ts')).startDeferredParts())
  // where the code cannot be loaded, the next page tries again
  onEachPage(() => whenIdle(() => loadDeferred().catch(() => {})))
}

/** Shows the message that the previous page stored for this one. */
function startNews(): void {
  document.addEventListener('vidimus:news', event => {
    if (!(event instanceof CustomEvent) || typeof event.detail !== 'string') return
    const { detail } = event
    void import('./kit/toasts.ts').then(({ toast }) => toast(detail))
  })
}

function whenIdle(run: () => Promise<void>): void {
  // Safari has no idle callbacks
  if ('requestIdleCallback' in window) requestIdleCallback(() => void run())
  else setTimeout(run, 200)
}

/** Loads the code of pages that most people never open. */
function loadRarePages(): void {
  const startDisabled = once(async () => (await import('./disabled.ts')).startDisabledPage())
  const startAdmin = once(async () => (await import('./admin.ts')).startAdminPages())
  onEachPage(() => {
    if (document.querySelector('[data-disabled]')) void startDisabled()
    if (document.querySelector('[data-admin-page]')) void startAdmin()
  })
}
