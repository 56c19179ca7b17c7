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

interface Changes {
  target: string
  entries: readonly AuditLogEntry[]
}

/** The last changes to the item that the page shows, such as a group, from the audit log. */
export const $recentChanges = personalAtom<LoadState<Changes>>({ status: 'loading' })

const mostRecent = 5

const startLoad = createLatestLoadTracker()

/**
 * Loads the last changes to the item with the id `target` into `$recentChanges`. If it is a person,
 * also loads the changes that this person made. If the page already shows changes to this item, they
 * stay visible meanwhile.
 */
export async function loadRecentChanges(target: string, isPerson: boolean): Promise<void> {
  const before = $recentChanges.get()
  if (before.status !== 'ready' || before.target !== target) {
    $recentChanges.set({ status: 'loading' })
  }
  const isLatest = startLoad()
  const input = { id: companyIdOfPage(), limit: mostRecent, locale: pageLocale() }
  const filter = isPerson ? { person: target } : { target }
  const entries = await resultOrError(() =>
    callAdminApi('listAuditEntries', { ...input, ...filter })
  )
  if (!isLatest()) return
  if (entries instanceof AppError) $recentChanges.set({ status: 'failed', error: entries })
  else $recentChanges.set({ status: 'ready', target, entries })
}
