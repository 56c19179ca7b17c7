import type { Session } from '../../contract/sessions.ts'
import { removeRow } from '../lists/list-changes.ts'
import { createListStore } from '../lists/lists.ts'
import { api } from '../sessions.ts'

// the API returns the 100 that were used last; all others end with them by `signOutEverywhere()`
export const sessionList = createListStore<Session>(() => api('listSessions', {}))

export const loadSessions = () => sessionList.open('', {})

export async function endSession(id: string): Promise<void> {
  await removeRow(sessionList, id, () => api('endSession', { id }))
  await loadSessions()
}
