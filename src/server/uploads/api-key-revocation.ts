import type { ServerResponse } from 'node:http'
import type { Deps } from '../domain/deps.ts'
import { hasValidSession } from '../domain/sessions/authentication.ts'
import type { AuthenticatedCaller } from '../domain/sessions/sessions.ts'

/**
 * The milliseconds between two checks of the API key of a running upload. The signal that a key was
 * revoked is not enough, because signals can get lost.
 */
const lookMs = 2000

/**
 * Closes the connection of an upload when the API key of the call is revoked or expires, or when
 * the owner of the key is disabled. Does nothing for a call that has no API key.
 */
export function closeConnectionWhenApiKeyEnds(
  deps: Pick<Deps, 'db' | 'clock' | 'signals'>,
  person: AuthenticatedCaller,
  response: ServerResponse
): void {
  if (!person.key || response.closed) return
  const look = async () => {
    // while the database is busy the upload continues; the next look decides
    if (!(await hasValidSession(deps, person).catch(() => true))) response.destroy()
  }
  const off = deps.signals.sessions.on(({ company, user }) => {
    if (company === person.company_id && user === person.id) void look()
  })
  const looking = setInterval(look, lookMs)
  response.once('close', () => {
    clearInterval(looking)
    off()
  })
}
