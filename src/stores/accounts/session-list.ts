import { AppError } from '../../contract/errors.ts'
import type { Session } from '../../contract/sessions.ts'
import { personalAtom } from '../personal-atoms.ts'
import { $session, api, onSignOut } from '../sessions.ts'

export type SessionList =
  | { status: 'loading' }
  | { status: 'ready'; sessions: Session[] }
  | { status: 'failed'; error: AppError }

/** The sessions of the person in all browsers. */
export const $sessionList = personalAtom<SessionList>({ status: 'loading' })

/**
 * Counts calls of `loadSessions`, so that a late answer replaces neither a newer one nor the list
 * of another person.
 */
let load = 0

onSignOut(() => {
  load += 1
})

/** Loads the list. The previous list stays visible until the answer arrives. */
export async function loadSessions(): Promise<void> {
  if ($session.get().status === 'out') return
  load += 1
  const mine = load
  if ($sessionList.get().status === 'failed') $sessionList.set({ status: 'loading' })
  try {
    const sessions = await api('listSessions', {})
    if (mine === load) $sessionList.set({ status: 'ready', sessions })
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    if (mine === load) $sessionList.set({ status: 'failed', error })
  }
}

/**
 * Ends a session of the person in another browser. Succeeds where that session has already ended.
 */
export async function endSession(id: string): Promise<void> {
  try {
    await api('endSession', { id })
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'not_found') throw error
  }
  await loadSessions()
}
