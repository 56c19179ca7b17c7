import type { ServerResponse } from 'node:http'
import type { Deps, Tenant } from '../domain/deps.ts'
import type { AuthenticatedCaller } from '../domain/sessions/sessions.ts'

/** Closes the connection of an upload as soon as its caller loses the right to it. */
export function closeWhenCallerIsRefused(
  { callers }: Pick<Deps, 'callers'>,
  { host }: Tenant,
  person: AuthenticatedCaller,
  response: ServerResponse
): void {
  if (response.closed) return
  const stop = callers.watch({ person, host, permissions: [] }, () => response.destroy())
  response.once('close', stop)
}
