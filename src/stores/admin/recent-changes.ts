import type { AuditLogEntry } from '../../contract/audit.ts'
import { AppError } from '../../contract/kit/errors.ts'
import { pageLocale } from '../environment.ts'
import type { LoadState } from '../load-state.ts'
import { personalAtom } from '../personal-atoms.ts'
import {
  callAdminApi,
  companyIdOfPage,
  createLatestLoadTracker,
  resultOrError
} from './admin-api.ts'

/** What the changes are of: an item, or a person who made or underwent them. */
export type ChangesOf = { target: string } | { person: string }

interface Changes {
  id: string
  entries: readonly AuditLogEntry[]
}

/** The last changes to the item that the page shows, such as a group, from the audit log. */
export const $recentChanges = personalAtom<LoadState<Changes>>({ status: 'loading' })

const mostRecent = 5

const startLoad = createLatestLoadTracker()

/**
 * Loads the last changes of an item or a person into `$recentChanges`. If the page already shows
 * changes of this item, they stay visible meanwhile.
 */
export async function loadRecentChanges(of: ChangesOf): Promise<void> {
  const id = 'person' in of ? of.person : of.target
  const before = $recentChanges.get()
  if (before.status !== 'ready' || before.id !== id) {
    $recentChanges.set({ status: 'loading' })
  }
  const isLatest = startLoad()
  const input = { id: companyIdOfPage(), ...of, limit: mostRecent, locale: pageLocale() }
  const entries = await resultOrError(() => callAdminApi('listAuditEntries', input))
  if (!isLatest()) return
  if (entries instanceof AppError) $recentChanges.set({ status: 'failed', error: entries })
  else $recentChanges.set({ status: 'ready', id, entries })
}
