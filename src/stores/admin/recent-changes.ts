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

export const $recentChanges = personalAtom<LoadState<Changes>>({ status: 'loading' })

const mostRecent = 5

const startLoad = createLatestLoadTracker()

/** For a person, also the changes that they made. What is shown stays visible meanwhile. */
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
