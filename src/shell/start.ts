import { guardAgainstOtherBuilds } from './builds/build-guard.ts'
import { reloadOnLostFiles } from './builds/lost-files.ts'
import { startColorScheme } from './color-scheme.ts'
import { startDrawer } from './drawer.ts'
import { startDropAnywhere } from './drop/drop-anywhere.ts'
import { startHomeDropZone } from './drop/home-drop-zone.ts'
import { focusHeading } from './focus-heading.ts'
import { loadFonts } from './fonts.ts'
import { onPage } from './kit/page.ts'
import { startLanguages } from './languages.ts'
import { keepLinkParams } from './link-params.ts'
import { fillNotFound } from './not-found.ts'
import { startSessions } from './sessions.ts'
import { watchUploads } from './uploads/running-uploads.ts'

/** Brings bar, drawer and notices to life. Called once a document; pages come and go below it. */
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
  onPage(() => whenIdle(loadDeferred))
}

/** What a page has achieved before it left for the next one. */
function startNews(): void {
  document.addEventListener('vidimus:news', event => {
    if (!(event instanceof CustomEvent) || typeof event.detail !== 'string') return
    const { detail } = event
    void import('./kit/toasts.ts').then(({ toast }) => toast(detail))
  })
}

let isStarted = false

async function loadDeferred(): Promise<void> {
  if (isStarted) return
  isStarted = true
  try {
    const rest = await import('./deferred.ts')
    rest.startDeferred()
  } catch {
    isStarted = false // the next page tries again
  }
}

function whenIdle(run: () => Promise<void>): void {
  // Safari has no idle callbacks
  if ('requestIdleCallback' in window) requestIdleCallback(() => void run())
  else setTimeout(run, 200)
}

/** What few people ever see weighs on no other page. */
function loadRarePages(): void {
  onPage(async () => {
    if (!document.querySelector('[data-disabled]')) return
    const { showDisabled } = await import('./disabled.ts')
    showDisabled()
  })
}
