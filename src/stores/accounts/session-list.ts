import { computed } from 'nanostores'
import { AppError } from '../../contract/kit/errors.ts'
import type { Session } from '../../contract/sessions.ts'
import { createList } from '../lists/lists.ts'
import { api } from '../sessions.ts'

export type SessionList =
  | { status: 'loading' }
  | { status: 'ready'; sessions: readonly Session[] }
  | { status: 'failed'; error: AppError }

// the API returns the 100 that were used last; all others end with them by `signOutEverywhere()`
const list = createList<Session, undefined>({
  query: undefined,
  isSame: () => true,
  load: () => api('listSessions', {})
})

/** The sessions of the person in all browsers. */
export const $sessionList = computed(
  [list.$rows, list.$status],
  (sessions, status): SessionList => {
    if (status.status === 'failed') return status
    if (status.status !== 'ready') return { status: 'loading' }
    return status.stale ? { status: 'failed', error: status.stale } : { status: 'ready', sessions }
  }
)

/** Loads the sessions into `$sessionList`. The previous ones stay visible meanwhile. */
export async function loadSessions(): Promise<void> {
  await list.open('', undefined)
}

/** Ends a session of the person in another browser, if it has not ended yet. */
export async function endSession(id: string): Promise<void> {
  await list.change(id, undefined, async () => {
    try {
      await api('endSession', { id })
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'not_found') throw error
    }
  })
  await loadSessions()
}
