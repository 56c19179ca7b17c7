import * as z from 'zod/mini'

/**
 * Why a person, company or domain is disabled. Pages show a fixed sentence for each reason. The
 * reason is not free text, because pages read it from their URL, which anybody can forge.
 */
export const DisabledReason = z.enum(['left', 'requested', 'security', 'abuse', 'payment'])
export type DisabledReason = z.infer<typeof DisabledReason>

/** Says what is disabled (a person, a company or a domain), why, and since when. */
export const DisabledState = z.object({
  scope: z.enum(['user', 'company', 'domain']),
  // `other` is any reason that this release does not know: a page may be older than the API
  reason: z.catch(z.enum([...DisabledReason.options, 'other']), 'other'),
  since: z.iso.datetime()
})
export type DisabledState = z.infer<typeof DisabledState>

const maxTextLength = 2_048

/** Parses a stored reason. Returns `other` for a reason that this release does not know. */
export function parseDisabledReason(reason: string): DisabledState['reason'] {
  return DisabledReason.safeParse(reason).data ?? 'other'
}

/**
 * Returns the `disabled` part of an error response: what is disabled, why, and since when. Replaces
 * an unknown reason by `other`.
 */
export function toDisabledState(
  scope: DisabledState['scope'],
  { reason, since }: { reason: string; since: string }
): DisabledState {
  return { scope, reason: parseDisabledReason(reason), since }
}

/**
 * Parses the query parameter `disabled`, which contains a `DisabledState` as JSON. Returns
 * undefined for an invalid value.
 */
export function parseDisabledParameter(text: string | null): DisabledState | undefined {
  if (text === null || text.length > maxTextLength) return undefined
  try {
    return DisabledState.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}
