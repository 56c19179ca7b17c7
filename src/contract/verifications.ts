import * as z from 'zod/mini'
import { GivenSha256, Sha256 } from './deposits.ts'
import { endpoint } from './endpoint.ts'
import { maxItemsSignedIn } from './limits.ts'
import { Match, Verdict } from './requests.ts'

/** What a record shows to whoever holds the file: never the person. */
export const Finding = z.object({
  match: Match,
  /** When it was recorded, by the company's own clock. */
  recorded: z.iso.datetime(),
  /** Hex leaf hash: draws the seal. */
  leaf_hash: Sha256
})
export type Finding = z.infer<typeof Finding>

export const Answer = z.object({
  sha256: Sha256,
  verdict: Verdict,
  /** The company that answers. */
  company: z.string(),
  /** When it was asked, by the company's clock. */
  at: z.iso.datetime(),
  /** The first record as original, then the first as stored copy; empty for `not_found`. */
  findings: z.array(Finding)
})
export type Answer = z.infer<typeof Answer>

/** Fingerprints only: no byte of a document is ever sent. */
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
