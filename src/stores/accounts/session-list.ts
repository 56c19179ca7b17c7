import type { Session } from '../../contract/sessions.ts'
import { api } from '../sessions.ts'
import { createUnpagedList } from './unpaged-list.ts'

// the API returns the 100 that were used last; all others end with them by `signOutEverywhere()`
const list = createUnpagedList<Session>(() => api('listSessions', {}))

/** The sessions of the person in all browsers. */
export const $sessionList = list.$list

/** Loads the sessions into `$sessionList`. The previous ones stay visible meanwhile. */
export async function loadSessions(): Promise<void> {
  await list.open('')
}

/** Ends a session of the person in another browser, if it has not ended yet. */
export async function endSession(id: string): Promise<void> {
  await list.remove(id, () => api('endSession', { id }))
  await loadSessions()
}
