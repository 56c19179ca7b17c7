import * as z from 'zod/mini'
import { GivenSha256, Sha256 } from './deposits.ts'
import { endpoint } from './endpoint.ts'
import { maxItemsSignedIn } from './limits.ts'
import { Match, Verdict } from './requests.ts'

/** What a verification reveals of a record. It never reveals the person who deposited it. */
export const Finding = z.object({
  match: Match,
  /** When the record was made, by the server's clock. */
  recorded: z.iso.datetime(),
  /** Leaf hash in hex, which determines the seal. */
  leaf_hash: Sha256
})
export type Finding = z.infer<typeof Finding>

export const Answer = z.object({
  sha256: Sha256,
  verdict: Verdict,
  /** Name of the company that answers. */
  company: z.string(),
  /** Time of the verification, by the server's clock. */
  at: z.iso.datetime(),
  /**
   * The first record with this original, then the first with this stored copy. Empty for
   * `not_found`.
   */
  findings: z.array(Finding)
})
export type Answer = z.infer<typeof Answer>

/** Verifies documents by their fingerprints. The documents stay on the caller's device. */
export const verify = endpoint({
  method: 'POST',
  path: '/verify',
  access: 'public',
  input: z.strictObject({
    items: z
      .array(z.strictObject({ sha256: GivenSha256 }))
      .check(z.minLength(1), z.maxLength(maxItemsSignedIn))
  }),
  output: z.object({ items: z.array(Answer), request_id: z.optional(z.uuid()) }),
  errors: ['too_many_items', 'lookup_limited', 'request_limit_reached']
})

export const verificationCalls = { verify }
