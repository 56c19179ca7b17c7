import type { ServerResponse } from 'node:http'
import type { Deps, Tenant } from '../domain/deps.ts'
import type { AuthenticatedCaller } from '../domain/sessions/sessions.ts'

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
