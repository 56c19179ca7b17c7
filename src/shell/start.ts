import { carryLinks } from './carry.ts'
import { guardAgainstLostFiles } from './chunks.ts'
import { startDrawer } from './drawer.ts'
import { startDropAnywhere } from './drop-anywhere.ts'
import { startDropZone } from './drop-zone.ts'
import { focusHeading } from './focus.ts'
import { loadFonts } from './fonts.ts'
import { startLanguages } from './languages.ts'
import { fillNotFound } from './not-found.ts'
import { onPage } from './page.ts'
import { startSchemes } from './schemes.ts'
import { startSessions } from './sessions.ts'
import { startUploading } from './uploading.ts'
import { guardAgainstOtherBuilds } from './versions.ts'

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
    void import('./toasts.ts').then(({ toast }) => toast(detail))
  })
}

let isStarted = false

async function startRest(): Promise<void> {
  if (isStarted) return
  isStarted = true
  try {
    const rest = await import('./rest.ts')
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
