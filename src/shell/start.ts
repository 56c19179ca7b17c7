import { guardAgainstOtherBuilds } from './builds/build-guard.ts'
import { reloadOnMissingBuildFiles } from './builds/lost-files.ts'
import { startColorScheme } from './color-scheme.ts'
import { startDrawer } from './drawer.ts'
import { startDropAnywhere } from './drop/drop-anywhere.ts'
import { startHeadingFocus } from './focus-heading.ts'
import { loadFonts } from './fonts.ts'
import { onEachPage, runInBackground, runOnce } from './kit/page.ts'
import { startLanguageLinks } from './languages.ts'
import { keepInvitationParametersInLinks } from './link-params.ts'
import { startSessionAndPageGuard } from './sessions.ts'
import { loadQueueCodeWhenDepositPageOpens } from './upload-progress/running-uploads.ts'

/** Runs once per tab, because ClientRouter changes pages without loading the scripts again. */
export function startShell(): void {
  reloadOnMissingBuildFiles()
  guardAgainstOtherBuilds()
  startDrawer()
  startColorScheme()
  startLanguageLinks()
  startDropAnywhere()
  loadQueueCodeWhenDepositPageOpens()
  startSessionAndPageGuard()
  startNews()
  keepInvitationParametersInLinks()
  loadRarePages()
  startHeadingFocus()
  if (!document.documentElement.dataset['fonts']) loadFonts()
  const loadDeferred = runOnce(async () => (await import('./deferred.ts')).startDeferredParts())
  // where the code cannot be loaded, the next page tries again
  onEachPage(() => whenIdle(() => loadDeferred().catch(() => {})))
}

function startNews(): void {
  document.addEventListener('vidimus:news', ({ detail }) => {
    void import('./kit/toasts.ts').then(({ showIslandMessage }) => showIslandMessage(detail))
  })
}

// a busy browser is never idle
const longestMs = 1000

function whenIdle(run: () => Promise<void>): void {
  // Safari has no idle callbacks
  if ('requestIdleCallback' in window) requestIdleCallback(() => void run(), { timeout: longestMs })
  else setTimeout(run, 200)
}

function loadRarePages(): void {
  const startHome = runOnce(async () =>
    (await import('./drop/home-drop-zone.ts')).startHomeFileInput()
  )
  const startNotFound = runOnce(async () => (await import('./not-found.ts')).fillNotFoundPage())
  const startDisabled = runOnce(async () =>
    (await import('./disabled.ts')).startAccountDisabledPage()
  )
  const startCopying = runOnce(async () => (await import('./copy-code.ts')).startCopyingExamples())
  const startAdmin = runOnce(async () => (await import('./admin.ts')).startAdminPages())
  onEachPage(() => {
    if (document.getElementById('home-files')) runInBackground(startHome)
    if (document.querySelector('[data-not-found]')) runInBackground(startNotFound)
    if (document.querySelector('[data-disabled]')) runInBackground(startDisabled)
    if (document.querySelector('[data-copy]')) runInBackground(startCopying)
    if (document.querySelector('[data-admin-page]')) runInBackground(startAdmin)
  })
}
