import * as z from 'zod/mini'

/**
 * Why somebody or something is switched off. The list is closed, because the reason travels in an
 * address that anybody can write: people read our sentence for it and nothing of the address.
 */
export const DisabledReason = z.enum(['left', 'requested', 'security', 'abuse', 'payment'])
export type DisabledReason = z.infer<typeof DisabledReason>

/** What is switched off, why and since when. */
export const Disabled = z.object({
  scope: z.enum(['user', 'company', 'domain']),
  // `other` stands for what this list does not know: a page may be a release older than the API
  reason: z.catch(z.enum([...DisabledReason.options, 'other']), 'other'),
  since: z.iso.datetime()
})
export type Disabled = z.infer<typeof Disabled>

const maxTextLength = 2_048

/** What callers are told of a mark in the database. */
export function disabledBy(
  scope: Disabled['scope'],
  { reason, since }: { reason: string; since: string }
): Disabled {
  return { scope, reason: DisabledReason.safeParse(reason).data ?? 'other', since }
}

/** The value of the `disabled` query parameter; nothing for what no API of ours has written. */
export function readDisabled(text: string | null): Disabled | undefined {
  if (text === null || text.length > maxTextLength) return undefined
  try {
    return Disabled.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}
