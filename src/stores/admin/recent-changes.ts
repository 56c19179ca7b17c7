import type { AuditLogEntry } from '../../contract/audit.ts'
import { AppError } from '../../contract/kit/errors.ts'
import { pageLocale } from '../environment.ts'
import { personalAtom } from '../personal-atoms.ts'
import { sessionNumber } from '../sessions.ts'
import { adminApi, companyIdOfPage } from './admin-api.ts'

/** The last changes of one item, such as a group. */
export type RecentChanges =
  | { status: 'loading' }
  | { status: 'failed'; error: AppError }
  | { status: 'ready'; target: string; entries: readonly AuditLogEntry[] }

export const $recentChanges = personalAtom<RecentChanges>({ status: 'loading' })

const mostRecent = 5

/**
 * Number of calls of `loadRecentChanges` so far. It shows which answers are late and must be
 * dropped.
 */
let loads = 0

/**
 * Loads the last changes of an item. If the page shows changes of the same item, they stay visible
 * meanwhile.
 */
export async function loadRecentChanges(target: string): Promise<void> {
  const before = $recentChanges.get()
  if (before.status !== 'ready' || before.target !== target) {
    $recentChanges.set({ status: 'loading' })
  }
  const [session, mine] = [sessionNumber(), ++loads]
  const next = await readRecentChanges(target)
  if (session === sessionNumber() && mine === loads) $recentChanges.set(next)
}

async function readRecentChanges(target: string): Promise<RecentChanges> {
  try {
    const input = { id: companyIdOfPage(), target, limit: mostRecent, locale: pageLocale() }
    return { status: 'ready', target, entries: await adminApi('listAuditEntries', input) }
  } catch (error) {
    if (error instanceof AppError) return { status: 'failed', error }
    throw error
  }
}
