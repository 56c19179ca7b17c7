import { loadCallsAhead } from './calls.ts'
import { carryLinks } from './carry.ts'
import { guardAgainstLostFiles } from './chunks.ts'
import { startDock } from './dock.ts'
import { startDrawer } from './drawer.ts'
import { startDropAnywhere } from './drop-anywhere.ts'
import { startDropZone } from './drop-zone.ts'
import { focusHeading } from './focus.ts'
import { startLanguages } from './languages.ts'
import { startMenu } from './menu.ts'
import { fillNotFound } from './not-found.ts'
import { startSchemes } from './schemes.ts'
import { startSessions } from './sessions.ts'
import { guardAgainstOtherBuilds, watchForBuilds } from './versions.ts'

/** Brings bar, drawer and notices to life. Called once a document; pages come and go below it. */
export function startShell(): void {
  guardAgainstLostFiles()
  guardAgainstOtherBuilds()
  watchForBuilds()
  startDrawer()
  startMenu()
  startSchemes()
  startLanguages()
  startDropAnywhere()
  startDropZone()
  startDock()
  startSessions()
  loadCallsAhead()
  carryLinks()
  fillNotFound()
  focusHeading()
}
