import * as z from 'zod/mini'

/** Not free text, because pages read it from their address, which anybody can forge. */
export const DisabledReason = z.enum(['left', 'requested', 'security', 'abuse', 'payment'])
export type DisabledReason = z.infer<typeof DisabledReason>

export const DisabledState = z.object({
  scope: z.enum(['user', 'company', 'domain']),
  // `other` is any reason that this release does not know: a page may be older than the API
  reason: z.catch(z.enum([...DisabledReason.options, 'other']), 'other'),
  since: z.iso.datetime()
})
export type DisabledState = z.infer<typeof DisabledState>

const maxTextLength = 2_048

export function parseDisabledReason(reason: string): DisabledState['reason'] {
  return DisabledReason.safeParse(reason).data ?? 'other'
}

export function toDisabledState(
  scope: DisabledState['scope'],
  { reason, since }: { reason: string; since: string }
): DisabledState {
  return { scope, reason: parseDisabledReason(reason), since }
}

export function parseDisabledParameter(text: string | null): DisabledState | undefined {
  if (text === null || text.length > maxTextLength) return undefined
  try {
    return DisabledState.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}
