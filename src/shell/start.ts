import { guardAgainstOtherBuilds } from './builds/build-guard.ts'
import { guardAgainstLostFiles } from './builds/lost-files.ts'
import { startSchemes } from './color-scheme.ts'
import { startDrawer } from './drawer.ts'
import { startDropAnywhere } from './drop/drop-anywhere.ts'
import { startDropZone } from './drop/home-drop-zone.ts'
import { focusHeading } from './focus-heading.ts'
import { loadFonts } from './fonts.ts'
import { onPage } from './kit/page.ts'
import { startLanguages } from './languages.ts'
import { carryLinks } from './link-params.ts'
import { fillNotFound } from './not-found.ts'
import { startSessions } from './sessions.ts'
import { startUploading } from './uploads/running-uploads.ts'

/** Brings bar, drawer and notices to life. Called once a document; pages come and go below it. */
export function startShell(): void {
  guardAgainstLostFiles()
  guardAgainstOtherBuilds()
  startDrawer()
  startSchemes()
  startLanguages()
  startDropAnywhere()
  startDropZone()
  startUploading()
  startSessions()
  startNews()
  carryLinks()
  fillNotFound()
  loadRarePages()
  focusHeading()
  if (!document.documentElement.dataset['fonts']) loadFonts()
  onPage(() => whenIdle(startRest))
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

async function startRest(): Promise<void> {
  if (isStarted) return
  isStarted = true
  try {
    const rest = await import('./deferred.ts')
    rest.startRest()
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
